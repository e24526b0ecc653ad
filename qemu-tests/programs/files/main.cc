// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_files FILE OPERATIONS SEED COPY: reads, writes, maps, truncates, punches holes into and
 * opens again one file at random, by the page cache and by direct I/O, as fsx does. What each
 * read is to return is known from a copy in memory, which is written to COPY at the end. Ends
 * with 1, and prints the last operations, if a byte or the size differs or an operation fails.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

constexpr size_t largest_file = 256 * 1024;
constexpr size_t largest_piece = 48 * 1024;
constexpr size_t page = 4096;
constexpr size_t kept_operations = 16;

struct failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

void check(bool ok, const char *what)
{
	if (!ok)
		throw failure(std::string(what) + ": " + std::strerror(errno));
}

/* Its contents are @bytes: what the program has made of it. */
class checked_file {
public:
	checked_file(const char *path, unsigned int seed)
		: path_(path)
		, random_(seed)
	{
	}
	~checked_file()
	{
		close(cached_);
		close(direct_);
	}
	checked_file(const checked_file &) = delete;
	checked_file &operator=(const checked_file &) = delete;

	void create()
	{
		open_cached(O_CREAT | O_TRUNC);
	}
	void operate();
	void finish();
	[[nodiscard]] const std::vector<uint8_t> &bytes() const
	{
		return bytes_;
	}
	[[nodiscard]] const std::deque<std::string> &last_operations() const
	{
		return last_;
	}

private:
	struct range {
		size_t at, length;
	};

	void open_cached(int flags)
	{
		cached_ = open(path_, O_RDWR | flags, 0644);
		check(cached_ >= 0, "open");
		direct_ = open(path_, O_RDWR | O_DIRECT);
		check(direct_ >= 0, "open for direct I/O");
	}

	size_t below(size_t limit)
	{
		return std::uniform_int_distribution<size_t>(0, limit - 1)(
			random_);
	}

	/* Of what the file has, which is not empty */
	range range_of_file()
	{
		const size_t at = below(bytes_.size());

		return { at, 1 + below(std::min(largest_piece,
						bytes_.size() - at)) };
	}

	/* Where the file may grow, also behind its end */
	range range_to_write()
	{
		const size_t at = below(largest_file);

		return { at, 1 + below(std::min(largest_piece,
						largest_file - at)) };
	}

	/* Of whole pages, as direct I/O of local file systems has it */
	static range aligned(range r)
	{
		const size_t at = r.at / page * page;

		return { at, (r.length + page - 1) / page * page };
	}

	void note(const char *operation, range r)
	{
		last_.push_back(std::string(operation) + " of " +
				std::to_string(r.length) + " at " +
				std::to_string(r.at) + ", the file has " +
				std::to_string(bytes_.size()));
		if (last_.size() > kept_operations)
			last_.pop_front();
	}

	const uint8_t *fill(range r)
	{
		for (size_t i = 0; i < r.length; i += sizeof(uint64_t)) {
			const uint64_t word = random_();

			std::memcpy(buffer_ + i, &word, sizeof(word));
		}
		if (bytes_.size() < r.at + r.length)
			bytes_.resize(r.at + r.length);
		std::copy_n(buffer_, r.length, bytes_.data() + r.at);
		return buffer_;
	}

	/* What was read into the buffer */
	void compare(range r) const
	{
		for (size_t i = 0; i < r.length; i++) {
			if (buffer_[i] != bytes_[r.at + i])
				throw failure(
					"byte " + std::to_string(r.at + i) +
					" is " + std::to_string(buffer_[i]) +
					", not " +
					std::to_string(bytes_[r.at + i]));
		}
	}

	void read_by(int fd, range r)
	{
		const size_t want = std::min(r.length, bytes_.size() - r.at);
		const ssize_t n =
			pread(fd, buffer_, r.length, static_cast<off_t>(r.at));

		check(n >= 0, "pread");
		if (static_cast<size_t>(n) != want)
			throw failure("read " + std::to_string(n) +
				      " bytes, not " + std::to_string(want));
		compare({ r.at, want });
	}

	void write_by(int fd, range r)
	{
		size_t done = 0;

		fill(r);
		while (done < r.length) {
			const ssize_t n =
				pwrite(fd, buffer_ + done, r.length - done,
				       static_cast<off_t>(r.at + done));

			check(n > 0, "pwrite");
			done += static_cast<size_t>(n);
		}
	}

	void map(range r, bool write);
	void punch(range r);
	void check_size() const;

	const char *const path_;
	std::mt19937_64 random_;
	int cached_ = -1, direct_ = -1;
	std::vector<uint8_t> bytes_;
	std::deque<std::string> last_;
	alignas(page) uint8_t buffer_[largest_piece + page];
};

