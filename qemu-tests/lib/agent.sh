#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Process 1 of the guest. Runs the cases of /run/ornic/manifest, each in its own
# process and mount namespace, so that no process of a case outlives it; scans the
# kernel log after each case; reports KTAP on a virtio port. The host detects a guest
# that stops reporting.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8
tests=/ornic/qemu-tests
kmemleak=/sys/kernel/debug/kmemleak

# Patterns of kernel errors
splats='BUG:|BUG at|WARNING:|KASAN|UBSAN|Call Trace:|refcount_t:|Oops'
splats+='|general protection|blocked for more than|soft lockup|hard LOCKUP'
splats+='|detected stall|locking dependency|inconsistent lock state'
splats+='|suspicious RCU|DEBUG_LOCKS_WARN|ODEBUG|DMA-API:.*device driver'
splats+='|unregister_netdevice: waiting|leaked reference|Kernel panic'

report()
{
	printf '%s\n' "$*" >&3
}

mount_kernel_filesystems()
{
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
	mount -t configfs configfs /sys/kernel/config 2>/dev/null
	mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
	ln -sf /proc/self/fd /dev/fd
	ln -sf /proc/self/fd/0 /dev/stdin
	ln -sf /proc/self/fd/1 /dev/stdout
	ln -sf /proc/self/fd/2 /dev/stderr
	ip link set lo up
	ulimit -l unlimited
	hostname guest
}

open_result_port()
{
	local port

	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name")" = org.ornic.result ] || continue
		exec 3>"/dev/${port##*/}"
		return
	done
	echo 'no result port' >&2
	power_off
}

power_off()
{
	exec 3>&-
	sync
	echo b >/proc/sysrq-trigger
	while :; do read -r -t 60 <>/dev/zero || :; done
}

# Remove links and netdevs of the initial namespace; processes and namespaces have
# ended with the case. If one cannot be removed in time, the case fails.
clean_up()
{
	local deadline=$((SECONDS + 20 * SCALE)) left dev
	local roce_v1=/sys/module/ornic_soft/parameters/roce_v1

	[ ! -e "$roce_v1" ] || echo 0 >"$roce_v1"
	while :; do
		left=
		for dev in /sys/class/infiniband/*; do
			[ -e "$dev" ] || continue
			# PCI NICs stay.
			[ ! -e "$dev/device/vendor" ] || continue
			left+=" ${dev##*/}"
			rdma link delete "${dev##*/}"
		done
		for dev in /sys/class/net/*; do
			[[ " $netdevs_at_boot bonding_masters " != *" ${dev##*/} "* ]] || continue
			left+=" ${dev##*/}"
			ip link delete "${dev##*/}"
		done
		# rxe occupies UDP port 4791 of the initial namespace until it is unloaded.
		[ ! -e /sys/module/rdma_rxe ] || rmmod rdma_rxe || left+=' rdma_rxe'
		[ -n "$left" ] || return 0
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "cannot be removed:$left"
			return 1
		fi
		read -r -t 0.1 <>/dev/ptmx || :
	done
} 2>/dev/null

# KCSAN finds races of the rest of the kernel as well: drop these reports.
drop_foreign_races()
{
	awk '/BUG: KCSAN:/ { skip = !/\[ornic/ }
	     !skip
	     /======/ { skip = 0 }'
}

# ib_uverbs takes the mmap_lock and its own disassociation_lock in both orders (6.12:
# a fork of a mapping, and the removal of the device). Nothing of ours is between them:
# drop lockdep's report of that.
drop_uverbs_inversion()
{
	awk '/WARNING: possible circular locking/ { held = ""; hold = 1 }
	     hold {
		held = held $0 "\n"
		if (asked) {
			skip = /uverbs_user_mmap_disassociate|rdma_umap_open/
			if (!skip)
				printf "%s", held
			hold = 0
		}
		asked = /is trying to acquire lock/
		next
	     }
	     !skip
	     /<\/TASK>/ { skip = 0 }
	     END { if (hold) printf "%s", held }'
}

log_since()
{
	dmesg | sed -n "\\|ornic-test: $1\$|,\$p" | tail -n +2 |
		drop_foreign_races | drop_uverbs_inversion
}

judge_log()
{
	local found

	# Nearly always nothing. A process takes up to a second on the debug kernel.
	dmesg | sed -n "\\|ornic-test: $1\$|,\$p" | grep -qE "$splats" || return 0
	found=$(log_since "$1" | grep -E -A 60 "$splats" | head -n 80)
	[ -n "$found" ] || return 0
	if [ -n "$2" ] && ! log_since "$1" | grep -E "$splats" | grep -qvE "$2"; then
		return 0
	fi
	echo "kernel errors:"
	echo "$found"
	return 1
}

# show_late SECONDS: after that time, show running processes and their wait channels
show_late()
{
	# Without kernel threads.
	read -r -t "$1" <>/dev/ptmx ||
		ps -N -p 2 --ppid 2 -o pid,ppid,stat,wchan:24,args |
		sed 's/^/# /' >&3
}

# The counters of modules that are built for coverage, which outlive them. They are
# sums: of several reports of a guest the last one counts, also if the guest is
# killed in a later case.
report_coverage()
{
	local file

	find /sys/kernel/debug/gcov -name '*.gcda' -path '*/coverage/driver/*' |
		while read -r file; do
			report "# gcda: ${file#*/build/coverage/} $(base64 -w 0 "$file")"
		done
} 2>/dev/null

