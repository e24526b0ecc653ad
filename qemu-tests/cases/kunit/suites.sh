# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will load every KUnit module of the tree and report its cases. The suite of
# kernel verbs uses the device srv0.

limit=240
kernels='debug arm64-64k'

requires()
{
	[ "$DEV" = ornic ] || skip 'the suites are for ornic'
}

run()
{
	local module name results=/sys/kernel/debug/kunit count=0

	topology loop
	for module in /lib/modules/*/updates/ornic_*_kunit.ko; do
		[ -e "$module" ] || fail 'no suite is built'
		name=$(basename "$module" .ko)
		modprobe "$name" || fail "cannot load $name"
		cat "$results"/*/results | sed 's/^ *\(not ok\|ok\) /\1 /'
		! grep -q 'not ok' "$results"/*/results || fail "$name"
		grep -q '^ *ok ' "$results"/*/results || fail "$name has no case"
		rmmod "$name"
		count=$((count + 1))
	done
	echo "$count modules"
}
