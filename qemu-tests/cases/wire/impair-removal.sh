# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will remove a device, and the netdev of another, while each holds packets of
# running QPs.

limit=90
# shellcheck source=qemu-tests/lib/impair.sh
. /ornic/qemu-tests/lib/impair.sh

requires()
{
	need_ornic
	need ib_write_bw
}

# holds DEVICE: packets are held
holds() { grep '^# held' "$sys/$1/impair"; }

run()
{
	topology veth
	# Of the packets that the client sends without a response, some pass.
	rule cli0 'tx type=rc nth=9 count=all delay=10s'
	rule srv0 'rx type=rc count=all delay=10s'
	start_traffic 18600 -u 20
	wait_until 20 holds cli0
	wait_until 20 holds srv0
	del_link cli0
	holds srv0 || fail 'the server holds nothing any more'
	on_srv ip link delete veth-srv
	stop_traffic "$srv_pid" "$cli_pid"
}
