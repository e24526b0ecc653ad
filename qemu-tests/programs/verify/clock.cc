// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Timestamps of completions as wall time, and the PTP clock that tells the same time. */

#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "tests.h"

namespace
{

constexpr int64_t second = 1000000000;

int64_t to_ns(const timespec &t)
{
	return t.tv_sec * second + t.tv_nsec;
}

int64_t to_ns(const ptp_clock_time &t)
{
	return t.sec * second + t.nsec;
}

int64_t now()
{
	timespec t{};

	check_equal(clock_gettime(CLOCK_REALTIME, &t), 0, "CLOCK_REALTIME");
	return to_ns(t);
}

class clocks : public verify {
protected:
	clocks()
	{
		need_ornic(on);
	}
};

/* An endpoint whose send CQ tells when messages were done. */
class stamped {
public:
	explicit stamped(const ports &on)
		: mine(on.client, {})
		, peer(on.server, {})
	{
		ibv_cq_init_attr_ex attr{};

		attr.cqe = 16;
		attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
		cq_ = ibv_create_cq_ex(on.client.context.get(), &attr);
		check(cq_,
		      "ibv_create_cq_ex: " + std::string(std::strerror(errno)));
		ibv_qp_init_attr qp{};
		qp.send_cq = ibv_cq_ex_to_cq(cq_);
		qp.recv_cq = mine.recv_cq.get();
		qp.cap = mine.cap;
		qp.qp_type = IBV_QPT_RC;
		mine.qp.reset(ibv_create_qp(on.client.pd.get(), &qp));
		check(mine.qp != nullptr, "ibv_create_qp");
		for (auto *e : { &mine, &peer })
			e->to_init();
		mine.to_rtr(peer);
		peer.to_rtr(mine);
		mine.to_rts();
	}
	~stamped()
	{
		mine.qp.reset();
		if (cq_)
			ibv_destroy_cq(ibv_cq_ex_to_cq(cq_));
	}
	stamped(const stamped &) = delete;
	stamped &operator=(const stamped &) = delete;

	/* When a message was done, ns of wall time. */
	int64_t write()
	{
		ibv_poll_cq_attr attr{};
		const int64_t end = now() + timeout_ms() * (second / 1000);

		mine.post(rdma(IBV_WR_RDMA_WRITE, 1, peer, 0),
			  { mine.sge(0, 64) });
		while (ibv_start_poll(cq_, &attr))
			check(now() < end, "no completion in time");
		const auto ns = static_cast<int64_t>(
			ibv_wc_read_completion_wallclock_ns(cq_));
		const ibv_wc_status status = cq_->status;
		ibv_end_poll(cq_);
		check_equal(status, IBV_WC_SUCCESS, "WRITE");
		return ns;
	}

private:
	endpoint mine, peer;
	ibv_cq_ex *cq_ = nullptr;
};

TEST_F(clocks, clock_of_completions)
{
	stamped s(on);

	for (int i = 0; i < 20; i++) {
		/* The two clocks are read one after the other. */
		constexpr int64_t apart = second / 10;
		const int64_t before = now();
		const int64_t at = s.write();

		check(before - apart <= at && at <= now() + apart,
		      "a completion at another time");
	}
}

/* Of the device, or -1. */
int open_ptp(const port &p)
{
	const std::filesystem::path folder =
		"/sys/class/infiniband/" + p.name + "/device/ptp";

	if (!std::filesystem::exists(folder))
		return -1;
	for (const auto &entry : std::filesystem::directory_iterator(folder)) {
		const auto path = "/dev" / entry.path().filename();
		return open(path.c_str(), O_RDWR | O_CLOEXEC);
	}
	return -1;
}

TEST_F(clocks, clock_ptp)
{
	if (!std::filesystem::exists("/sys/class/ptp"))
		skip("the kernel has no PTP clocks");
	const int fd = open_ptp(on.client);
	const clockid_t id = (~fd << 3) | 3; /* FD_TO_CLOCKID of the kernel */
	ptp_sys_offset_extended samples{};
	ptp_clock_caps caps{};
	timespec t{};

	check(fd >= 0, "no PTP clock");
	check_equal(ioctl(fd, PTP_CLOCK_GETCAPS, &caps), 0, "its caps");
	check_equal(caps.max_adj, 0, "most that it may be adjusted");

	samples.n_samples = PTP_MAX_SAMPLES;
	check_equal(ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &samples), 0,
		    "PTP_SYS_OFFSET_EXTENDED");
	for (const auto &sample : samples.ts)
		check(to_ns(sample[0]) <= to_ns(sample[1]) &&
			      to_ns(sample[1]) <= to_ns(sample[2]),
		      "another time than that of the system");

	check_equal(clock_gettime(id, &t), 0, "clock_gettime");
	check_equal(clock_settime(id, &t), -1, "clock_settime");
	check_equal(errno, EOPNOTSUPP, "clock_settime: errno");
	close(fd);
}

} /* namespace */
