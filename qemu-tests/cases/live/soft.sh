# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move memory that its programs write to all the time between the
# soft devices of two guests, on their virtio-net. Of two CPUs one can write while
# the other one sends.

machines=net/net
alone=1
cpus=2
limit=100
full_limit=360
kernels='stock'

requires() { need_ornic; }

run()
{
	topology peer
	live 10000
	at_srv del_link srv0
}