# run_case NUMBER NAME LIMIT FILE VARIANT
run_case()
{
	local number=$1 name=$2 limit=$3 status allow begin=$EPOCHREALTIME
	local took verdict=ok reason='' watch

	report "# case: $name $limit"
	echo "ornic-test: $name" >/dev/kmsg
	export CASE=$tests/cases/$4.sh VARIANT=$5 WORK=/tmp/case
	rm -rf "$WORK"
	mkdir "$WORK"
	allow=$(sed -n "s/^allow_log='\\(.*\\)'$/\\1/p" "$CASE")
	show_late $((limit * 19 / 20)) &
	watch=$!
	timeout -s KILL "$limit" unshare -fpm --mount-proc --kill-child \
		bash "$tests/lib/case.sh" </dev/null 2>&1 |
		sed -u -E 's/^(ok|not ok) /    &/; t; s/^/# /' >&3
	status=${PIPESTATUS[0]}
	kill "$watch" 2>/dev/null
	{
		clean_up || status=left
		judge_log "$name" "$allow" || status=splat
	} > >(sed -u 's/^/# /' >&3) 2>&1
	wait $!
	took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 100000))
	case $status in
	0) ;;
	77) reason=" # SKIP $(cat "$WORK/skip" 2>/dev/null)" ;;
	137) verdict='not ok' reason=" # timeout after $limit s" ;;
	*) verdict='not ok' reason=" # status $status" ;;
	esac
	report "# took: $((took / 10)).$((took % 10))"
	report "$verdict $number $name$reason"
	report_coverage
}

# Unload the modules and scan for leaks.
end_of_group()
{
	local number=$1 module verdict=ok reason=

	report "# case: $GROUP/unload $((60 * SCALE))"
	echo "ornic-test: unload" >/dev/kmsg
	for module in ornic_soft ornic ornic_dmabuf_{ex,im}porter rdma_rxe siw; do
		[ -e "/sys/module/$module" ] || continue
		rmmod "$module" || verdict='not ok' reason=" # $module stays"
	done 2>&1 | sed 's/^/# /' >&3
	for module in ornic_soft ornic ornic_dmabuf_{ex,im}porter; do
		[ ! -e "/sys/module/$module" ] ||
			verdict='not ok' reason=" # $module stays"
	done
	judge_log unload '' 2>&1 | sed 's/^/# /' >&3
	[ "${PIPESTATUS[0]}" = 0 ] || verdict='not ok' reason=' # splat'
	report "$verdict $number $GROUP/unload$reason"
	report_coverage

	[ -e "$kmemleak" ] || return 0
	number=$((number + 1)) verdict=ok
	report "# case: $GROUP/kmemleak $((60 * SCALE))"
	# kmemleak ignores objects younger than five seconds.
	echo scan >"$kmemleak"
	read -r -t 6 <>/dev/ptmx || :
	echo scan >"$kmemleak"
	sed 's/^/# /' "$kmemleak" >&3
	[ -z "$(head -n 1 "$kmemleak")" ] || verdict='not ok'
	report "$verdict $number $GROUP/kmemleak"
}

run_group()
{
	local number=0 name limit file variant

	netdevs_at_boot=$(basename -a /sys/class/net/* | tr '\n' ' ')
	[ ! -e "$kmemleak" ] || echo clear >"$kmemleak"
	report "KTAP version 1"
	while read -r name limit file variant; do
		number=$((number + 1))
		run_case "$number" "$name" "$limit" "$file" "$variant"
	done < <(sed -n 's/^case //p' /run/ornic/manifest)
	end_of_group $((number + 1))
	report "# done"
}

# virtio-net of the topology: eth0 at 10.0.0.$NUMBER.
set_up_network()
{
	[ -n "${NUMBER-}" ] || return 0
	modprobe virtio_net
	[ -e /sys/class/net/eth0 ] || return 0
	ip link set eth0 mtu 4500
	ip addr add "10.0.0.$NUMBER/24" dev eth0
	ip addr add "fd00::$NUMBER/64" dev eth0 nodad
	ip link set eth0 up
}

# Programs of verbs load the providers of all devices, which takes longer than the rest of
# their start. Leave those of devices that guests have; `umount` in a case undoes it there.
few_providers()
{
	mkdir /run/providers
	cp /etc/libibverbs.d/{ornic,rxe,siw}.driver /run/providers 2>/dev/null
	mount --bind /run/providers /etc/libibverbs.d
}

mount_kernel_filesystems
# Lines NAME=VALUE are the environment, lines "case ..." are run_case's arguments.
set -a
eval "$(grep -E '^[A-Z_]+=' /run/ornic/manifest)"
PATH+=:$PROGRAMS
set +a
cd /tmp || exit
set_up_network
case $MODE in
peer)
	hostname "peer$NUMBER"
	few_providers
	/ornic/qemu-tests/lib/peer.py 7777
	;;
shell)
	echo "the tree is at /ornic; leave with exit or ^D"
	setsid -c bash --rcfile <(echo ". $tests/lib/guest.sh; set +eu") -i \
		<>/dev/console >&0 2>&1
	;;
script)
	open_result_port
	bash "/ornic/$SCRIPT" </dev/null >&3 2>&1
	report "# exit $?"
	;;
*)
	open_result_port
	few_providers
	run_group
	;;
esac
power_off
