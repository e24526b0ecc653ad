/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The port: its addresses, its partitions, and the Ethernet side. ornic-hw.h
 * includes this.
 */
#ifndef ORNIC_HW_PORT_H
#define ORNIC_HW_PORT_H

#include <linux/types.h>
#include <rdma/ornic-hw-cmd.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

/* Entries of the P_Key table, at most. */
#define ORNIC_MAX_PKEYS		32

enum ornic_gid_type {
	ORNIC_GID_ROCE_V2		= 0,	/* packets have an IP and a UDP header */
	ORNIC_GID_ROCE_V1		= 1,	/* they have a GRH, and no IP */
};

/* SET_GID: hdr.obj = index. The entry also says how frames with this source are built. */
struct ornic_req_set_gid {
	struct ornic_req_hdr hdr;	/* obj = index, below gid_table_len */
	__u8 gid[16];			/* address; IPv4 as ::ffff:a.b.c.d */
	__u8 smac[6];			/* source MAC of frames from it */
	__le16 vlan;			/* VLAN id of such frames, 0xffff: untagged */
	__u8 valid;			/* 0 empties the entry */
	__u8 type;			/* enum ornic_gid_type */
	__u8 reserved[30];
};

#define ORNIC_VLAN_NONE		0xffff

/*
 * QUERY_PKEY: hdr.obj = index, below pkey_table_len. The table says to which
 * partitions the port belongs (IBTA 10.9); a host reads it, and cannot change it. At
 * first entry 0 is 0xffff, and the others are empty. ORNIC_EVENT_PKEY_CHANGE is
 * raised when it has changed. A device without ORNIC_CAP_PKEY has entry 0 alone.
 */
struct ornic_rsp_query_pkey {
	struct ornic_rsp_hdr hdr;
	__le16 pkey;			/* bit 15: full member; 0: the entry is empty */
	__u8 reserved[54];
};

/* SET_PORT: what the Ethernet side is like now. */
struct ornic_req_set_port {
	struct ornic_req_hdr hdr;
	__le32 mtu;			/* RoCE MTU: 256, 512, 1024, 2048 or 4096 */
	__u8 up;			/* the link has a carrier */
	__u8 reserved_13[3];
	/* of raw packet QPs: bytes after the Ethernet header and one tag; 0: no limit */
	__le32 netdev_mtu;
	__u8 reserved[44];
};

/* clang-format on */

#endif /* ORNIC_HW_PORT_H */
