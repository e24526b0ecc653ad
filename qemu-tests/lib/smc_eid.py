#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Give SMC an EID, by which peers of SMC-Rv2 know that they may connect: smc_eid.py EID"""

import sys

from pyroute2.netlink import NLM_F_ACK, NLM_F_REQUEST, genlmsg
from pyroute2.netlink.generic import GenericNetlinkSocket

# <linux/smc.h>
FAMILY, VERSION = "SMC_GEN_NETLINK", 1
ADD_UEID = 10  # SMC_NETLINK_ADD_UEID
EID_LENGTH = 32


class EidTable(genlmsg):
    nla_map = (("SMC_NLA_EID_TABLE_UNSPEC", "none"), ("SMC_NLA_EID_TABLE_ENTRY", "asciiz"))


def main():
    message = EidTable()
    message["cmd"], message["version"] = ADD_UEID, VERSION
    message["attrs"] = [("SMC_NLA_EID_TABLE_ENTRY", sys.argv[1].ljust(EID_LENGTH))]
    with GenericNetlinkSocket() as netlink:
        netlink.bind(FAMILY, EidTable)
        netlink.nlm_request(message, msg_type=netlink.prid,
                            msg_flags=NLM_F_REQUEST | NLM_F_ACK)


main()
