/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The operations, by what they talk to. Each has up to four arguments: the first
 * is mostly the place of the object that it makes or uses.
 */
#pragma once

#include "program.h"

/* Commands by write(). */
void op_open(world &w, const call &c);
void op_close(world &w, const call &c);
void op_alloc_pd(world &w, const call &c);
void op_reg_mr(world &w, const call &c);
void op_rereg_mr(world &w, const call &c);
void op_alloc_mw(world &w, const call &c);
void op_create_ah(world &w, const call &c);
void op_channel(world &w, const call &c);
void op_create_cq(world &w, const call &c);
void op_resize_cq(world &w, const call &c);
void op_open_xrcd(world &w, const call &c);
void op_create_srq(world &w, const call &c);
void op_modify_srq(world &w, const call &c);
void op_create_qp(world &w, const call &c);
void op_open_qp(world &w, const call &c);
void op_modify_qp(world &w, const call &c);
void op_query_qp(world &w, const call &c);
void op_mcast(world &w, const call &c);
void op_destroy(world &w, const call &c);
void op_command(world &w, const call &c);
void op_create_flow(world &w, const call &c);
void op_destroy_flow(world &w, const call &c);
void op_create_wq(world &w, const call &c);
void op_modify_wq(world &w, const call &c);
void op_create_table(world &w, const call &c);
void op_create_rss(world &w, const call &c);
void op_destroy_rwq(world &w, const call &c);

/* Commands by ioctl(). */
void op_method(world &w, const call &c);

/* Mapped queues and doorbells. */
void op_map(world &w, const call &c);
void op_unmap(world &w, const call &c);
void op_scribble(world &w, const call &c);
void op_post_send(world &w, const call &c);
void op_post_recv(world &w, const call &c);
void op_post_bind(world &w, const call &c);
void op_consume(world &w, const call &c);
void op_kick(world &w, const call &c);
void op_events(world &w, const call &c);
void op_memory(world &w, const call &c);

/* What is around a device. */
void op_cm(world &w, const call &c);
void op_netlink(world &w, const call &c);
void op_sysfs(world &w, const call &c);
void op_inject(world &w, const call &c);
void op_netdev(world &w, const call &c);
void op_link(world &w, const call &c);
