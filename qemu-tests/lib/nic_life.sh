# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# For cases in which a PCI NIC, its driver or a guest goes under traffic.

# traffic_ended: of start_traffic; its programs saw an error, and went
traffic_ended() { ! kill -0 "$cli_pid" 2>/dev/null; }

# works_again: the NIC is back, and moves data
works_again()
{
	link_up ornic0 && (topology "$1" && pingpong ibv_rc_pingpong -n 10)
}

# is_busy: what start_traffic started goes on
is_busy() { kill -0 "$cli_pid" && busy_posting "$cli_dev"; }
