# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will raise more events at a time than an event queue holds, by CQs of one
# vector, so that the hard interrupt defers to its thread while more interrupts are
# raised: each CQ gets its event.

machines=nic
limit=120

requires() { need_ornic; }

run()
{
	topology nic
	ornic_events "$srv_dev" "$srv_gid" 600 "$(times 1000)"
	no_objects ornic0 || fail 'objects are left'
}