void checked_file::map(range r, bool write)
{
	const size_t skipped = r.at % page;
	void *const mapped = mmap(nullptr, skipped + r.length,
				  PROT_READ | PROT_WRITE, MAP_SHARED, cached_,
				  static_cast<off_t>(r.at - skipped));
	auto *const bytes = static_cast<uint8_t *>(mapped) + skipped;

	check(mapped != MAP_FAILED, "mmap");
	if (write)
		std::copy_n(fill(r), r.length, bytes);
	else
		std::copy_n(bytes, r.length, buffer_);
	check(!munmap(mapped, skipped + r.length), "munmap");
	if (!write)
		compare(r);
}

/* Versions of NFS below 4.2 have no holes. */
void checked_file::punch(range r)
{
	if (fallocate(cached_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      static_cast<off_t>(r.at), static_cast<off_t>(r.length))) {
		check(errno == EOPNOTSUPP, "fallocate");
		return;
	}
	std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(r.at),
		    r.length, uint8_t{ 0 });
}

void checked_file::check_size() const
{
	struct stat found {};

	check(!fstat(cached_, &found), "fstat");
	if (static_cast<size_t>(found.st_size) != bytes_.size())
		throw failure("the file has " + std::to_string(found.st_size) +
			      " bytes, not " + std::to_string(bytes_.size()));
}

void checked_file::operate()
{
	enum kind {
		read,
		write,
		map_read,
		map_write,
		direct_read,
		direct_write,
		truncate,
		hole,
		sync,
		open_again
	};
	/* Parts of a hundred */
	static const std::array<double, 10> parts{ 25, 25, 12, 12, 5,
						   5,  5,  5,  3,  3 };
	std::discrete_distribution<int> kinds(parts.begin(), parts.end());
	kind chosen = static_cast<kind>(kinds(random_));
	range r;

	/* An empty file has nothing to read. */
	if (bytes_.empty())
		chosen = write;
	switch (chosen) {
	case read:
		note("read", r = range_of_file());
		read_by(cached_, r);
		break;
	case write:
		note("write", r = range_to_write());
		write_by(cached_, r);
		break;
	case map_read:
	case map_write:
		note(chosen == map_read ? "mapped read" : "mapped write",
		     r = range_of_file());
		map(r, chosen == map_write);
		break;
	case direct_read:
		note("direct read", r = aligned(range_of_file()));
		read_by(direct_, r);
		break;
	case direct_write:
		note("direct write", r = aligned(range_to_write()));
		write_by(direct_, r);
		break;
	case truncate:
		r = { 0, below(largest_file) };
		note("truncation", r);
		check(!ftruncate(cached_, static_cast<off_t>(r.length)),
		      "ftruncate");
		bytes_.resize(r.length);
		break;
	case hole:
		note("hole", r = range_of_file());
		punch(r);
		break;
	case sync:
		note("fsync", { 0, 0 });
		check(!fsync(cached_), "fsync");
		break;
	case open_again:
		note("close and open", { 0, 0 });
		check(!close(direct_), "close");
		check(!close(cached_), "close");
		open_cached(0);
		break;
	}
	check_size();
}

/* All of the file, as the server has it */
void checked_file::finish()
{
	check(!fsync(cached_), "fsync");
	check(!posix_fadvise(cached_, 0, 0, POSIX_FADV_DONTNEED),
	      "posix_fadvise");
	note("last read", { 0, bytes_.size() });
	for (size_t at = 0; at < bytes_.size(); at += largest_piece)
		read_by(cached_, { at, largest_piece });
}

void write_copy(const std::vector<uint8_t> &bytes, const char *path)
{
	std::ofstream file(path, std::ios::binary);

	file.write(reinterpret_cast<const char *>(bytes.data()),
		   static_cast<std::streamsize>(bytes.size()));
	if (!file.flush())
		throw failure(std::string(path) + " cannot be written");
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 5) {
		std::fprintf(stderr,
			     "usage: ornic_files FILE OPERATIONS SEED COPY\n");
		return 2;
	}

	const unsigned long operations = std::strtoul(argv[2], nullptr, 0);
	const auto seed =
		static_cast<unsigned int>(std::strtoul(argv[3], nullptr, 0));
	checked_file file(argv[1], seed);
	unsigned long i = 0;

	try {
		file.create();
		for (; i < operations; i++)
			file.operate();
		file.finish();
		write_copy(file.bytes(), argv[4]);
	} catch (const failure &f) {
		std::fprintf(stderr, "operation %lu, seed %u: %s\n", i, seed,
			     f.what());
		for (const std::string &operation : file.last_operations())
			std::fprintf(stderr, "  %s\n", operation.c_str());
		return 1;
	}
	std::printf("%lu operations\n", operations);
	return 0;
}
