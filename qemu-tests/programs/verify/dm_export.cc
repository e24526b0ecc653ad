// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Device memory as dma-bufs. The method of the driver is called without libibverbs, which
 * has ibv_dm_export_dmabuf_fd() from release 62 on.
 */

#include <fcntl.h>
#include <rdma/ornic-abi.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "dm.h"
#include "dmabuf.h"
#include "dmabuf_importer.h"
#include "uverbs_method.h"

namespace
{

constexpr size_t dm_size = mr_offset + mr_size + 1003; /* whole words */
const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
const size_t dmabuf_size = (dm_size + page - 1) / page * page;

/* 0, or an errno. */
int try_export(const port &on, uint32_t handle, int32_t &fd)
{
	ib_uverbs_attr attrs[2]{};

	attrs[0].attr_id = ORNIC_ATTR_DM_EXPORT_HANDLE;
	attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
	attrs[0].data = handle;
	attrs[1].attr_id = ORNIC_ATTR_DM_EXPORT_FD;
	attrs[1].len = sizeof(fd);
	attrs[1].flags = UVERBS_ATTR_F_MANDATORY;
	attrs[1].data = reinterpret_cast<uintptr_t>(&fd);
	return run_method(on, UVERBS_OBJECT_DM, ORNIC_METHOD_DM_EXPORT, attrs);
}

/* A PCI function that has a dma-buf, or asks for it. */
class peer {
public:
	peer() = default;
	~peer()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	peer(const peer &) = delete;
	peer &operator=(const peer &) = delete;

	explicit operator bool() const
	{
		return fd_ >= 0;
	}
	/* In the name of the PCI function at that @path in sysfs. 0, or an errno. */
	int attach(const std::filesystem::path &path, int dmabuf)
	{
		const std::string name = path.filename();
		ornic_importer_attach req{};
		unsigned int slot, function;

		check_equal(std::sscanf(name.c_str(), "%x:%x:%x.%x",
					&req.domain, &req.bus, &slot,
					&function),
			    4, name);
		req.devfn = slot << 3 | function;
		req.fd = dmabuf;
		return command(ORNIC_IMPORTER_ATTACH, req);
	}
	/* What a CPU finds at the first byte that is mapped. */
	uint32_t word()
	{
		uint32_t word = 0;

		check_equal(command(ORNIC_IMPORTER_WORD, word), 0, "WORD");
		return word;
	}
	int map(ornic_importer_map &map)
	{
		return command(ORNIC_IMPORTER_MAP, map);
	}
	void unmap_late(uint32_t ms)
	{
		check_equal(command(ORNIC_IMPORTER_LATE, ms), 0, "LATE");
	}
	uint32_t moves()
	{
		uint32_t count = 0;

		check_equal(command(ORNIC_IMPORTER_MOVES, count), 0, "MOVES");
		return count;
	}

private:
	template <typename T> int command(unsigned long number, T &argument)
	{
		return ioctl(fd_, number, &argument) ? errno : 0;
	}

	int fd_ = open("/dev/ornic_dmabuf_importer", O_RDWR | O_CLOEXEC);
};

std::filesystem::path function_of(const port &on)
{
	return std::filesystem::canonical("/sys/class/infiniband/" + on.name +
					  "/device");
}

/* Can functions reach one another in this kernel at all? */
bool has_p2pdma()
{
	std::ifstream symbols("/proc/kallsyms");
	std::string line;

	while (std::getline(symbols, line))
		if (line.ends_with(" pci_p2pdma_distance_many"))
			return true;
	return false;
}

/* Is that all in one BAR of @on? */
bool is_in_a_bar(const port &on, const ornic_importer_map &map)
{
	std::ifstream bars("/sys/class/infiniband/" + on.name +
			   "/device/resource");
	std::string line;

	while (std::getline(bars, line)) {
		unsigned long long begin, end;

		if (std::sscanf(line.c_str(), "%llx %llx", &begin, &end) == 2 &&
		    begin && map.address >= begin && map.length &&
		    map.address + map.length - 1 <= end)
			return true;
	}
	return false;
}

/* The file descriptor of a dma-buf. */
class exported {
public:
	exported(const port &on, const ibv_dm &dm)
	{
		check_equal(try_export(on, dm.handle, fd_), 0, "DM_EXPORT");
		check(fd_ >= 0, "no descriptor");
	}
	~exported()
	{
		close(fd_);
	}
	exported(const exported &) = delete;
	exported &operator=(const exported &) = delete;

