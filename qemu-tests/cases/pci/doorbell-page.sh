# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will look at the doorbell page that a program maps: x86 must not
# track a memory type for it (VM_PAT, the flag "ar"), which munmap() and a
# device that goes would both give back.

machines=nic
limit=60

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires() { need_ornic; }

# page_flags: of what watch_events has mapped, which creates no queues
page_flags() { sed -n '/uverbs/,/^VmFlags/s/^VmFlags: //p' "/proc/$watch_pid/smaps"; }

run()
{
	local flags

	topology nic
	watch_events
	flags=$(page_flags)
	kill -9 "$watch_pid"
	wait "$watch_pid" || :
	echo "$flags"
	[[ " $flags " = *' pf '* ]] || fail 'no page is mapped'
	[[ " $flags " != *' ar '* ]] || fail 'its memory type is tracked'
}
