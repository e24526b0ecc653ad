# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will raise all asynchronous events: those of objects over veth, and those
# of port, GID table and device with ibv_asyncwatch. Each is delivered once, with the
# right object.

limit=120

saw() { grep -qi "$1" watch.out; }

run()
{
	need_ornic
	need ibv_asyncwatch stdbuf
	topology veth
	verify event_comm_est event_access_err event_req_err cq_overflow \
		rc_drain srq_limit srq_last_wqe
	"${cli_prefix[@]}" stdbuf -oL ibv_asyncwatch -d cli0 >watch.out 2>&1 &
	watcher=$!
	wait_until 10 grep -q . watch.out
	on_cli ip link set veth-cli down
	wait_until 10 saw PORT_ERR
	on_cli ip link set veth-cli up
	wait_until 10 saw PORT_ACTIVE
	on_cli ip addr add 10.0.9.9/24 dev veth-cli
	wait_until 10 saw GID_CHANGE
	on_cli rdma link delete cli0
	wait_until 10 saw DEVICE_FATAL
	cat watch.out
	kill "$watcher" 2>/dev/null || :
	wait "$watcher" || :
}
