/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A simulated guest: the ivshmem client of QEMU, a driver, and a program that posts
 * WQEs, with a file for RAM.
 */
#ifndef ORNIC_NIC_TEST_FAKE_GUEST_H
#define ORNIC_NIC_TEST_FAKE_GUEST_H

#include <optional>
#include <string>
#include <vector>

#include "base.h"

namespace test
{

constexpr u64 ram_bytes = 16 << 20;
constexpr u64 page = 4096;
constexpr u32 vectors = 3;

/** Memory of the guest: DMA address and pointer. */
struct buffer {
	u64 dma = 0;
	u8 *ptr = nullptr;
	u64 size = 0;
	u32 key = 0; // if it is an MR
};

struct queue {
	buffer mem;
	u32 number = 0;
	u32 log_depth = 0;
	u32 index = 0; // next to consume, or to post
	u32 recv_index = 0; // QPs: next receive to post
	u64 recv_ring = 0; // QPs: where the RQ is
	u32 arm = 0;
};

/** Queues of a QP. */
constexpr u8 has_sq = 1;
constexpr u8 has_rq = 2;

class fake_guest {
public:
	/** Connect to the device at @socket, with the RAM in the file @ram and
	 *  the addresses of @number. */
	fake_guest(const std::string &socket, const std::string &ram, u8 number,
		   u64 size = ram_bytes);
	~fake_guest();
	fake_guest(const fake_guest &) = delete;

	bool connected() const
	{
		return bar_;
	}
	ornic_pci_device_regs *device_regs()
	{
		return reinterpret_cast<ornic_pci_device_regs *>(bar_);
	}
	ornic_pci_host_regs *host_regs()
	{
		return reinterpret_cast<ornic_pci_host_regs *>(
			bar_ + ORNIC_PCI_HOST_REGS);
	}
	u64 bar_size() const
	{
		return bar_size_;
	}
	/** Its device memory, and how much that is. */
	u8 *dm()
	{
		return bar_ + device_regs()->dm_page * page;
	}
	u64 dm_bytes()
	{
		return device_regs()->dm_pages * page;
	}
	u8 *ram()
	{
		return ram_;
	}
	u32 status()
	{
		return READ_ONCE(device_regs()->status);
	}

	void ring_control();
	void ring_kick();
	/** The eventfds that it got from the NIC: its doorbells, then messages. */
	std::vector<int> eventfds() const;
	/** Messages of @number since the last call; waits a while for one. */
	u64 messages(u32 number, int wait_ms = 30000);

	/** Put the nonce of the next reset at @dma, @offset in the file. */
	void place_nonce(u64 dma, u64 offset)
	{
		nonce_.dma = dma;
		nonce_.ptr = ram_ + offset;
	}
	/** Request a reset and wait for it. */
	bool reset();
	/** reset(), rings, port and GID, and an EQ for each message. */
	bool start();
	/** Set the GID of the guest, of that enum ornic_gid_type; false: refused. */
	bool set_gid(u8 type = ORNIC_GID_ROCE_V2);
	/** The port is up; @netdev_mtu: 0: any. False: refused. */
	bool set_port(u32 netdev_mtu = 0);
	/** Execute a command; nullopt if there is no response. */
	std::optional<union ornic_rsp> command(union ornic_req req);
	/** The same; whether it succeeds. */
	bool execute(const union ornic_req &req);

	buffer alloc(u64 bytes);
	queue make_eq(u32 msg, u32 log_depth = 4);
	queue make_cq(u32 log_depth = 6, u8 vector = 0);
	buffer make_mr(u64 bytes);
	/** The key, ODP, has none of the pages. */
	buffer make_odp_mr(u64 bytes);
	/** The same of device memory, from byte @at on. */
	buffer make_dm_mr(u64 at, u64 bytes);
	queue make_qp(const queue &cq, u8 type = ORNIC_QPT_RC, u8 flags = 0,
		      u8 queues = has_sq | has_rq);
	/** An FRMR with gaps, with room for @room segments; 0: there is none. */
	u32 make_gaps(u32 room);
	bool destroy(u8 opcode, u32 number);
	/** Move @qp to RTS, with the peer QP @peer of guest @number. */
	bool connect(const queue &qp, u32 peer, u8 number);
	/** Move @qp, which needs no attributes, to @state. */
	bool set_state(const queue &qp, u8 state);
	/** A flow rule of the raw packet QP @qp for @match, enum ornic_flow_flags;
	 *  its number, 0: refused. */
	u32 make_flow(const queue &qp, const ornic_flow_match &match,
		      u8 flags = 0, u16 priority = 0);
	/** The same of an enum ornic_flow_type that matches by itself. */
	u32 make_default_flow(const queue &qp, u8 type);
	/** SET_RSS of @qp; false: refused. */
	bool set_rss(const queue &qp, const ornic_rss &rss);

	void post(queue &qp, u8 opcode, const buffer &local, u64 remote,
		  u32 rkey, u32 length);
	void post_recv(queue &qp, const buffer &local, u32 length);
	void post_reg(queue &qp, u32 key, const ornic_seg_reg &reg);
	void post_invalidate(queue &qp, u32 key);
	/** The next completion; waits a while for it. */
	std::optional<ornic_cqe> poll(queue &cq);
	/** The next completion, if it is there. */
	std::optional<ornic_cqe> poll_now(queue &cq);
	void arm(queue &cq);
	std::optional<ornic_eqe> poll_eq(queue &eq);

	u64 kicks() const
	{
		return kicks_;
	}
	const u8 *mac()
	{
		return device_regs()->mac;
	}

private:
	bool hello(const std::string &socket);
	void write_nonce();
	u32 create(const union ornic_req &req);
	u32 make_key(const ornic_mem &mem, u64 iova, u64 bytes, u8 flags);
	ornic_mem mem_of(const buffer &b) const;
	void publish(queue &qp, u64 record, u32 producer);

	nic::unique_fd socket_;
	std::vector<nic::unique_fd> doorbells_;
	std::vector<nic::unique_fd> messages_;
	u8 *bar_ = nullptr;
	u64 bar_size_ = 0;
	u8 *ram_ = nullptr;
	u64 ram_size_;
	u64 used_ = page;
	u8 number_;
	buffer nonce_, requests_, responses_;
	buffer argument_; // that a command reads
	u32 commands_ = 0;
	u64 kicks_ = 0;
};

/** MAC and IPv4 GID of guest @number. */
void address_of(u8 number, u8 *mac, u8 *gid);

} // namespace test

#endif // ORNIC_NIC_TEST_FAKE_GUEST_H
