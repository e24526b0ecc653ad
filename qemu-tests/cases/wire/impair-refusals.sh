# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will write rules that are none, and more than a device takes: they change
# nothing, and the kernel log has the reason. Users without CAP_NET_ADMIN neither read
# nor write rules.

# shellcheck source=qemu-tests/lib/impair.sh
. /ornic/qemu-tests/lib/impair.sh

requires()
{
	need_ornic
	need setpriv
}

without_privileges()
{
	! "${as_nobody[@]}" cat "$file" || fail 'nobody reads rules'
	! "${as_nobody[@]}" bash -c "echo clear >$file" || fail 'nobody writes rules'
	! setpriv --bounding-set=-net_admin cat "$file" || fail 'read without CAP_NET_ADMIN'
	! setpriv --bounding-set=-net_admin bash -c "echo clear >$file" ||
		fail 'written without CAP_NET_ADMIN'
}

wrong_texts()
{
	local text

	for text in 'drop' 'tx' 'tx qpn=0x1000000 drop' 'tx drop rx' 'tx drop=1' \
		'tx delay=11s' "$(printf '%4000s' 'tx drop')" $'tx drop\nrx drop'; do
		# In one write
		echo "$text" >text
		! cat text >"$file" 2>err || fail "accepted: $text"
		grep -q 'Invalid argument' err || fail "$text: $(<err)"
	done
	dmesg | tail -n 20 | grep 'cli0: impair: expected a QPN up to 0xffffff' ||
		fail 'the kernel log has no reason'
}

too_many()
{
	local i

	for ((i = 1; i < 12; i++)); do
		echo 'tx drop' >"$file"
	done
	! (echo 'tx drop' >"$file") 2>err || fail 'rules have no limit'
	[ "$(wc -l <"$file")" = 12 ] || fail 'not 12 rules'
}

run()
{
	local file=$sys/cli0/impair

	topology veth
	rule cli0 'tx drop'
	without_privileges
	wrong_texts
	[ "$(wc -l <"$file")" = 1 ] || fail 'a wrong rule was taken'
	too_many
	echo clear >"$file"
	[ -z "$(<"$file")" ] || fail 'rules are left'
}
