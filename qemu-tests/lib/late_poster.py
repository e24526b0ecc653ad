#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Post to a QP in ERR, which completes each post with a flush error, and read no events,
until a post fails: that of a device that is gone has to fail with EIO.

  late_poster.py DEVICE SECONDS
"""

import errno
import os
import sys
import time

from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR


def post_until_it_fails(qp, cq, end):
    """The error of the post that fails; None: all completed until @end."""
    while time.monotonic() < end:
        try:
            qp.post_send(SendWR(num_sge=1, sg=[SGE(0, 0, 0)]))
        except PyverbsRDMAError as err:
            return err.error_code
        while cq.poll()[0]:
            pass
        time.sleep(0.01)
    return None


context = Context(name=sys.argv[1])
pd = PD(context)
cq = CQ(context, 16)
qp = QP(pd, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(4, 4, 1, 1)))
qp.to_init(QPAttr(port_num=1))
qp.modify(QPAttr(qp_state=enums.IBV_QPS_ERR), enums.IBV_QP_STATE)
print("posting", flush=True)
error = post_until_it_fails(qp, cq, time.monotonic() + float(sys.argv[2]))
print("EIO" if error == errno.EIO else f"error {error}", flush=True)
# Nothing can be destroyed any more.
os._exit(error != errno.EIO)
