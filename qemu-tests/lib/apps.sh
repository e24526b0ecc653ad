# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Programs of UCX, libfabric and Open MPI as Debian has them, with their
# defaults, for cases of the group apps. UCX and MPI are told the device, no more;
# where both ends share a guest they get IPC namespaces of their own, or no packet
# would leave the shared memory.

need_apps()
{
	need ucx_perftest fi_pingpong mpirun
	[ -x /ornic/build/programs/ornic_mpi ] ||
		skip 'ornic_mpi is not built: libopenmpi-dev'
}

# The family of the addresses by which the programs meet
six() { [ "$family" != 6 ] || echo -6; }

# ucx TEST [OPTIONS]: over what UCX takes by itself
ucx()
{
	local port=13337 options

	options="-p 13337 $(six) -w 20 -t $*"
	echo "ucx_perftest -t $*"
	run_pair 40 "env UCX_NET_DEVICES=$srv_dev:1 unshare -i ucx_perftest $options" \
		"env UCX_NET_DEVICES=$cli_dev:1 unshare -i ucx_perftest $srv_ip $options"
	ucx_said_nothing
}

# uct TRANSPORT TEST [OPTIONS]: over one transport
uct()
{
	local port=13337 options

	options="-p 13337 $(six) -w 20 -x $1 -t ${*:2}"
	echo "ucx_perftest -x $1 -t ${*:2}"
	run_pair 40 "ucx_perftest -d $srv_dev:1 $options" \
		"ucx_perftest -d $cli_dev:1 $srv_ip $options"
	ucx_said_nothing
}

# It logs an error, and may go on.
ucx_said_nothing()
{
	! grep -E 'ERROR|WARN' srv.out cli.out || fail 'UCX complains'
	grep -q '^Final' cli.out || fail 'no result'
}

# ucx_programs COUNT: each kind of operation, on both transports and as UCX picks
ucx_programs()
{
	local n=$1 transport

	for transport in rc_verbs ud_verbs; do
		uct $transport am_lat -n "$n"
		uct $transport am_bw -D zcopy -s 4000 -n "$n"
	done
	uct rc_verbs put_bw -D zcopy -s 65536 -n "$n"
	uct rc_verbs get -D zcopy -s 65536 -n "$n"
	uct rc_verbs fadd -n "$n"
	ucx tag_lat -n "$n"
	ucx tag_bw -s 1048576 -n "$((n / 5))"
	ucx ucp_put_bw -s 65536 -n "$n"
	ucx ucp_get -s 65536 -n "$n"
	ucx ucp_fadd -n "$n"
}

# fabric PROVIDER TYPE SIZE...: messages there and back, data checked. Devices of
# other namespaces are seen as well, so each side names its own. ofi_rxm destroys
# the QP when its peer disconnects, and with it the last message if that is not
# polled yet, for which the server then waits (libfabric 1.17, 1 of 40 runs here).
fabric()
{
	local provider=$1 type=$2 port=47592 size options domain='' stays=''

	[ "$type" != dgram ] || domain=-dgram
	[ "$type" != rdm ] || stays=1
	shift 2
	for size; do
		options="$(six) -p $provider -e $type -c -I 20 -S $size"
		echo "fi_pingpong$options"
		run_pair 60 "fi_pingpong $options -d $srv_dev$domain" \
			"fi_pingpong $options -d $cli_dev$domain $srv_ip"
		grep -Eq '^[0-9.]+k?m? +20 +=20 ' cli.out || fail 'no result'
	done
}

fabric_programs()
{
	fabric verbs msg 64 65536
	fabric 'verbs;ofi_rxm' rdm 64 65536
	fabric verbs dgram 64 1024
}

# mpi RANKS: on the server's device, packets counted
mpi()
{
	local before limit=$((100 * SCALE))

	echo "ornic_mpi with $1 ranks"
	before=$(stat "$srv_dev" send_wqes)
	"${srv_prefix[@]}" timeout -s KILL "$limit" mpirun --allow-run-as-root \
		--oversubscribe --mca pml ucx -x "UCX_NET_DEVICES=$srv_dev:1" \
		-n "$1" unshare -i -p -f /ornic/build/programs/ornic_mpi 1 \
		>mpi.out 2>&1 || { tail -n 40 mpi.out; fail "$1 ranks"; }
	grep "^$1 ranks, [1-9][0-9]* words checked" mpi.out || fail 'no result'
	! grep -E 'ERROR|WARN' mpi.out || fail 'UCX complains'
	[ "$(($(stat "$srv_dev" send_wqes) - before))" -gt 100 ] ||
		fail 'MPI took another way'
}

# without_ipv4: UCX prefers IPv4 GIDs, so now there is none; for topology veth
without_ipv4()
{
	on_srv ip -4 addr flush dev veth-srv
	on_cli ip -4 addr flush dev veth-cli
	family_of_both 6
	reach_server
}
