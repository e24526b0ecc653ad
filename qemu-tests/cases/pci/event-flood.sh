# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will complete more sends at a time on CQs of one vector than its
# event queue holds, so that the interrupt leaves events to its thread while more
# interrupts come: each CQ gets its event.

machines=nic
limit=120

requires() { need_ornic; }

run()
{
	topology nic
	/ornic/build/programs/ornic_events "$srv_dev" "$srv_gid" 600 "$(times 1000)"
	no_objects ornic0 || fail 'objects stay'
}
