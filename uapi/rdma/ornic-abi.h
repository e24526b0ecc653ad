/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The ABI between ornic.ko and its user-space provider: driver data of the
 * verbs commands, mmap regions, and the doorbell file.
 *
 * Rules: every structure is a multiple of 8 bytes, comp_mask first, reserved
 * fields are zero in both directions (a request with others is -EINVAL, an
 * unknown comp_mask bit -EOPNOTSUPP). Fields are only ever appended; anything
 * else raises ORNIC_ABI_VERSION.
 */
#ifndef ORNIC_ABI_H
#define ORNIC_ABI_H

#include <linux/types.h>

#define ORNIC_ABI_VERSION 1

/* How the provider kicks a send queue. */
enum ornic_kick_mode {
	ORNIC_KICK_FD = 0, /* write() of QPNs to the doorbell fd */
	ORNIC_KICK_PAGE = 1, /* 32-bit store to the mapped page */
};

/*
 * Response of alloc_ucontext.
 * @kick_mmap: ORNIC_KICK_PAGE: mmap offset of the doorbell page
 * @kick_offset: ORNIC_KICK_PAGE: byte offset of the register in that page
 * @kick_value: ORNIC_KICK_PAGE: the value to store
 * @ece_options: what RC and XRC QPs offer, enum ornic_ece; 0: no modify_qp data
 * @null_lkey: of null MRs, in all PDs; 0: there are none
 * @rate_limit_min, @rate_limit_max: of raw packet QPs, kbit/s; 0: there are none
 */
struct ornic_alloc_ucontext_resp {
	__u32 comp_mask;
	__u32 hw_version;
	__u32 kick_mode;
	__u32 kick_offset;
	__aligned_u64 kick_mmap;
	__u32 kick_value;
	__u16 max_sge;
	__u16 max_inline;
	__u32 max_wqe;
	__u32 max_cqe;
	__u32 ece_options;
	__u32 null_lkey;
	__u32 rate_limit_min;
	__u32 rate_limit_max;
};

struct ornic_alloc_pd_resp {
	__u32 comp_mask;
	__u32 pdn;
};

struct ornic_create_cq_req {
	__u32 comp_mask;
	__u32 reserved_20;
};

/* One mmap of @mmap_size bytes: the layout of a CQ in ornic-hw.h. */
struct ornic_create_cq_resp {
	__u32 comp_mask;
	__u32 cqn;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 log_depth;
	__u32 reserved_e0;
};

struct ornic_resize_cq_req {
	__u32 comp_mask;
	__u32 reserved_20;
};

/* The new memory of the CQ, to be mapped in the place of the old. */
struct ornic_resize_cq_resp {
	__u32 comp_mask;
	__u32 log_depth;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
};

struct ornic_create_qp_req {
	__u32 comp_mask;
	__u32 reserved_20;
};

/*
 * Request of create_qp with a table of WQs, in the place of struct ornic_create_qp_req:
 * how frames are spread over them.
 * @hash_function: 1: Toeplitz (enum ibv_rx_hash_function_flags)
 * @key_len: bytes of @key, all of them
 * @fields: enum ibv_rx_hash_fields
 */
struct ornic_create_rss_qp_req {
	__u32 comp_mask;
	__u8 hash_function;
	__u8 key_len;
	__u16 reserved_30;
	__aligned_u64 fields;
	__u8 key[40];
};

/* One mmap of @mmap_size bytes: the layout of a QP in ornic-hw.h. */
struct ornic_create_qp_resp {
	__u32 comp_mask;
	__u32 qpn;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 sq_offset;
	__u32 rq_offset;
	__u8 sq_log_depth;
	__u8 sq_log_stride;
	__u8 rq_log_depth;
	__u8 rq_log_stride;
	__u8 has_sq;
	__u8 has_rq;
	__u16 max_inline;
	__u16 sq_max_sge;
	__u16 rq_max_sge;
	__u32 reserved_160;
};

/*
 * Of ibv_query_ece() and ibv_set_ece(): a locally administered number (IEEE 802c,
 * AAI) with "or" in it, since no OUI is registered.
 */
#define ORNIC_ECE_VENDOR_ID 0x026f72

enum ornic_modify_qp_mask {
	ORNIC_MODIFY_QP_ECE = 1 << 0, /* @ece_options counts */
	ORNIC_MODIFY_QP_BURST = 1 << 1, /* @max_burst counts */
};

/*
 * Request of modify_qp, which may be left out. The options are those that both ends
 * agreed on; they are for RC and XRC QPs on their way to RTS.
 * @max_burst: with IB_QP_RATE_LIMIT: bytes that may be sent at once; 0: the device's choice
 */
struct ornic_modify_qp_req {
	__u32 comp_mask;
	__u32 ece_options;
	__u32 max_burst;
	__u32 reserved_60;
};

struct ornic_create_wq_req {
	__u32 comp_mask;
	__u32 reserved_20;
};

/* One mmap of @mmap_size bytes: the layout of a QP without an SQ in ornic-hw.h. */
struct ornic_create_wq_resp {
	__u32 comp_mask;
	__u32 wqn; /* a QPN */
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 rq_offset;
	__u8 log_depth;
	__u8 log_stride;
	__u16 max_sge;
};

struct ornic_create_srq_req {
	__u32 comp_mask;
	__u32 reserved_20;
};

