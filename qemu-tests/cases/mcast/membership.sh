# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check the groups of the netdev while QPs are attached: the netdev leaves
# them when the program dies and when the link is deleted, and keeps them when it is
# moved to another namespace.

limit=180

requires()
{
	need_ornic
	need ib_send_bw
}

# members FAMILY: start a busy pair whose server is attached to the group
members()
{
	local mgid=mgid$1

	family_of_both "$1"
	not_in_group "$1" || fail 'a member before'
	traffic ib_send_bw -c UD -g -M "${!mgid}" -s 1000
	in_group "$1" || fail 'no member'
}

run()
{
	local family

	# shellcheck source=qemu-tests/lib/lifecycle.sh
	. /ornic/qemu-tests/lib/lifecycle.sh
	# shellcheck source=qemu-tests/lib/mcast.sh
	. /ornic/qemu-tests/lib/mcast.sh
	topology veth
	# The netdev is removed during a TCP connection, which keeps its namespace
	# until its retries end.
	on_srv sysctl -qw net.ipv4.tcp_orphan_retries=1
	on_cli sysctl -qw net.ipv4.tcp_orphan_retries=1
	for family in 4 6; do
		members "$family"
		end "$srv_pid"
		wait_until 10 not_in_group "$family"
		end "$cli_pid"

		members "$family"
		ends_within 20 rdma link delete srv0
		not_in_group "$family" || fail 'a member without a link'
		stop_traffic
		add_link srv0 veth-srv "${srv_prefix[@]}"
	done

	members 4
	ip netns add elsewhere
	on_srv ip link set veth-srv netns elsewhere
	srv_prefix=(ip netns exec elsewhere)
	wait_until 5 in_group 4
	end "$srv_pid"
	wait_until 10 not_in_group 4
	end "$cli_pid"
}
