# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with an attacker. The victims are processes with RC and UD
# traffic that is checked byte by byte, and a server of rdma_cm.

# start_victims: until stop_victims; $cli_dev talks to $srv_dev
start_victims()
{
	modprobe rdma_ucm
	rm -f stop
	STEADY_UNTIL=stop verify steady_send >rc.out 2>&1 &
	victims=("$!")
	STEADY_UNTIL=stop verify steady_datagram >ud.out 2>&1 &
	victims+=("$!")
	"${srv_prefix[@]}" rping -s -P -a "$srv_ip" -p 7175 >cm.out 2>&1 &
	cm_server=$!
	wait_until 20 busy_posting "$cli_dev"
}

# stop_victims: they have noticed nothing
stop_victims()
{
	local victim

	for victim in "${victims[@]}" "$cm_server"; do
		kill -0 "$victim" 2>/dev/null || show_victims 'a victim has died'
	done
	on_cli timeout $((60 * SCALE)) rping -c -V -a "$srv_ip" -p 7175 -C 5 -S 1000 \
		>cm_client.out 2>&1 || show_victims 'rdma_cm does not accept'
	touch stop
	for victim in "${victims[@]}"; do
		wait "$victim" || show_victims 'a victim was disturbed'
	done
	stop_traffic "$cm_server"
	grep -h '^# ' rc.out ud.out
}

show_victims()
{
	tail -n 12 rc.out ud.out cm.out cm_client.out 2>/dev/null
	fail "$*"
}

# find_victims DEVICE: set qps to the QPs of the processes on it, each QPN:PSN with the PSN
# that it expects, or QPN if it expects none
find_victims()
{
	mapfile -t qps < <(rdma res show qp link "$1/1" | sed -n '/ pid /{
		s/.* lqpn \([0-9]*\) .* rq-psn \([0-9]*\) .*/\1:\2/p
		t
		s/.* lqpn \([0-9]*\) .*/\1/p
	}')
	[ ${#qps[@]} -gt 0 ] || fail "no process has a QP on $1"
}

# note_counters DEVICE NAME...: remember their values for counted_more
note_counters()
{
	local name

	declare -gA noted=()
	for name in "${@:2}"; do
		noted[$name]=$(stat "$1" "$name")
	done
}

# counted_more DEVICE: all counters of note_counters have increased
counted_more()
{
	local name more

	for name in "${!noted[@]}"; do
		more=$(($(stat "$1" "$name") - noted[$name]))
		echo "$name: $more"
		[ "$more" -gt 0 ] || fail "the attack does not show in $name"
	done
}

# attack_locally [COMMAND...]: a process without privileges attacks others on $srv_dev;
# COMMAND is one more attack
attack_locally()
{
	local seconds=1 seed=${SEED:-$RANDOM}

	# Where it runs
	chmod 755 .
	[ "$FULL" != 1 ] || seconds=120
	# As for programs of the group kvm
	[ ! -e /dev/udmabuf ] || chmod a+rw /dev/udmabuf
	start_victims
	note_counters "$srv_dev" kicks rx_bad_qkey
	echo "seed $seed"
	"${as_nobody[@]}" \
		ornic_attack_local "$srv_dev" "$srv_gid" \
		"$seconds" "$seed"
	"$@"
	counted_more "$srv_dev"
	read_numbers
	stop_victims
	wait_until 20 no_objects "$srv_dev"
}

# read_numbers: those of the victims by which packets could be injected, and details
# for which the device executes a command
read_numbers()
{
	local shown

	shown=$("${as_nobody[@]}" rdma resource show qp link "$srv_dev/1" -dd)
	grep -c lqpn <<<"$shown" || fail 'nobody sees no QP'
	! grep -E '(rqpn|[sr]q-psn|drv_[a-z_]*psn) [1-9]' <<<"$shown" ||
		fail 'nobody sees the numbers of others'
}

# write_attributes: root in a container, without capabilities, changes none of $srv_dev.
# node_desc is ib_core's.
write_attributes()
{
	local files file value

	mapfile -t files < <(find "/sys/class/infiniband/$srv_dev/" -maxdepth 1 -type f \
		-perm -200 ! -name node_desc)
	for file in "${files[@]}"; do
		# What root with capabilities may write
		value=1
		[ "${file##*/}" != impair ] || value=clear
		! setpriv --bounding-set=-all --inh-caps=-all \
			bash -c "echo $value >$file" 2>/dev/null || fail "written: $file"
	done
	[ ${#files[@]} -gt 0 ] || fail 'no attribute can be written'
}
