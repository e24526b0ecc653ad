# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with UCX, libfabric and Open MPI. They run with defaults, except
# for the device of UCX and MPI. Two ends in one guest get separate IPC namespaces, or
# they would use shared memory.

need_apps()
{
	need ucx_perftest fi_pingpong mpirun
	command -v ornic_mpi >/dev/null ||
		skip 'ornic_mpi is not built: libopenmpi-dev'
}

# Option for the address family
six() { [ "$family" != 6 ] || echo -6; }

# ucx TEST [OPTIONS]: with the transports that UCX chooses
ucx()
{
	local port=13337 options

	options="-p 13337 $(six) -w 20 -t $*"
	echo "ucx_perftest -t $*"
	run_pair 40 "env UCX_NET_DEVICES=$srv_dev:1 unshare -i ucx_perftest $options" \
		"env UCX_NET_DEVICES=$cli_dev:1 unshare -i ucx_perftest $srv_ip $options"
	check_ucx_output
}

# uct TRANSPORT TEST [OPTIONS]: with one transport
uct()
{
	local port=13337 options

	options="-p 13337 $(six) -w 20 -x $1 -t ${*:2}"
	echo "ucx_perftest -x $1 -t ${*:2}"
	run_pair 40 "ucx_perftest -d $srv_dev:1 $options" \
		"ucx_perftest -d $cli_dev:1 $srv_ip $options"
	check_ucx_output
}

# UCX may continue after errors that it logs.
check_ucx_output()
{
	! grep -E 'ERROR|WARN' srv.out cli.out || fail 'UCX logged errors'
	grep -q '^Final' cli.out || fail 'no result'
}

# ucx_programs COUNT: each operation, with both transports and those that UCX chooses
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

# fabric PROVIDER TYPE SIZE...: pingpong with checked data. Each side selects its device,
# since devices of other namespaces are visible. The server of ofi_rxm may wait forever:
# when the peer disconnects, it destroys the QP with the last message if that is not
# polled yet (libfabric 1.17, 1 of 40 runs).
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

# mpi RANKS: on the device of the server; fails if ornic is asked to send nothing
mpi()
{
	local before=0 limit=$((100 * SCALE))

	echo "ornic_mpi with $1 ranks"
	[ "$DEV" != ornic ] || before=$(stat "$srv_dev" send_wqes)
	"${srv_prefix[@]}" timeout -s KILL "$limit" mpirun --allow-run-as-root \
		--oversubscribe --mca pml ucx -x "UCX_NET_DEVICES=$srv_dev:1" \
		-n "$1" unshare -i -p -f ornic_mpi 1 \
		>mpi.out 2>&1 || { tail -n 40 mpi.out; fail "$1 ranks"; }
	grep "^$1 ranks, [1-9][0-9]* words checked" mpi.out || fail 'no result'
	! grep -E 'ERROR|WARN' mpi.out || fail 'UCX logged errors'
	[ "$DEV" != ornic ] || [ $(($(stat "$srv_dev" send_wqes) - before)) -gt 100 ] ||
		fail 'MPI did not use the device'
}

# without_ipv4: in topology veth, remove the IPv4 GIDs, which UCX prefers
without_ipv4()
{
	on_srv ip -4 addr flush dev veth-srv
	on_cli ip -4 addr flush dev veth-cli
	family_of_both 6
	reach_server
}