/* One mmap of @mmap_size bytes: the layout of an SRQ in ornic-hw.h. */
struct ornic_create_srq_resp {
	__u32 comp_mask;
	__u32 srqn;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u8 log_depth;
	__u8 log_stride;
	__u16 max_sge;
	__u32 reserved_e0;
};

/*
 * ORNIC_METHOD_SRQ_RESIZE, a method of UVERBS_OBJECT_SRQ: modify_srq of uverbs
 * has no response, which a new size needs: the new memory of the SRQ, to be
 * mapped in the place of the old.
 */
struct ornic_resize_srq_resp {
	__u32 comp_mask;
	__u32 log_depth;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
};

enum ornic_srq_methods {
	ORNIC_METHOD_SRQ_RESIZE = (1U << 12),
};

enum ornic_srq_resize_attrs {
	ORNIC_ATTR_SRQ_RESIZE_HANDLE = (1U << 12),
	ORNIC_ATTR_SRQ_RESIZE_MAX_WR, /* u32 */
	ORNIC_ATTR_SRQ_RESIZE_RESP,
};

/*
 * What UVERBS_METHOD_COMP_CNTR_CREATE returns in ORNIC_ATTR_CREATE_COMP_CNTR_RESP,
 * which may be left out: one mmap of @mmap_size bytes, for reading only, which
 * begins with the struct ornic_comp_cntr_record.
 */
struct ornic_create_comp_cntr_resp {
	__u32 comp_mask;
	__u32 number;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
};

enum ornic_create_comp_cntr_attrs {
	ORNIC_ATTR_CREATE_COMP_CNTR_RESP = (1U << 12),
};

/*
 * ORNIC_METHOD_DM_QUERY, a method of UVERBS_OBJECT_DM, for its owner and for a
 * process that imports it: @length is what was asked for, and one mmap of @mmap_size
 * bytes begins with it.
 */
struct ornic_query_dm_resp {
	__u32 comp_mask;
	__u32 reserved_20;
	__aligned_u64 length;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
};

enum ornic_dm_methods {
	ORNIC_METHOD_DM_QUERY = (1U << 12),
	ORNIC_METHOD_DM_EXPORT,
};

enum ornic_dm_query_attrs {
	ORNIC_ATTR_DM_QUERY_HANDLE = (1U << 12),
	ORNIC_ATTR_DM_QUERY_RESP,
};

/*
 * ORNIC_METHOD_DM_EXPORT returns the file descriptor of a new dma-buf that is the DM, in
 * whole pages: a __s32.
 */
enum ornic_dm_export_attrs {
	ORNIC_ATTR_DM_EXPORT_HANDLE = (1U << 12),
	ORNIC_ATTR_DM_EXPORT_FD,
};

struct ornic_create_ah_resp {
	__u32 comp_mask;
	__u32 ah;
};

/*
 * The doorbell file: an FD object of the context in the driver's private
 * namespace. ORNIC_METHOD_DOORBELL_ALLOC returns the descriptor. write() of
 * n * 4 bytes kicks n send queues, QPNs in host byte order; a QPN that is not
 * of this context fails with -ENOENT, and what came before it is done. The
 * result is the number of bytes whose kicks were taken.
 * The numbers are those of UVERBS_ID_DRIVER_NS (1 << UVERBS_ID_NS_SHIFT).
 */
enum ornic_objects {
	ORNIC_OBJECT_DOORBELL = (1U << 12),
};

enum ornic_doorbell_methods {
	ORNIC_METHOD_DOORBELL_ALLOC = (1U << 12),
};

enum ornic_doorbell_alloc_attrs {
	ORNIC_ATTR_DOORBELL_ALLOC_HANDLE = (1U << 12),
};

/*
 * ORNIC_METHOD_QUERY_CLOCK, a method of UVERBS_OBJECT_DEVICE: the clock of the
 * timestamps in CQEs and CLOCK_REALTIME, both in ns, at the same moment.
 */
struct ornic_query_clock {
	__u32 comp_mask;
	__u32 reserved_20;
	__aligned_u64 device_ns;
	__aligned_u64 realtime_ns;
};

enum ornic_device_methods {
	ORNIC_METHOD_QUERY_CLOCK = (1U << 12),
};

enum ornic_query_clock_attrs {
	ORNIC_ATTR_QUERY_CLOCK_VALUES = (1U << 12),
};

/*
 * Attributes and methods of the driver on objects of ib_core, for a process
 * that imports a context: UVERBS_METHOD_QUERY_CONTEXT returns in
 * ORNIC_ATTR_QUERY_CONTEXT_RESP a struct ornic_alloc_ucontext_resp.
 * ORNIC_METHOD_PD_QUERY on UVERBS_OBJECT_PD returns in ORNIC_ATTR_PD_QUERY_RESP
 * a struct ornic_alloc_pd_resp, and -ENOENT for a handle that is no PD.
 */
enum ornic_query_context_attrs {
	ORNIC_ATTR_QUERY_CONTEXT_RESP = (1U << 12),
};

enum ornic_pd_methods {
	ORNIC_METHOD_PD_QUERY = (1U << 12),
};

enum ornic_pd_query_attrs {
	ORNIC_ATTR_PD_QUERY_HANDLE = (1U << 12),
	ORNIC_ATTR_PD_QUERY_RESP,
};

#endif /* ORNIC_ABI_H */
