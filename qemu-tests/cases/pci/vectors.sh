# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run programs that sleep on each completion vector of the PCI NIC: the
# interrupts of each vector go to one CPU, and those of two vectors to different CPUs.

machines=nic
cpus=4
alone=1
limit=120
kernels='stock'

requires()
{
	need_ornic
	need ib_send_lat
}

# interrupts VECTOR: print its interrupts per CPU
interrupts()
{
	awk -v name="ornic-comp$1@" \
		'index($NF, name) == 1 { print $2, $3, $4, $5 }' /proc/interrupts
}

run()
{
	local vector cpu before after here all=''

	topology nic
	for vector in 0 1 2 3; do
		read -r -a before < <(interrupts "$vector")
		perftest ib_send_lat -e -X "$vector" -n "$(times 1000)"
		read -r -a after < <(interrupts "$vector")
		here=''
		for cpu in 0 1 2 3; do
			# A new affinity takes effect with the first interrupt.
			[ $((after[cpu] - before[cpu])) -lt 2 ] || here+=$cpu
		done
		echo "vector $vector: ${before[*]}, then ${after[*]}"
		[ ${#here} = 1 ] || fail "the interrupts went to the CPUs '$here'"
		all+=$here
	done
	[ "$(fold -w 1 <<<"$all" | sort -u | wc -l)" = 4 ] ||
		fail "the vectors share CPUs: $all"
	perftest ib_send_bw -e -q 4 -n 500
	perftest ib_read_lat -e -X 3 -n 200
}
