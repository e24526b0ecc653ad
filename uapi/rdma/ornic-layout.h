/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * Sizes and offsets of ornic-hw*.h and ornic-abi.h, asserted once. Included by
 * one file of the driver, one of the engine and one of the provider, so the
 * same list holds in kernel C, C11 and C++20.
 */
#ifndef ORNIC_LAYOUT_H
#define ORNIC_LAYOUT_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <rdma/ornic-hw-pci.h>

#define ORNIC_SIZE(type, bytes) \
	static_assert(sizeof(struct type) == (bytes), #type)
#define ORNIC_AT(type, field, byte) \
	static_assert(offsetof(struct type, field) == (byte), #type "." #field)

ORNIC_SIZE(ornic_mem, 16);
ORNIC_AT(ornic_mem, addr, 0);
ORNIC_AT(ornic_mem, npages, 8);
ORNIC_AT(ornic_mem, page_shift, 12);
ORNIC_AT(ornic_mem, levels, 13);

ORNIC_SIZE(ornic_wq_record, 64);
ORNIC_AT(ornic_wq_record, producer, 0);
ORNIC_AT(ornic_wq_record, kick_wanted, 4);
ORNIC_AT(ornic_wq_record, taken, 8);
ORNIC_AT(ornic_wq_record, tags_gone, 12);

ORNIC_SIZE(ornic_cq_record, 64);
ORNIC_AT(ornic_cq_record, consumer, 0);
ORNIC_AT(ornic_cq_record, arm, 4);
ORNIC_AT(ornic_cq_record, fired, 8);

ORNIC_SIZE(ornic_comp_cntr_record, 16);
ORNIC_AT(ornic_comp_cntr_record, completions, 0);
ORNIC_AT(ornic_comp_cntr_record, errors, 8);

ORNIC_SIZE(ornic_sq_hdr, 16);
ORNIC_AT(ornic_sq_hdr, opcode, 0);
ORNIC_AT(ornic_sq_hdr, flags, 1);
ORNIC_AT(ornic_sq_hdr, payload, 2);
ORNIC_AT(ornic_sq_hdr, imm, 4);
ORNIC_AT(ornic_sq_hdr, wr_id, 8);

ORNIC_SIZE(ornic_seg_remote, 16);
ORNIC_AT(ornic_seg_remote, rkey, 8);
ORNIC_SIZE(ornic_seg_atomic, 16);
ORNIC_AT(ornic_seg_atomic, compare, 8);
ORNIC_SIZE(ornic_seg_bind, 16);
ORNIC_AT(ornic_seg_bind, lkey, 8);
ORNIC_AT(ornic_seg_bind, access, 12);
ORNIC_SIZE(ornic_seg_xrc, 16);
ORNIC_SIZE(ornic_seg_reg, 32);
ORNIC_AT(ornic_seg_reg, list, 8);
ORNIC_AT(ornic_seg_reg, npages, 16);
ORNIC_AT(ornic_seg_reg, page_shift, 20);
ORNIC_AT(ornic_seg_reg, access, 21);
ORNIC_SIZE(ornic_list_segment, 16);
ORNIC_AT(ornic_list_segment, length, 8);
ORNIC_SIZE(ornic_seg_flush, 16);
ORNIC_AT(ornic_seg_flush, type, 4);
ORNIC_AT(ornic_seg_flush, level, 5);
ORNIC_SIZE(ornic_seg_tag, 32);
ORNIC_AT(ornic_seg_tag, tag, 8);
ORNIC_AT(ornic_seg_tag, mask, 16);
ORNIC_AT(ornic_seg_tag, handle, 24);
ORNIC_AT(ornic_seg_tag, unexpected, 28);
ORNIC_SIZE(ornic_seg_ud, 16);
ORNIC_AT(ornic_seg_ud, dest_qpn, 4);
ORNIC_AT(ornic_seg_ud, dest_qkey, 8);
ORNIC_AT(ornic_seg_ud, pkey_index, 12);
ORNIC_SIZE(ornic_sge, 16);
ORNIC_AT(ornic_sge, length, 8);
ORNIC_AT(ornic_sge, lkey, 12);
ORNIC_SIZE(ornic_rq_hdr, 16);
ORNIC_AT(ornic_rq_hdr, num_sge, 8);

ORNIC_SIZE(ornic_cqe, 64);
ORNIC_AT(ornic_cqe, wr_id, 0);
ORNIC_AT(ornic_cqe, timestamp, 8);
ORNIC_AT(ornic_cqe, wqe_index, 16);
ORNIC_AT(ornic_cqe, qpn, 20);
ORNIC_AT(ornic_cqe, byte_len, 24);
ORNIC_AT(ornic_cqe, imm, 28);
ORNIC_AT(ornic_cqe, src_qpn, 32);
ORNIC_AT(ornic_cqe, smac, 36);
ORNIC_AT(ornic_cqe, vlan, 42);
ORNIC_AT(ornic_cqe, sgid_index, 44);
ORNIC_AT(ornic_cqe, sl, 45);
ORNIC_AT(ornic_cqe, tm_flags, 46);
ORNIC_AT(ornic_cqe, pkey_index, 47);
ORNIC_AT(ornic_cqe, tag, 48);
ORNIC_AT(ornic_cqe, app_ctx, 56);
ORNIC_AT(ornic_cqe, opcode, 60);
ORNIC_AT(ornic_cqe, status, 61);
ORNIC_AT(ornic_cqe, vendor_err, 62);
ORNIC_AT(ornic_cqe, flags, 63);

ORNIC_SIZE(ornic_eqe, 16);
ORNIC_AT(ornic_eqe, type, 4);
ORNIC_AT(ornic_eqe, vector, 5);
ORNIC_AT(ornic_eqe, flags, 15);

ORNIC_SIZE(ornic_av, 32);
ORNIC_AT(ornic_av, dmac, 16);
ORNIC_AT(ornic_av, udp_sport, 22);
ORNIC_AT(ornic_av, flow_label, 24);
ORNIC_AT(ornic_av, sgid_index, 28);
ORNIC_AT(ornic_av, sl, 31);

ORNIC_SIZE(ornic_req_hdr, 8);
ORNIC_AT(ornic_req_hdr, obj, 4);
ORNIC_SIZE(ornic_rsp_hdr, 8);
ORNIC_AT(ornic_rsp_hdr, status, 1);
ORNIC_AT(ornic_rsp_hdr, obj, 4);
ORNIC_SIZE(ornic_rsp_query_device, 64);
ORNIC_AT(ornic_rsp_query_device, hw_version, 32);
ORNIC_AT(ornic_rsp_query_device, max_inline, 44);
ORNIC_AT(ornic_rsp_query_device, mac, 48);
ORNIC_AT(ornic_rsp_query_device, log_max_mcast, 55);
ORNIC_AT(ornic_rsp_query_device, log_max_mcast_qps, 56);
ORNIC_AT(ornic_rsp_query_device, log_max_comp_cntr, 57);
ORNIC_AT(ornic_rsp_query_device, log_max_flow, 58);
ORNIC_AT(ornic_rsp_query_device, pkey_table_len, 59);
ORNIC_AT(ornic_rsp_query_device, ece_options, 60);
ORNIC_SIZE(ornic_req_query_stats, 64);
ORNIC_AT(ornic_req_query_stats, count, 16);
ORNIC_SIZE(ornic_req_modify_stats, 64);
ORNIC_AT(ornic_req_modify_stats, optional, 8);
ORNIC_SIZE(ornic_req_bind_counters, 64);
ORNIC_AT(ornic_req_bind_counters, counters, 8);
ORNIC_SIZE(ornic_flow_key, 64);
ORNIC_AT(ornic_flow_key, ether_type, 12);
ORNIC_AT(ornic_flow_key, src_ip, 16);
ORNIC_AT(ornic_flow_key, dst_ip, 32);
ORNIC_AT(ornic_flow_key, flow_label, 48);
ORNIC_AT(ornic_flow_key, proto, 52);
ORNIC_AT(ornic_flow_key, src_port, 56);
ORNIC_AT(ornic_flow_key, layers, 60);
ORNIC_SIZE(ornic_flow_match, 128);
ORNIC_SIZE(ornic_req_create_flow, 64);
ORNIC_AT(ornic_req_create_flow, rule, 8);
ORNIC_SIZE(ornic_req_set_rss, 64);
ORNIC_AT(ornic_req_set_rss, rss, 8);
ORNIC_SIZE(ornic_rss, 560);
ORNIC_AT(ornic_rss, fields, 40);
ORNIC_AT(ornic_rss, log_size, 44);
ORNIC_AT(ornic_rss, qpn, 48);
ORNIC_SIZE(ornic_flow_rule, 16);
ORNIC_AT(ornic_flow_rule, qpn, 8);
ORNIC_AT(ornic_flow_rule, priority, 12);
ORNIC_AT(ornic_flow_rule, type, 14);
ORNIC_AT(ornic_flow_rule, flags, 15);
ORNIC_SIZE(ornic_req_create_comp_cntr, 64);
ORNIC_AT(ornic_req_create_comp_cntr, mem, 8);
ORNIC_SIZE(ornic_req_modify_comp_cntr, 64);
ORNIC_AT(ornic_req_modify_comp_cntr, value, 8);
ORNIC_AT(ornic_req_modify_comp_cntr, entry, 16);
ORNIC_AT(ornic_req_modify_comp_cntr, change, 17);
ORNIC_SIZE(ornic_req_attach_comp_cntr, 64);
ORNIC_AT(ornic_req_attach_comp_cntr, cntr, 8);
ORNIC_AT(ornic_req_attach_comp_cntr, ops, 12);
ORNIC_SIZE(ornic_req_set_gid, 64);
ORNIC_AT(ornic_req_set_gid, smac, 24);
ORNIC_AT(ornic_req_set_gid, vlan, 30);
ORNIC_AT(ornic_req_set_gid, valid, 32);
ORNIC_AT(ornic_req_set_gid, type, 33);
ORNIC_SIZE(ornic_req_set_port, 64);
ORNIC_AT(ornic_req_set_port, up, 12);
ORNIC_AT(ornic_req_set_port, netdev_mtu, 16);
ORNIC_SIZE(ornic_req_create_cq, 64);
ORNIC_AT(ornic_req_create_cq, log_depth, 24);
ORNIC_AT(ornic_req_create_cq, vector, 25);
ORNIC_SIZE(ornic_req_resize_cq, 64);
ORNIC_AT(ornic_req_resize_cq, log_depth, 24);
ORNIC_SIZE(ornic_req_create_qp, 64);
ORNIC_AT(ornic_req_create_qp, pdn, 24);
ORNIC_AT(ornic_req_create_qp, qp_type, 36);
ORNIC_AT(ornic_req_create_qp, max_inline, 46);
ORNIC_AT(ornic_req_create_qp, srqn, 48);
ORNIC_AT(ornic_req_create_qp, xrcdn, 52);
ORNIC_SIZE(ornic_req_modify_qp, 64);
ORNIC_AT(ornic_req_modify_qp, mask, 8);
ORNIC_AT(ornic_req_modify_qp, qkey_ece, 24);
ORNIC_AT(ornic_req_modify_qp, av, 28);
ORNIC_AT(ornic_req_modify_qp, state, 60);
ORNIC_SIZE(ornic_rsp_query_qp, 64);
ORNIC_AT(ornic_rsp_query_qp, rq_psn_rnr, 12);
ORNIC_AT(ornic_rsp_query_qp, qkey_ece, 24);
ORNIC_AT(ornic_rsp_query_qp, av, 28);
ORNIC_AT(ornic_rsp_query_qp, state, 60);
ORNIC_SIZE(ornic_req_create_mkey, 64);
ORNIC_AT(ornic_req_create_mkey, iova, 24);
ORNIC_AT(ornic_req_create_mkey, pdn, 40);
ORNIC_AT(ornic_req_create_mkey, access, 44);
ORNIC_AT(ornic_req_create_mkey, flags, 45);
ORNIC_AT(ornic_req_create_mkey, offset, 48);
ORNIC_SIZE(ornic_req_modify_mkey, 64);
ORNIC_AT(ornic_req_modify_mkey, iova, 24);
ORNIC_AT(ornic_req_modify_mkey, pdn, 40);
ORNIC_AT(ornic_req_modify_mkey, access, 44);
ORNIC_AT(ornic_req_modify_mkey, mask, 45);
ORNIC_SIZE(ornic_req_create_mw, 64);
ORNIC_AT(ornic_req_create_mw, type, 12);
ORNIC_SIZE(ornic_req_create_ah, 64);
ORNIC_AT(ornic_req_create_ah, pdn, 40);
ORNIC_SIZE(ornic_req_create_srq, 64);
ORNIC_AT(ornic_req_create_srq, pdn, 24);
ORNIC_AT(ornic_req_create_srq, log_depth, 28);
ORNIC_AT(ornic_req_create_srq, max_sge, 30);
ORNIC_AT(ornic_req_create_srq, flags, 31);
ORNIC_AT(ornic_req_create_srq, xrcdn, 32);
ORNIC_AT(ornic_req_create_srq, cqn, 36);
ORNIC_AT(ornic_req_create_srq, max_tags, 40);
ORNIC_SIZE(ornic_req_resize_srq, 64);
ORNIC_AT(ornic_req_resize_srq, log_depth, 24);
ORNIC_SIZE(ornic_req_modify_srq, 64);
ORNIC_AT(ornic_req_modify_srq, limit, 8);
ORNIC_SIZE(ornic_req_modify_cq, 64);
ORNIC_AT(ornic_req_modify_cq, period, 10);
ORNIC_SIZE(ornic_rsp_query_clock, 64);
ORNIC_AT(ornic_rsp_query_clock, now, 8);
ORNIC_SIZE(ornic_rsp_query_pkey, 64);
ORNIC_AT(ornic_rsp_query_pkey, pkey, 8);
ORNIC_SIZE(ornic_rsp_inspect_qp, 64);
ORNIC_AT(ornic_rsp_inspect_qp, rq_psn, 36);
ORNIC_AT(ornic_rsp_inspect_qp, counters, 52);
ORNIC_AT(ornic_rsp_inspect_qp, state, 56);
ORNIC_AT(ornic_rsp_inspect_qp, ece, 60);
ORNIC_SIZE(ornic_rsp_inspect_cq, 64);
ORNIC_AT(ornic_rsp_inspect_cq, armed, 20);
ORNIC_AT(ornic_rsp_inspect_cq, pending, 28);
ORNIC_SIZE(ornic_rsp_inspect_mkey, 64);
ORNIC_AT(ornic_rsp_inspect_mkey, pdn, 24);
ORNIC_AT(ornic_rsp_inspect_mkey, access, 32);
ORNIC_SIZE(ornic_rsp_query_srq, 64);
ORNIC_AT(ornic_rsp_query_srq, limit, 8);
ORNIC_AT(ornic_rsp_query_srq, waiting, 12);
ORNIC_AT(ornic_rsp_query_srq, broken, 16);
ORNIC_AT(ornic_rsp_query_srq, tags, 20);
ORNIC_AT(ornic_rsp_query_srq, unexpected, 24);
ORNIC_SIZE(ornic_rsp_query_tags, 64);
ORNIC_AT(ornic_rsp_query_tags, log_max_tags, 8);
ORNIC_AT(ornic_rsp_query_tags, max_sge, 9);
ORNIC_SIZE(ornic_req_mcast, 64);
ORNIC_AT(ornic_req_mcast, mgid, 8);
ORNIC_SIZE(ornic_req_set_pages, 64);
ORNIC_AT(ornic_req_set_pages, list, 16);
ORNIC_AT(ornic_req_set_pages, npages, 24);
ORNIC_SIZE(ornic_req_clear_pages, 64);
ORNIC_AT(ornic_req_clear_pages, length, 16);
ORNIC_SIZE(ornic_rsp_take_fault, 64);
ORNIC_AT(ornic_rsp_take_fault, seq, 12);
ORNIC_AT(ornic_rsp_take_fault, addr, 16);
ORNIC_AT(ornic_rsp_take_fault, length, 24);
ORNIC_AT(ornic_rsp_take_fault, write, 32);
ORNIC_SIZE(ornic_req_end_fault, 64);
ORNIC_AT(ornic_req_end_fault, failed, 12);
static_assert(sizeof(union ornic_req) == 64, "ornic_req");
static_assert(sizeof(union ornic_rsp) == 64, "ornic_rsp");

ORNIC_SIZE(ornic_query_clock, 24);
ORNIC_AT(ornic_query_clock, device_ns, 8);
ORNIC_AT(ornic_query_clock, realtime_ns, 16);
ORNIC_SIZE(ornic_alloc_ucontext_resp, 56);
ORNIC_AT(ornic_alloc_ucontext_resp, kick_mmap, 16);
ORNIC_AT(ornic_alloc_ucontext_resp, max_sge, 28);
ORNIC_AT(ornic_alloc_ucontext_resp, max_wqe, 32);
ORNIC_AT(ornic_alloc_ucontext_resp, ece_options, 40);
ORNIC_AT(ornic_alloc_ucontext_resp, null_lkey, 44);
ORNIC_AT(ornic_alloc_ucontext_resp, rate_limit_min, 48);
ORNIC_AT(ornic_alloc_ucontext_resp, rate_limit_max, 52);
ORNIC_SIZE(ornic_alloc_pd_resp, 8);
ORNIC_SIZE(ornic_create_cq_req, 8);
ORNIC_SIZE(ornic_create_cq_resp, 32);
ORNIC_AT(ornic_create_cq_resp, mmap_offset, 8);
ORNIC_AT(ornic_create_cq_resp, log_depth, 24);
ORNIC_SIZE(ornic_resize_cq_req, 8);
ORNIC_SIZE(ornic_resize_cq_resp, 24);
ORNIC_AT(ornic_resize_cq_resp, log_depth, 4);
ORNIC_AT(ornic_resize_cq_resp, mmap_offset, 8);
ORNIC_SIZE(ornic_create_qp_req, 8);
ORNIC_SIZE(ornic_create_qp_resp, 48);
ORNIC_AT(ornic_create_qp_resp, mmap_offset, 8);
ORNIC_AT(ornic_create_qp_resp, sq_offset, 24);
ORNIC_AT(ornic_create_qp_resp, sq_log_depth, 32);
ORNIC_AT(ornic_create_qp_resp, max_inline, 38);
ORNIC_SIZE(ornic_modify_qp_req, 16);
ORNIC_AT(ornic_modify_qp_req, ece_options, 4);
ORNIC_AT(ornic_modify_qp_req, max_burst, 8);
ORNIC_SIZE(ornic_create_srq_req, 8);
ORNIC_SIZE(ornic_create_rss_qp_req, 56);
ORNIC_AT(ornic_create_rss_qp_req, hash_function, 4);
ORNIC_AT(ornic_create_rss_qp_req, key_len, 5);
ORNIC_AT(ornic_create_rss_qp_req, fields, 8);
ORNIC_AT(ornic_create_rss_qp_req, key, 16);
ORNIC_SIZE(ornic_create_wq_req, 8);
ORNIC_SIZE(ornic_create_wq_resp, 32);
ORNIC_AT(ornic_create_wq_resp, mmap_offset, 8);
ORNIC_AT(ornic_create_wq_resp, rq_offset, 24);
ORNIC_AT(ornic_create_wq_resp, log_depth, 28);
ORNIC_AT(ornic_create_wq_resp, max_sge, 30);
ORNIC_SIZE(ornic_create_srq_resp, 32);
ORNIC_AT(ornic_create_srq_resp, mmap_offset, 8);
ORNIC_AT(ornic_create_srq_resp, log_depth, 24);
ORNIC_AT(ornic_create_srq_resp, max_sge, 26);
ORNIC_SIZE(ornic_resize_srq_resp, 24);
ORNIC_AT(ornic_resize_srq_resp, log_depth, 4);
ORNIC_AT(ornic_resize_srq_resp, mmap_offset, 8);
ORNIC_SIZE(ornic_query_dm_resp, 32);
ORNIC_AT(ornic_query_dm_resp, length, 8);
ORNIC_AT(ornic_query_dm_resp, mmap_offset, 16);
ORNIC_AT(ornic_query_dm_resp, mmap_size, 24);
ORNIC_SIZE(ornic_create_comp_cntr_resp, 24);
ORNIC_AT(ornic_create_comp_cntr_resp, number, 4);
ORNIC_AT(ornic_create_comp_cntr_resp, mmap_offset, 8);
ORNIC_AT(ornic_create_comp_cntr_resp, mmap_size, 16);
ORNIC_SIZE(ornic_create_ah_resp, 8);

ORNIC_SIZE(ornic_pci_device_regs, 64);
ORNIC_AT(ornic_pci_device_regs, version, 8);
ORNIC_AT(ornic_pci_device_regs, status, 12);
ORNIC_AT(ornic_pci_device_regs, health, 16);
ORNIC_AT(ornic_pci_device_regs, num_msgs, 20);
ORNIC_AT(ornic_pci_device_regs, reset_done, 24);
ORNIC_AT(ornic_pci_device_regs, doorbell_bar, 28);
ORNIC_AT(ornic_pci_device_regs, dm_bar, 29);
ORNIC_AT(ornic_pci_device_regs, mac, 32);
ORNIC_AT(ornic_pci_device_regs, doorbell_offset, 40);
ORNIC_AT(ornic_pci_device_regs, doorbell_control, 44);
ORNIC_AT(ornic_pci_device_regs, doorbell_kick, 48);
ORNIC_AT(ornic_pci_device_regs, dm_page, 52);
ORNIC_AT(ornic_pci_device_regs, dm_pages, 56);
ORNIC_SIZE(ornic_pci_host_regs, 64);
ORNIC_AT(ornic_pci_host_regs, cmd_log_depth, 4);
ORNIC_AT(ornic_pci_host_regs, cmd_ring, 8);
ORNIC_AT(ornic_pci_host_regs, rsp_ring, 16);
ORNIC_AT(ornic_pci_host_regs, cmd_producer, 24);
ORNIC_AT(ornic_pci_host_regs, nonce_addr, 32);
ORNIC_AT(ornic_pci_host_regs, nonce, 40);
ORNIC_SIZE(ornic_req_create_eq, 64);
ORNIC_AT(ornic_req_create_eq, mem, 8);
ORNIC_AT(ornic_req_create_eq, log_depth, 24);
ORNIC_AT(ornic_req_create_eq, msg, 26);
ORNIC_SIZE(ornic_eq_record, 64);
ORNIC_AT(ornic_eq_record, kick_wanted, 4);

#endif /* ORNIC_LAYOUT_H */
