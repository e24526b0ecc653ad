/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The device interface over PCI: how commands, kicks and events of ornic-hw.h
 * travel between a host and a PCI function.
 *
 * BAR 2 begins with two pages: registers that the device writes, then registers
 * that the host writes. The doorbell register is where the device says. The
 * rings are in host memory, named by DMA address. Behind ivshmem both pages are
 * plain memory, so a host that is broken can write to either, and a device never
 * reads back what it wrote; nor does a host believe what it reads: see
 * Documentation/device-pci.rst.
 */
#ifndef ORNIC_HW_PCI_H
#define ORNIC_HW_PCI_H

#include <linux/types.h>
#include <rdma/ornic-hw.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

/* "ornicNIC", little endian. Other functions have the same PCI ids. */
#define ORNIC_PCI_MAGIC		0x43494e63696e726fULL

#define ORNIC_PCI_REG_BAR	2
#define ORNIC_PCI_DEVICE_REGS	0	/* struct ornic_pci_device_regs */
#define ORNIC_PCI_HOST_REGS	4096	/* struct ornic_pci_host_regs */
#define ORNIC_PCI_REGS_SIZE	8192

/* Message 0 is for commands, status and async events; 1 + n for vector n. */
#define ORNIC_PCI_MSG_CONTROL	0
#define ORNIC_PCI_MSG_COMP	1
#define ORNIC_PCI_MAX_MSGS	257

enum ornic_pci_status {
	ORNIC_PCI_ABSENT	= 0,	/* no device yet: wait */
	ORNIC_PCI_READY		= 1,	/* resets and, after one, commands work */
	ORNIC_PCI_FAILED	= 2,	/* all state is lost; a reset may help, and READY comes */
	ORNIC_PCI_REMOVED	= 3,	/* it does not come back */
};

/**
 * struct ornic_pci_device_regs - written by the device
 * @magic: ORNIC_PCI_MAGIC, written last of all when the device comes up
 * @version: ORNIC_HW_VERSION
 * @status: enum ornic_pci_status; a change is followed by message 0
 * @health: another value at least once a second for as long as the device is
 *	alive, whatever @status says
 * @num_msgs: MSI-X messages that it sends, 2 to ORNIC_PCI_MAX_MSGS; the number
 *	of completion vectors is one less
 * @reset_done: the last value of @reset whose reset is complete: the device
 *	has no object, no ring and touches no memory of the host, and its own is
 *	zeroed
 * @doorbell_bar: BAR of the doorbell register
 * @dm_bar: BAR that device memory is in
 * @reserved: zero
 * @mac: Ethernet address; the netdev of the same address is the Ethernet side
 * @reserved2: zero
 * @doorbell_offset: of the register in that BAR, a multiple of 4. The 4 KiB
 *	page that it is in may be mapped into processes.
 * @doorbell_control: a store of this value makes the device look at the
 *	registers of the host, the command ring and EQs that want kicks
 * @doorbell_kick: a store of this value makes it look at all SQs and at the RQs
 *	that wanted a kick
 * @dm_page: where device memory begins in @dm_bar, in pages of 4096 bytes
 * @dm_pages: its size in those; 0 without ORNIC_CAP_DM. Processes may map any
 *	page of it, so nothing else is in them.
 * @reserved3: zero
 */
struct ornic_pci_device_regs {
	__le64 magic;
	__le32 version;
	__le32 status;
	__le32 health;
	__le32 num_msgs;
	__le32 reset_done;
	__u8 doorbell_bar;
	__u8 dm_bar;
	__u8 reserved[2];
	__u8 mac[6];
	__u8 reserved2[2];
	__le32 doorbell_offset;
	__le32 doorbell_control;
	__le32 doorbell_kick;
	__le32 dm_page;
	__le32 dm_pages;
	__u8 reserved3[4];
};

/**
 * struct ornic_pci_host_regs - written by the host
 * @reset: another value asks for a reset; then a store of @doorbell_control
 * @cmd_log_depth: log2 of the slots of both command rings, 0 to 6
 * @cmd_ring: DMA address of the requests, 64 bytes each; it and @rsp_ring at a
 *	multiple of 4096
 * @rsp_ring: DMA address of the responses, 64 bytes each
 * @cmd_producer: requests written since the reset (free running). Written with
 *	release semantics after them, then a store of @doorbell_control. The
 *	device takes @cmd_log_depth and the addresses when it first sees it
 *	differ from 0.
 * @reserved: zero
 * @nonce_addr: DMA address, a multiple of 16, of a copy of @nonce in memory; 0:
 *	there is none. Behind ivshmem, where RAM does not begin at 0, below 4 GiB.
 * @nonce: random, other than 0. With each reset the device reads the copy, and
 *	touches no memory before the next reset unless it is the same: so host
 *	and device mean the same memory by an address. Afterwards the host
 *	clears @nonce_addr and may use the memory for something else.
 * @reserved2: zero
 */
struct ornic_pci_host_regs {
	__le32 reset;
	__le32 cmd_log_depth;
	__le64 cmd_ring;
	__le64 rsp_ring;
	__le32 cmd_producer;
	__u8 reserved[4];
	__le64 nonce_addr;
	__le32 nonce[4];
	__u8 reserved2[8];
};

#define ORNIC_PCI_MAX_LOG_CMDS	6

/*
 * Response ring. Responses come in any order, in consecutive slots from slot 0.
 * Bit 7 of hdr.status is the phase: 1 in the first pass over the ring, toggling
 * with each pass; stored last, with release semantics, together with the first
 * 32-bit word of the response. There are never more commands without a response
 * that the host has taken than the rings have slots. Message 0 follows.
 */
#define ORNIC_PCI_RSP_PHASE	0x80

/* Commands of this bus, beside those of enum ornic_opcode. */
enum ornic_pci_opcode {
	ORNIC_CMD_CREATE_EQ		= 0x80,
	ORNIC_CMD_DESTROY_EQ		= 0x81,	/* obj = EQN */
};

/*
 * CREATE_EQ: the queue of the events of message @msg: of 0 the asynchronous
 * ones, of 1 + n the completion events of vector n. One for each message; what
 * happens while there is none is lost. DESTROY_EQ: hdr.obj = EQN.
 *
 * Page 0 of the memory holds the EQ record; the ring starts at byte 4096. The
 * phase of an EQE is that of a CQE, its last byte, stored last with release
 * semantics together with the rest of its 32-bit word.
 */
struct ornic_req_create_eq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;		/* page 0: the record; from 4096 on: the ring */
	__u8 log_depth;			/* log2 of the EQEs, 4 to 16 */
	__u8 reserved;
	__le16 msg;			/* message, below num_msgs */
	__u8 reserved2[36];
};

/**
 * struct ornic_eq_record - record of an EQ
 * @consumer: host writes: EQEs consumed so far (free running). The host issues
 *	a full barrier after it and looks at the ring once more.
 * @kick_wanted: device writes: non-zero while it holds back events because the
 *	ring is full. The host reads it after that barrier and, if it is set,
 *	stores @doorbell_control.
 * @reserved: zero
 *
 * The device issues a full barrier after an EQE and then reads @consumer: it
 * sends the message if all EQEs before this one were consumed, and need not
 * otherwise.
 */
struct ornic_eq_record {
	__le32 consumer;
	__le32 kick_wanted;
	__u8 reserved[56];
};

/* clang-format on */

#endif /* ORNIC_HW_PCI_H */
