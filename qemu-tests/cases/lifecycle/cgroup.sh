# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will limit the objects of a control group: creation beyond the limit fails
# with EAGAIN, and destroyed objects are uncharged.

# shellcheck source=/dev/null
. /ornic/qemu-tests/lib/lifecycle.sh

group=/sys/fs/cgroup/rdma-test

requires()
{
	need_ornic
	grep -qw rdma /sys/fs/cgroup/cgroup.controllers || skip 'no rdma cgroup'
}

# "${inside[@]}" COMMAND...: run it in the group
# shellcheck disable=SC2016 # arguments of that shell
inside=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")

charged() { grep "^srv0 " "$group/rdma.current"; }

run()
{
	topology loop
	echo +rdma >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p "$group"
	echo 'srv0 hca_object=2' >"$group/rdma.max"
	refused "Couldn't create" "${inside[@]}" ibv_rc_pingpong -d srv0 -g "$srv_gid"
	# Linux 6.12 leaks a task_struct if the context is refused: the handler of
	# GET_CONTEXT frees the context without rdma_restrack_put().
	if [ "$KERNEL" != debug ]; then
		echo 'srv0 hca_handle=0' >"$group/rdma.max"
		refused "Couldn't get context" "${inside[@]}" \
			ibv_rc_pingpong -d srv0 -g "$srv_gid"
	fi
	echo 'srv0 hca_handle=max hca_object=max' >"$group/rdma.max"
	cli_prefix=("${inside[@]}")
	traffic ib_write_bw
	charged | grep -q 'hca_handle=1' || fail "charged: $(charged)"
	kill -KILL "$cli_pid"
	stop_traffic
	wait_until 5 empty_group
	wait_until 5 rmdir "$group"
}

empty_group()
{
	! charged || charged | grep -q 'hca_handle=0 hca_object=0'
}