	[[nodiscard]] int fd() const
	{
		return fd_;
	}

private:
	int32_t fd_ = -1;
};

/* The server, if both sides have what is needed. */
const port &server_with_dm(const ports &on)
{
	need_ornic(on);
	for (const port *p : { &on.client, &on.server }) {
		if (!max_dm_size(*p))
			skip(p->name + " has no device memory");
		if (!takes_dmabufs(*p))
			skip(p->name + " takes no dma-bufs");
	}
	return on.server;
}

class dm_exports : public verify {
protected:
	/* Of a context that has nothing to do with the MRs. */
	port owner{ server_with_dm(on).name, on.server.gid_index, "ornic" };
	dm_ptr dm = alloc_dm(owner, dm_size);
};

void check_zero(ibv_dm &dm, size_t from, size_t to, const std::string &what)
{
	for (size_t at = from; at < to; at += 4)
		check_equal(word_at(dm, at), 0U,
			    what + " at " + std::to_string(at));
}

/* The key has a part of the DM, and is all that is left of it in the end. */
TEST_F(dm_exports, dm_exports_messages)
{
	pair p(on.client, on.server);
	auto dmabuf = std::make_unique<exported>(owner, *dm);
	mr_ptr mr = try_reg(on.server, dmabuf->fd());
	memory copy(mr_size);

	check(mr != nullptr,
	      "ibv_reg_dmabuf_mr: " + std::string(std::strerror(errno)));
	const remote_end there = end_of(*mr, p.server);
	fill(p.client.at(0, mr_size), 1);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, there, 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	get(*dm, mr_offset, copy.bytes().first(mr_size / 4 * 4));
	check_fill(copy.bytes().first(mr_size / 4 * 4), 1, "device memory");
	check_zero(*dm, 0, mr_offset, "before the MR");
	check_zero(*dm, mr_offset + mr_size + 3, dm_size, "after the MR");

	dm.reset();
	dmabuf.reset();
	clear(p.client.at(0, mr_size));
	p.client.post(rdma(IBV_WR_RDMA_READ, 2, there, 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	check_fill(p.client.at(0, mr_size), 1, "what was read");
	check(!try_alloc_dm(owner, max_dm_size(owner)), "more than there is");
	check_equal(errno, ENOMEM, "errno");
	mr.reset();
	wait_for_dm(owner);
}

TEST_F(dm_exports, dm_exports_bounds)
{
	const exported dmabuf(owner, *dm);
	const off_t end = lseek(dmabuf.fd(), 0, SEEK_END);
	const struct {
		uint64_t offset;
		size_t size;
		int error;
	} rows[] = { { 0, 1, 0 },
		     { 4097, 3, 0 },
		     { static_cast<uint64_t>(end) - 1, 1, 0 },
		     { 0, static_cast<size_t>(end), 0 },
		     { 0, 0, EINVAL },
		     { 1, static_cast<size_t>(end), EINVAL },
		     { static_cast<uint64_t>(end), 1, EINVAL },
		     { 4096, SIZE_MAX - 4096, EINVAL },
		     { UINT64_MAX - 4095, 8192, EINVAL } };

	check_equal(end, static_cast<off_t>(dmabuf_size), "size");
	for (const auto &row : rows) {
		/* In all pages at the same place, and far from wrapping. */
		const mr_ptr mr = try_reg(on.server, dmabuf.fd(), row.offset,
					  row.size, row.offset % 65536);
		const std::string what = std::to_string(row.size) + " at " +
					 std::to_string(row.offset);

		check_equal(mr == nullptr, row.error != 0, what);
		if (!mr)
			check_equal(errno, row.error, what + ": errno");
	}
}

/* It would become memory of another kind. */
TEST_F(dm_exports, dm_exports_rereg)
{
	constexpr uint32_t access = IBV_REREG_MR_CHANGE_ACCESS;
	constexpr uint32_t trans = IBV_REREG_MR_CHANGE_TRANSLATION;
	const exported dmabuf(owner, *dm);
	mr_ptr mr = try_reg(on.server, dmabuf.fd());
	pair p(on.client, on.server);
	memory other(4096);

	check(mr != nullptr, "ibv_reg_dmabuf_mr");
	if (copies_by_cpu(on.server))
		skip("it is as other memory to " + on.server.name);
	check_equal(rereg(on.server, *mr, access, most_access), EOPNOTSUPP,
		    "rights");
	check_equal(rereg(on.server, *mr, trans, 0, other.bytes()), EOPNOTSUPP,
		    "other memory");
	check_equal(rereg(on.server, *mr, trans | access, most_access,
			  other.bytes()),
		    EOPNOTSUPP, "both");
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, end_of(*mr, p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
}

/* Pages are mapped; memory in a BAR by the DM alone. */
TEST_F(dm_exports, dm_exports_mappings)
{
	auto dmabuf = std::make_unique<exported>(owner, *dm);
	const int rights = PROT_READ | PROT_WRITE;

	check(mmap(nullptr, dm_size, rights, MAP_PRIVATE, dmabuf->fd(), 0) ==
		      MAP_FAILED,
	      "a copy");
	check_equal(errno, EINVAL, "errno");
	if (copies_by_cpu(owner)) {
		check(mmap(nullptr, dm_size, PROT_READ | PROT_EXEC, MAP_SHARED,
			   dmabuf->fd(), 0) == MAP_FAILED,
		      "code");
		check_equal(errno, EPERM, "errno");
	}
	void *at = mmap(nullptr, 4096, rights, MAP_SHARED, dmabuf->fd(),
			static_cast<off_t>(page));
	if (!copies_by_cpu(owner)) {
		check(at == MAP_FAILED, "a mapping of a BAR");
		check_equal(errno, EINVAL, "errno");
		return;
	}
	check(at != MAP_FAILED, "mmap");
	set_word(*dm, page, 0x12345678);
	auto *word = static_cast<volatile uint32_t *>(at);
	check_equal(*word, 0x12345678U, "what was stored");
	*word = 0x9abcdef0;
	check_equal(word_at(*dm, page), 0x9abcdef0U, "the DM");
	dm.reset();
	dmabuf.reset();
	check_equal(*word, 0x9abcdef0U, "what nobody else has");
	check(!try_alloc_dm(owner, max_dm_size(owner)), "more than there is");
	check_equal(munmap(at, 4096), 0, "munmap");
	wait_for_dm(owner);
}

/* Between devices: pages, but no memory in a BAR of a NIC that others do not reach. */
TEST_F(dm_exports, dm_exports_to_another_device)
{
	const exported dmabuf(owner, *dm);

	if (on.client.name == on.server.name)
		skip("there is one device");
	mr_ptr mr = try_reg(on.client, dmabuf.fd());
	if (!copies_by_cpu(owner)) {
		check(!mr, "an MR");
		check_equal(errno, EOPNOTSUPP, "errno");
		return;
	}
	check(mr != nullptr, "ibv_reg_dmabuf_mr");
	pair p(on.client, on.server);
	memory bytes(mr_size);
	const size_t words = mr_size / 4 * 4;
	fill(bytes.bytes(), 3);
	put(*dm, mr_offset, bytes.bytes().first(words));
	p.server.post_recv(1, { p.server.sge(0, words) });
	p.client.post(request(IBV_WR_SEND, 1),
		      { { mr_iova, words, mr->lkey } });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "SEND");
	check_wc(p.server.wait_recv(), IBV_WC_SUCCESS, "receive");
	check_fill(p.server.at(0, words), 3, "what was received");
}

class dm_peers : public dm_exports {
protected:
	dm_peers()
	{
		if (!*first)
			skip("no ornic_dmabuf_importer");
	}

	std::unique_ptr<exported> dmabuf =
		std::make_unique<exported>(owner, *dm);
	std::unique_ptr<peer> first = std::make_unique<peer>();
	ornic_importer_map mapped{};
};

/* A PCI function that has 64 bits for addresses, of whatever driver. */
std::filesystem::path any_function()
{
	for (const auto &function :
	     std::filesystem::directory_iterator("/sys/bus/pci/devices")) {
		std::ifstream file(function.path() / "dma_mask_bits");
		int bits = 0;

		if (file >> bits && bits == 64)
			return function.path();
	}
	skip("no such PCI function");
}

/* Pages are for all devices. */
TEST_F(dm_peers, dm_exports_of_pages)
{
	if (!copies_by_cpu(owner))
		skip(owner.name + " has no pages");
	check_equal(first->attach(any_function(), dmabuf->fd()), 0, "ATTACH");
	check_equal(first->map(mapped), 0, "MAP");
	check_equal(mapped.length, uint64_t{ dmabuf_size }, "length");
	dmabuf.reset();
	dm.reset();
	check(!try_alloc_dm(owner, max_dm_size(owner)), "more than there is");
	first.reset();
	wait_for_dm(owner);
}

/* Memory in a BAR is for those that reach it; the NIC itself is one of them. */
class dm_in_a_bar : public dm_peers {
protected:
	dm_in_a_bar()
	{
		const std::filesystem::path nic = function_of(owner);

		if (copies_by_cpu(owner))
			skip(owner.name + " has no BAR");
		if (!has_p2pdma()) {
			check_equal(first->attach(nic, dmabuf->fd()),
				    EOPNOTSUPP, "ATTACH");
			skip("the kernel has no P2PDMA");
		}
		check_equal(first->attach(nic, dmabuf->fd()), 0, "ATTACH");
		if (first->map(mapped) == EOPNOTSUPP)
			skip("the kernel pins what is mapped");
		check(is_in_a_bar(owner, mapped), "it is in no BAR");
	}
};

TEST_F(dm_in_a_bar, dm_exports_are_mapped)
{
	auto again = std::make_unique<exported>(owner, *dm);
	auto second = std::make_unique<peer>();
	ornic_importer_map map{};
	peer third;

	check_equal(mapped.length, uint64_t{ dmabuf_size }, "length");
	check_equal(first->map(map), EBUSY, "the same, once more");
	set_word(*dm, 0, 0x12345678);
	check_equal(first->word(), 0x12345678U, "what is mapped");
	set_word(*dm, 0, 0);
	check_equal(first->word(), 0U, "what is mapped");
	check_equal(second->attach(function_of(owner), again->fd()), 0,
		    "ATTACH");
	check_equal(second->map(map), 0, "MAP");
	check_equal(map.address, mapped.address, "address");
	dm_ptr other = alloc_dm(owner, 1);
	const exported of_other(owner, *other);
	check_equal(third.attach(function_of(owner), of_other.fd()), 0,
		    "ATTACH");
	check_equal(third.map(map), 0, "MAP");
	check(map.address < mapped.address ||
		      map.address >= mapped.address + mapped.length,
	      "the same memory");
	check_equal(first->moves(), 0U, "moves");
}

/* It stays for who has mapped it, whoever else has gone. */
TEST_F(dm_in_a_bar, dm_exports_stay_mapped)
{
	set_word(*dm, 0, 0x12345678);
	dmabuf.reset();
	dm.reset();
	check(!try_alloc_dm(owner, max_dm_size(owner)), "more than there is");
	check_equal(errno, ENOMEM, "errno");
	check_equal(first->word(), 0x12345678U, "what is mapped");
	first.reset();
	wait_for_dm(owner);
}

/* Behind a host bridge of which the kernel does not know that it lets them through. */
TEST_F(dm_in_a_bar, dm_exports_out_of_reach)
{
	peer far;

	check_equal(far.attach("/sys/bus/pci/devices/0000:00:00.0",
			       dmabuf->fd()),
		    EOPNOTSUPP, "ATTACH");
}

/* The driver disables it when it has done everything else. */
bool is_enabled(const std::filesystem::path &function)
{
	std::ifstream file(function / "enable");
	int count = 0;

	return file >> count && count > 0;
}

/*
 * In the environment: DM_HELD, a file that appears when the device is to go, and DM_LATE,
 * milliseconds that it is then mapped for.
 */
TEST_F(dm_in_a_bar, dm_exports_end_with_their_device)
{
	const char *held = std::getenv("DM_HELD");
	const char *late = std::getenv("DM_LATE");
	ornic_importer_map map{};
	peer newcomer;

	if (!held)
		skip("nobody ends the device");
	const mr_ptr mr = try_reg(on.server, dmabuf->fd());
	check(mr != nullptr, "ibv_reg_dmabuf_mr");
	const std::filesystem::path nic = function_of(owner);
	const unsigned int ms = late ? std::strtoul(late, nullptr, 10) : 0;
	first->unmap_late(ms);
	std::ofstream{ held };
	for (int i = 0; i < timeout_ms() && !first->moves(); i++)
		usleep(1000);
	check_equal(first->moves(), 1U, "moves");
	if (ms) {
		usleep(ms * 500);
		check(is_enabled(nic), "the NIC did not wait");
	}
	check_equal(newcomer.attach(nic, dmabuf->fd()), ENODEV, "ATTACH");
	if (!ms)
		check_equal(first->map(map), ENODEV, "MAP");
}

TEST_F(dm_exports, dm_exports_nothing)
{
	rlimit old{}, none{};
	int32_t fd = -1;

	check_equal(try_export(owner, dm->handle + 1, fd), ENOENT, "no DM");
	check_equal(try_export(on.server, dm->handle, fd), ENOENT,
		    "a DM of another context");
	check_equal(getrlimit(RLIMIT_NOFILE, &old), 0, "getrlimit");
	none.rlim_max = old.rlim_max;
	check_equal(setrlimit(RLIMIT_NOFILE, &none), 0, "setrlimit");
	const int error = try_export(owner, dm->handle, fd);
	check_equal(setrlimit(RLIMIT_NOFILE, &old), 0, "setrlimit");
	check_equal(error, EMFILE, "no descriptor left");
	check_equal(fd, -1, "descriptor");
	dm.reset();
	wait_for_dm(owner);
}

} /* namespace */
