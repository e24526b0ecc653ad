# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mark packets between two soft devices as congested switches do: marked
# requests bring BECN in the responses, marked READ responses and UC packets bring CNPs,
# which tshark dissects. RC and UC packets are ECT, CNPs have their own DSCP. Only root
# changes the parameters.

limit=300
kernels='stock'
sys=/sys/class/infiniband

requires()
{
	need_ornic
	need tcpdump tshark
}

# under DEVICE RULE COMMAND...: run it under that rule
under()
{
	echo clear >"$sys/$1/impair"
	echo "$2" >"$sys/$1/impair"
	"${@:3}"
	echo clear >"$sys/$1/impair"
}

# marked DEVICE RULE PROGRAM [OPTIONS]: dissect its packets under that rule
marked() { under "$1" "$2" captured perftest "${@:3}"; }

# grows DEVICE COUNTER: it has grown since the last call
declare -A seen=()
grows()
{
	local now before=${seen[$1/$2]:-0}

	now=$(stat "$1" "$2")
	seen[$1/$2]=$now
	echo "$1: $2 $((now - before))"
	[ "$now" -gt "$before" ]
}

# Requests: the responder echoes the marks.
writes()
{
	marked cli0 'tx op=request every=4 count=all ce' ib_write_bw -n 200 -s 16384
	grows srv0 np_ecn_marked_roce_packets || fail 'no marks'
	! grows srv0 np_cnp_sent || fail 'CNPs to a peer that takes BECN'
	[ "$(packets 'opcode == 17 && byte4 == 41')" -gt 0 ] || fail 'no BECN in ACKs'
	[ "$(packets 'opcode <= 11 && ecn < 2')" = 0 ] || fail 'requests that are not ECT'
	[ "$(packets 'opcode <= 11 && ecn == 2')" -gt 0 ] || fail 'no ECT(0)'
}

# cnps FROM TO: CNPs were sent, arrived and had their form. The last ones may find that
# their QP is gone.
cnps()
{
	local form='byte4 == 40' missing

	grows "$1" np_cnp_sent || fail 'no CNPs'
	grows "$2" rp_cnp_handled || fail 'no CNP was handled'
	missing=$(($(stat "$1" np_cnp_sent) - $(stat "$2" rp_cnp_handled)))
	((missing >= 0 && missing <= $(stat "$2" rx_no_qp))) || fail "$missing CNPs are lost"
	[ "$(packets "opcode == 129 && $form && dscp == $3 && ecn == 0")" -gt 0 ] ||
		fail "no CNPs of DSCP $3"
	[ "$(packets "opcode == 129 && !($form)")" = 0 ] || fail 'CNPs without BECN'
	[ "$(packets 1)" -ge 100 ] || fail 'nothing was captured'
}

parameters()
{
	local file=$sys/cli0/cc_params text

	grep -qx 'rp_ai_rate 5' $file || fail "$(<$file)"
	echo 'rp_ai_rate 7' >$file
	grep -qx 'rp_ai_rate 7' $file || fail 'rp_ai_rate is not 7'
	echo 'rp_ai_rate 5' >$file
	for text in '' 'rp_ai_rate' 'rp_ai_rate 0' 'rp_ai_rate 400001' 'rp_ai_rate -1' \
		'rp_ai_rate 5 6' 'rp_ai_rat 5' 'np_cnp_dscp 64'; do
		! (echo "$text" >$file) 2>err || fail "accepted: $text"
	done
	! "${as_nobody[@]}" bash -c "echo 'rp_ai_rate 7' >$file" || fail 'nobody writes it'
	! setpriv --bounding-set=-net_admin bash -c "echo 'rp_ai_rate 7' >$file" ||
		fail 'written without CAP_NET_ADMIN'
	grep -qx 'rp_ai_rate 5' $file || fail 'a wrong value was taken'
}

run()
{
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology veth
	parameters
	writes
	marked srv0 'tx op=read-response every=4 count=all ce' ib_read_bw -n 100 -s 16384
	cnps cli0 srv0 48
	echo 'np_cnp_dscp 46' >$sys/srv0/cc_params
	marked cli0 'tx type=uc every=4 count=all ce' ib_write_bw -c UC -n 200 -s 4096
	cnps srv0 cli0 46
	echo 'rp_enable 0' >$sys/cli0/cc_params
	under cli0 'tx type=uc every=4 count=all ce' perftest ib_write_bw -c UC -n 200 -s 4096
	! grows cli0 rp_cnp_handled || fail 'a CNP was handled'
	grows cli0 rp_cnp_ignored || fail 'no CNP was ignored'
}
