// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_bpf KIND [NETDEV]: attaches to the netdev a BPF program that passes all packets,
 * prints that, and stays; the program goes with the process. KIND is xdp-generic,
 * xdp-native, tcx-ingress or tcx-egress. Without NETDEV it ends at once. Status 77: the
 * kernel has no programs of that kind.
 */
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

/* Of enum bpf_attach_type since Linux 6.6, and of <linux/bpf.h> that is as new. */
constexpr uint32_t tcx_ingress = 46, tcx_egress = 47;
/* Of enum tcx_action_base, likewise: the next program decides. */
constexpr int32_t tcx_next = -1;

struct kind {
	const char *name;
	bpf_prog_type type;
	uint32_t attach_type;
	uint32_t load_flags, attach_flags;
	int32_t verdict;
};

/* The native ones get packets in fragments, as those of a large MTU are. */
constexpr kind kinds[] = {
	{ "xdp-generic", BPF_PROG_TYPE_XDP, BPF_XDP, 0, XDP_FLAGS_SKB_MODE,
	  XDP_PASS },
	{ "xdp-native", BPF_PROG_TYPE_XDP, BPF_XDP, BPF_F_XDP_HAS_FRAGS,
	  XDP_FLAGS_DRV_MODE, XDP_PASS },
	{ "tcx-ingress", BPF_PROG_TYPE_SCHED_CLS, tcx_ingress, 0, 0, tcx_next },
	{ "tcx-egress", BPF_PROG_TYPE_SCHED_CLS, tcx_egress, 0, 0, tcx_next },
};

[[noreturn]] void die(const char *what)
{
	std::fprintf(stderr, "ornic_bpf: %s: %s\n", what, std::strerror(errno));
	std::exit(1);
}

int bpf(bpf_cmd command, bpf_attr &attr)
{
	return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof(attr)));
}

/* Nobody can ask for those of XDP, which all kernels with bpf() have. */
bool exists(const kind &k)
{
	bpf_attr attr{};

	attr.query.target_fd = if_nametoindex("lo");
	attr.query.attach_type = k.attach_type;
	if (!bpf(BPF_PROG_QUERY, attr))
		return true;
	if (errno == EINVAL)
		return k.type == BPF_PROG_TYPE_XDP;
	if (errno != ENOSYS)
		die("BPF_PROG_QUERY");
	return false;
}

int load(const kind &k)
{
	const bpf_insn program[] = {
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, k.verdict },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	bpf_attr attr{};

	attr.prog_type = k.type;
	attr.insns = reinterpret_cast<uint64_t>(program);
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = reinterpret_cast<uint64_t>("Dual BSD/GPL");
	attr.prog_flags = k.load_flags;
	const int fd = bpf(BPF_PROG_LOAD, attr);

	if (fd < 0)
		die("BPF_PROG_LOAD");
	return fd;
}

/* It stays attached until this process ends. */
void attach(const kind &k, const char *netdev)
{
	bpf_attr attr{};

	attr.link_create.prog_fd = static_cast<uint32_t>(load(k));
	attr.link_create.target_ifindex = if_nametoindex(netdev);
	attr.link_create.attach_type = k.attach_type;
	attr.link_create.flags = k.attach_flags;
	if (!attr.link_create.target_ifindex)
		die(netdev);
	if (bpf(BPF_LINK_CREATE, attr) < 0)
		die("BPF_LINK_CREATE");
}

const kind *find_kind(const char *name)
{
	for (const kind &k : kinds)
		if (!std::strcmp(k.name, name))
			return &k;
	return nullptr;
}

} /* namespace */

int main(int argc, char **argv)
{
	const kind *k = argc < 2 ? nullptr : find_kind(argv[1]);

	if (!k || argc > 3) {
		std::fprintf(stderr, "usage: ornic_bpf xdp-generic|xdp-native|"
				     "tcx-ingress|tcx-egress [NETDEV]\n");
		return 2;
	}
	if (!exists(*k)) {
		std::fprintf(stderr, "the kernel has no %s\n", k->name);
		return 77;
	}
	if (argc == 2)
		return 0;
	attach(*k, argv[2]);
	std::printf("attached %s to %s\n", k->name, argv[2]);
	std::fflush(stdout);
	for (;;)
		pause();
}
