/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The part of the device interface that flow rules of raw packet QPs are made of.
 * Included by ornic-hw.h, which has the conventions.
 */
#ifndef ORNIC_HW_FLOW_H
#define ORNIC_HW_FLOW_H

#include <linux/types.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

/* Layers that a frame has, as far as its headers are complete. */
enum ornic_flow_layer {
	ORNIC_FLOW_VLAN			= 1 << 0,	/* a tag, 802.1Q or 802.1ad */
	ORNIC_FLOW_IPV4			= 1 << 1,
	ORNIC_FLOW_IPV6			= 1 << 2,
	ORNIC_FLOW_TCP			= 1 << 3,	/* no later fragment */
	ORNIC_FLOW_UDP			= 1 << 4,	/* no later fragment */
};

enum ornic_flow_ipv4 {			/* values of enum ib_ipv4_flags */
	ORNIC_FLOW_DONT_FRAGMENT	= 1 << 1,
	ORNIC_FLOW_MORE_FRAGMENTS	= 1 << 2,
};

/**
 * struct ornic_flow_key - what flow rules match of an Ethernet frame
 * @dmac: destination
 * @smac: source
 * @ether_type: after the tag, if there is one
 * @vlan: TCI of the first tag, 0 if there is none
 * @src_ip: IPv6 address, or IPv4 address in the first 4 bytes, or 0
 * @dst_ip: likewise
 * @flow_label: 20 bits; IPv4: 0
 * @proto: IPv4 protocol, or next header of the IPv6 header
 * @tclass: type of service, or traffic class
 * @ttl: or hop limit
 * @ipv4_flags: enum ornic_flow_ipv4
 * @src_port: of TCP or UDP
 * @dst_port: likewise
 * @layers: enum ornic_flow_layer
 * @reserved: zero
 *
 * All in the order of the wire. What a frame does not have is zero.
 */
struct ornic_flow_key {
	__u8 dmac[6];
	__u8 smac[6];
	__be16 ether_type;
	__be16 vlan;
	__u8 src_ip[16];
	__u8 dst_ip[16];
	__be32 flow_label;
	__u8 proto;
	__u8 tclass;
	__u8 ttl;
	__u8 ipv4_flags;
	__be16 src_port;
	__be16 dst_port;
	__u8 layers;
	__u8 reserved[3];
};

/* What CREATE_FLOW reads: a frame matches if @mask of its key is that of @value. */
struct ornic_flow_match {
	struct ornic_flow_key value;
	struct ornic_flow_key mask;
};

enum ornic_flow_type {			/* values of enum ib_flow_attr_type */
	ORNIC_FLOW_NORMAL		= 0,	/* frames that match */
	/* copies of what no rule takes and is not for the address of the port */
	ORNIC_FLOW_ALL_DEFAULT		= 1,
	ORNIC_FLOW_MC_DEFAULT		= 2,	/* likewise, of multicast only */
	ORNIC_FLOW_SNIFFER		= 3,	/* a copy of each frame */
};

enum ornic_flow_flags {
	/* NORMAL: a copy; other rules and the host get the frame as well */
	ORNIC_FLOW_COPY			= 1 << 0,
	ORNIC_FLOW_DROP			= 1 << 1,	/* NORMAL: to nobody */
};

/*
 * What CREATE_FLOW asks for: frames that the port receives, or a raw packet QP sends,
 * go to a raw packet QP. Of NORMAL rules that match, that of the lowest @priority
 * counts, and of these that with the most bits in its mask. Rules of other QPs that
 * are equal in match and priority count with it; of the same QP: ORNIC_EXISTS.
 * Unicast frames that a NORMAL rule takes are hidden from the host. @match is in one
 * page, and is read during the command; 0 if the rule is not NORMAL.
 */
struct ornic_flow_rule {
	__le64 match;			/* DMA address of a struct ornic_flow_match */
	__le32 qpn;			/* raw packet QP */
	__le16 priority;		/* 0 is the first */
	__u8 type;			/* enum ornic_flow_type */
	__u8 flags;			/* enum ornic_flow_flags */
};

/*
 * END_RAW: the header alone. The right to raw packet QPs and flow rules has ended, as the
 * netdev leaves its network namespace. QPs in other states than RESET and ERR go to ERR, with
 * ORNIC_EVENT_QP_FATAL. Rules take nothing from now on, and remain to be destroyed. After the
 * response no frame is sent or received by what there was before. ORNIC_BAD_OPCODE without
 * ORNIC_CAP_RAW.
 */

/* ---- Receive side scaling --------------------------------------------------- */

/* What is hashed of a frame, in this order; values of enum ibv_rx_hash_fields. */
enum ornic_rss_field {
	ORNIC_RSS_SRC_IPV4		= 1 << 0,
	ORNIC_RSS_DST_IPV4		= 1 << 1,
	ORNIC_RSS_SRC_IPV6		= 1 << 2,
	ORNIC_RSS_DST_IPV6		= 1 << 3,
	ORNIC_RSS_SRC_PORT_TCP		= 1 << 4,
	ORNIC_RSS_DST_PORT_TCP		= 1 << 5,
	ORNIC_RSS_SRC_PORT_UDP		= 1 << 6,
	ORNIC_RSS_DST_PORT_UDP		= 1 << 7,
};

#define ORNIC_RSS_FIELDS	0xff
#define ORNIC_RSS_KEY_LEN	40
#define ORNIC_RSS_MAX_LOG_SIZE	7

/**
 * struct ornic_rss - what SET_RSS reads
 * @key: of the Toeplitz hash
 * @fields: enum ornic_rss_field; 0 only with one entry
 * @log_size: log2 of the entries of @qpn that count
 * @reserved: zero
 * @qpn: raw packet QPs with an RQ or SRQ and without an SQ, which may be in another
 *	PD; one may be there several times
 *
 * SET_RSS: hdr.obj = QPN of a raw packet QP without any queue, once: frames that
 * flow rules give to it go on to one of @qpn, by the low bits of the hash of their
 * fields. A frame that has none of them goes to the first one; a fragment has no
 * ports, not even the first one. What completes is the receive of that QP. @rss is in
 * one page and read during the command. The host destroys the QPs of @qpn after this
 * one; frames for one that is gone are lost.
 */
struct ornic_rss {
	__u8 key[ORNIC_RSS_KEY_LEN];
	__le32 fields;
	__u8 log_size;
	__u8 reserved[3];
	__le32 qpn[1 << ORNIC_RSS_MAX_LOG_SIZE];
};

/* clang-format on */

#endif /* ORNIC_HW_FLOW_H */
