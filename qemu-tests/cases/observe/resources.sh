# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check the details of `rdma resource show -dd` for the objects of a
# running program: they are complete and consistent, and change with the traffic. What
# it takes to inject packets is only for who has CAP_NET_ADMIN.

limit=120

# detail KIND NAME: print it, for the first user object of the client
detail()
{
	local line

	line=$(rdma res show "$1" ${2:+link cli0/1} -dd | tr '\n' ' ' |
		sed 's/link /\n/g' | grep "pid $cli_pid " | head -n 1)
	[[ " $line " =~ [[:space:]]drv_$3[[:space:]]([0-9]+)[[:space:]] ]] || return 1
	echo "${BASH_REMATCH[1]}"
}

qp() { detail qp link "$1"; }

# connections [COMMAND...]: QPs of the client that show the numbers of their peer
connections()
{
	"$@" rdma res show qp link cli0/1 | grep "pid $cli_pid " |
		grep 'rqpn [1-9].*sq-psn [1-9]'
}

# srq NAME: print that detail of the only SRQ
srq()
{
	local line

	line=$(rdma res show srq dev srv0 -dd | tr '\n' ' ')
	[[ " $line " =~ [[:space:]]drv_$1[[:space:]]([0-9]+)[[:space:]] ]] || return 1
	echo "${BASH_REMATCH[1]}"
}

srq_waits() { [ "$(srq waiting)" = "$1" ]; }

# An SRQ with as many WQEs as its program has posted
shared_receive_queue()
{
	local server

	"${srv_prefix[@]}" ibv_srq_pingpong -d srv0 -g "$srv_gid" -p 18611 -r 100 &
	server=$!
	wait_until 10 srq_waits 100
	rdma res show srq dev srv0 -dd
	[ "$(srq depth)" = 128 ] || fail 'the depth of the SRQ'
	[ "$(srq broken)" = 0 ] || fail 'an SRQ that works is broken'
	! "${as_nobody[@]}" rdma res show srq dev srv0 -dd | grep drv_waiting ||
		fail 'nobody asks the device'
	stop_traffic "$server"
}

posts_beyond() { [ "$(qp sq_producer)" != "$1" ]; }

run()
{
	local before name

	need_ornic
	topology veth
	start_traffic 18610
	wait_until 20 busy_posting cli0
	rdma res show qp link cli0/1 -dd
	rdma res show cq dev cli0 -dd
	rdma res show mr dev cli0 -dd
	for name in sq_psn sq_acked sq_window sq_done rq_psn rq_msn timer \
		counters sq_depth; do
		qp $name >/dev/null || fail "a QP without $name"
	done
	connections || fail 'the peer is not shown'
	"${as_nobody[@]}" rdma res show qp link cli0/1 | grep "pid $cli_pid " ||
		fail 'nobody sees no QP'
	! connections "${as_nobody[@]}" || fail 'nobody sees the peer'
	before=$(qp sq_producer)
	wait_until 10 posts_beyond "$before"
	[ "$(qp rnr_wait)" = 0 ] || fail 'a WRITE waits for a receive WQE'
	[ "$(qp broken)" = 0 ] || fail 'a QP that runs is broken'
	for name in producer consumer armed overflow queues; do
		rdma res show cq dev cli0 -dd | grep -qw "drv_$name" ||
			fail "a CQ without $name"
	done
	for name in access windows; do
		rdma res show mr dev cli0 -dd | grep -qw "drv_$name" ||
			fail "an MR without $name"
	done
	stop_traffic "$cli_pid" "$srv_pid"
	shared_receive_queue
}
