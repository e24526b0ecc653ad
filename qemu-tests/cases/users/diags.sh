# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will ask programs of infiniband-diags what the device is: those that need no
# MADs of QP 0, which RoCE does not have.

variants='veth nic machines=nic'
kernels='stock'

requires() { need ibstat ibstatus; }

# says TEXT COMMAND...: the command prints TEXT
says()
{
	"${@:2}" >out || fail "status $?: ${*:2}"
	grep -q "$1" out || { cat out; fail "not in the output of ${*:2}: $1"; }
}

run()
{
	modprobe ib_umad
	topology "$VARIANT"
	says "^$cli_dev\$" ibstat -l
	says 'State: Active' ibstat "$cli_dev"
	says 'Link layer: Ethernet' ibstat "$cli_dev" 1
	says '4: ACTIVE' ibstatus "$cli_dev"
	says 'phys state:.*LinkUp' ibstatus "$cli_dev:1"
}
