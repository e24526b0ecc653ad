# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check the mapping of the doorbell page in a program: x86 must not
# track its memory type (VM_PAT, the flag "ar"), which munmap() and the removal of the
# device would both release.

machines=nic
limit=60

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_ornic
	# The BAR shares larger pages with others: kicks are system calls then.
	[ "$(getconf PAGESIZE)" = 4096 ] || skip 'pages of more than 4 KiB'
}

# page_flags: print those of the mappings of watch_events, which creates no queues
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
