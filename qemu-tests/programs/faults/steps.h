/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The life of every object of the verbs, in steps.
 */
#pragma once

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "../kfuzz/nldev.h"
#include "../verify/verbs.h"

struct step {
	std::string name;
	/* Both return an errno. What fails has changed nothing. */
	std::function<int()> make;
	std::function<int()> undo; /* none for what may be done twice */
	/* A short run lets only every so manyth call fail; 0: none. */
	unsigned int stride = 1;
	/* Other errnos for a lack of memory, those of sockets. */
	std::vector<int> others = {};
	/* What make and undo have done, where that is another question. */
	std::function<int(int)> made = {}, undone = {};
};

/* What the verbs return: an object, or null and errno. */
template <typename T> int keep(T *&where, T *made)
{
	where = made;
	return made ? 0 : errno;
}

/* What the steps make; each uses what those before it have made. */
struct life {
	life(const char *device, int gid, const char *peer, int peer_gid);

	std::string device;
	port far;
	int gid_index;
	nldev links;

	ibv_device *found = nullptr;
	ibv_context *context = nullptr;
	ibv_pd *pd = nullptr, *other_pd = nullptr;
	ibv_comp_channel *channel = nullptr;
	ibv_cq *cq = nullptr;
	ibv_cq_ex *cq_ex = nullptr;
	ibv_xrcd *xrcd = nullptr;
	ibv_srq *srq = nullptr, *xrc_srq = nullptr;
	ibv_qp *rc = nullptr, *ud = nullptr, *uc = nullptr;
	ibv_qp *xrc_send = nullptr, *xrc_recv = nullptr, *raw = nullptr;
	ibv_flow *flow = nullptr;
	ibv_wq *wq = nullptr;
	ibv_rwq_ind_table *table = nullptr;
	ibv_qp *rss = nullptr;
	memory buffer;
	ibv_mr *mr = nullptr, *dm_mr = nullptr;
	ibv_dm *dm = nullptr;
	ibv_mw *mw = nullptr;
	ibv_ah *ah = nullptr;
	std::unique_ptr<endpoint> far_end;
	uint32_t psn = 0;
};

std::vector<step> object_steps(life &l);
std::vector<step> cq_steps(life &l);
std::vector<step> queue_steps(life &l);
/* By the write() commands of /dev/infiniband/rdma_cm. */
std::vector<step> cm_steps();
/* A device on @netdev. */
std::vector<step> link_steps(life &l, const std::string &netdev);
