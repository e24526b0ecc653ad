# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will use memory on demand whose pages are unmapped, moved, copied, merged, swapped
# and filled by userfaultfd, by the PCI NIC: no byte comes from or goes to a page that was gone.
# The NIC dies meanwhile: what takes pages away does not wait for it, and the NIC works again.
# Then it will remove the NIC while the driver waits for a page that never comes. Of pages that
# the NIC does not have nothing is asked.

machines=nic
append=dma_debug=off # see local-attack.sh
limit=240
full_limit=1400

# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh
# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_odp
	need_fuse
}

faults_of_qps() { [ "$(stat "$cli_dev" page_faults)" -gt "$1" ]; }

# No process of the case waits for the NIC to give pages back. Only stacks of tasks that wait
# are read: those of others change meanwhile, which KASAN may take for a bug.
nobody_waits()
{
	local tasks state pid task

	tasks=$(ps -eLo state=,pid=,lwp=) || return
	while read -r state pid task; do
		[ "$state" != D ] ||
			! grep -qs ornic_pci_cmd "/proc/$pid/task/$task/stack" || return 1
	done <<<"$tasks"
}

# Its requests do not complete any more.
dies_meanwhile()
{
	local program

	ornic_odp_chaos "$cli_dev:$cli_gid" "$srv_dev:$srv_gid" 200 >chaos.out 2>&1 &
	program=$!
	wait_until 30 faults_of_qps $(($(stat "$cli_dev" page_faults) + 100))
	! ended "$program" || fail "chaos has ended: $(<chaos.out)"
	host kill-worker 0
	sleep 2
	[ -e /proc/self/stack ] || fail 'the kernel shows no stacks'
	wait_until 20 nobody_waits
	# On a loaded host it may have given up by now.
	kill -9 "$program" || :
	wait_until 20 ended "$program"
	wait "$program" || :
	wait_until 60 works_again nic
}

# The program takes away 992 pages of each MR.
others_go()
{
	local before asked

	before=$(nic_stat 0 commands)
	verify odp_others_go
	asked=$(($(nic_stat 0 commands) - before))
	echo "$asked commands"
	[ "$asked" -lt 250 ] || fail 'the NIC was asked about pages of others'
}

goes_meanwhile()
{
	start_hang "$cli_dev"
	unbind_nic
	end_hang
	bind_nic
	wait_until 30 works_again nic
}

with_chaos()
{
	local seconds=5

	[ "$KERNEL" != debug ] || seconds=15
	[ "$FULL" != 1 ] || seconds=600
	trap chaos_off EXIT
	chaos_on
	chaos "$seconds"
	wait_until 5 no_objects "$srv_dev"
	dies_meanwhile
	chaos "$seconds"
}

run()
{
	topology nic
	others_go
	# First, while lockdep works: after a fork and a removal it has reported a cycle of
	# ib_uverbs (lib/agent.sh), and ends.
	if (need_chaos); then
		with_chaos
	else
		# The kernel lacks what takes pages away
		verify odp_memory_changes odp_goes_in_use odp_parts_go
	fi
	goes_meanwhile
}
