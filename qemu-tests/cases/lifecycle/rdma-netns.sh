# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will add links in network namespaces in exclusive mode: each link is
# visible only in its namespace, and transfers data there.

limit=120

requires()
{
	need_ornic
}

run()
{
	# shellcheck source=qemu-tests/lib/exclusive.sh
	. /ornic/qemu-tests/lib/exclusive.sh
	exclusive
	ip link add veth-srv type veth peer name veth-cli
	side srv 1 srv
	side cli 2 cli
	on_srv rdma link add srv0 type ornic netdev veth-srv
	on_cli rdma link add cli0 type ornic netdev veth-cli
	wait_until 5 seen srv0: on_srv
	wait_until 5 seen cli0: on_cli
	seen '' || fail 'seen outside'
	! on_cli ibv_devinfo -d srv0 || fail 'a foreign device opens'

	srv_dev=srv0 cli_dev=cli0 srv_host=10.0.0.1
	wait_until 5 index_of srv0 10.0.0.1 on_srv
	wait_until 5 index_of cli0 10.0.0.2 on_cli
	srv_gid=$(index_of srv0 10.0.0.1 on_srv)
	cli_gid=$(index_of cli0 10.0.0.2 on_cli)
	pingpong ibv_rc_pingpong -n 50

	on_cli rdma link delete cli0
	wait_until 5 seen '' on_cli
	! rdma link delete srv0 || fail 'deleted from outside'
	seen srv0: on_srv || fail 'gone'
}
