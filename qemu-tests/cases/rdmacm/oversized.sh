# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send datagrams that are longer than any posted receive to QP 1 and to
# the UD QPs of rdma_cm, from an unprivileged process of another host: rdma_cm works
# during and after this, and each datagram is counted.

limit=300
kernels='stock'

# The UD QPs of the server, with their well-known Q_Keys
list_qps()
{
	local line

	echo '1 0x80010000'
	rdma res show qp link "$srv_dev/1" | while read -r line; do
		[[ $line =~ lqpn\ ([0-9]+)\ type\ UD ]] || continue
		echo "${BASH_REMATCH[1]} 0x01234567"
	done
}

keep_listing()
{
	while list_qps >qps.new && mv qps.new qps; do
		pause
		pause
	done
}

dropped() { [ "$(stat "$srv_dev" rx_too_long)" -ge "$1" ]; }

all_programs()
{
	rping -C 5 -S 1000
	ucmatose -c 4 -C 20 -S 1000
	udaddy -c 4 -C 20 -S 100
}

# under_attack COMMAND: run it while the sender is active
under_attack()
{
	local sender before

	before=$(stat "$srv_dev" rx_too_long)
	"${cli_prefix[@]}" "${as_nobody[@]}" \
		python3 /ornic/qemu-tests/lib/oversized.py --source "$cli_ip" \
		--to "$srv_ip" --qps qps &
	sender=$!
	wait_until 20 dropped $((before + 1))
	"$@"
	wait_until 60 dropped $((before + $(times 10000)))
	kill "$sender"
	wait "$sender" || :
	[ "$(stat "$srv_dev" rx_icrc_encapsulated)" = 0 ] || fail 'bad ICRCs'
}

run()
{
	local lister

	need_ornic
	need setpriv
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	rdmacm_topology veth
	# The sender runs as an unprivileged user.
	chmod 755 .
	list_qps >qps
	keep_listing &
	lister=$!
	under_attack all_programs
	kill "$lister"
	all_programs
	family_of_both 6
	under_attack rping -C 5 -S 1000
	rping -C 5 -S 1000
	no_objects "$srv_dev" || fail 'objects are left'
}
