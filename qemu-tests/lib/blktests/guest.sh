#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# In a guest: run the tests of blktests that build/blktests/$DEV.plan names, one "SECONDS TEST"
# a line. Reports "# begin: TEST SECONDS" and, for each variant of a test,
#
#   # result: TEST	VERDICT	SECONDS	REASON
#
# with tabs, then "# done: TEST", once the device is unloaded; other lines are details.
# The guest ends after a test that does not pass, since it may leave things behind.
#
# The only netdev beside lo is eth0, one end of a veth pair.

own=/ornic/qemu-tests/lib/blktests
results=/tmp/results
PATH=$own:$PATH
case $DEV in
rxe) module=rdma_rxe ;;
siw) module=siw ;;
ornic) module=ornic_soft ;;
esac

splats='BUG:|BUG at|WARNING:|Call Trace:|refcount_t:|Oops|general protection'
splats+='|blocked for more than|soft lockup|detected stall'
splats+='|unregister_netdevice: waiting|leaked reference'

# few_modules: leave only those of modules.dep, of all of the host, in which blktests
# searches over and over; and siw where it looks for it
few_modules()
{
	cd "/lib/modules/$(/usr/bin/uname -r)" || return
	mkdir /tmp/modules
	sed -n 's/^\(kernel[^:]*\):.*/\1/p' modules.dep |
		xargs cp --parents -t /tmp/modules
	find updates -name siw.ko -exec cp {} /tmp/modules/kernel/ \;
	mount --bind /tmp/modules/kernel kernel
}

set_up()
{
	ip netns add wire
	ip link add eth0 type veth peer name eth1 netns wire
	ip -n wire link set eth1 up
	ip addr add 10.0.0.1/24 dev eth0
	ip link set eth0 up
	modprobe -a configfs loop ib_umad ib_uverbs rdma_ucm
	mountpoint -q /sys/kernel/config ||
		mount -t configfs configfs /sys/kernel/config
	few_modules
	# As uname of blktests names the kernel.
	ln -s "$(/usr/bin/uname -r)" "/lib/modules/$(uname -r)"
	cp "/boot/config-$(/usr/bin/uname -r)" "/boot/config-$(uname -r)"
	! modinfo -n nvmet | grep -q updates/ ||
		echo CONFIG_NVME_TARGET_DEBUGFS=y >>"/boot/config-$(uname -r)"
	# Some tests filter the messages that bash has, not dash.
	ln -sf bash /bin/sh
	/lib/systemd/systemd-udevd --daemon
	udevadm trigger --action=add && udevadm settle
	cp -r /ornic/build/blktests/tree /tmp/blktests
	cd /tmp/blktests || exit
}

since_begin() { dmesg | sed -n "\\|ornic-test: $1\$|,\$p" | tail -n +2; }

# unload: remove the links that the test has left, and its module
unload()
{
	local deadline=$((SECONDS + 30 * SCALE)) dev

	while :; do
		for dev in /sys/class/infiniband/*; do
			[ ! -e "$dev" ] || timeout -s KILL 20 /usr/bin/rdma link delete "${dev##*/}"
		done
		timeout -s KILL 20 rmmod "$module"
		[ -e "/sys/module/$module" ] || return 0
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 1
	done >/dev/null 2>&1
}

# field FILE KEY: of a result of blktests
field() { sed -n "s/^$2\t//p" "$1"; }

# reason_of FILE: why this variant has not passed, or how often what it tried succeeded
reason_of()
{
	case $(field "$1" status) in
	pass) sed -n '/ratio\t/p' "$1" ;;
	'not run')
		sed -n '/\[not run\]/,$s/^    //p' /tmp/out | grep -v '^runtime' | head -n 1 ;;
	*)
		echo "$(field "$1" reason): $(diff "tests/$test.out" "$1.out.bad" 2>&1 |
			sed -n 's/^> //p' | head -n 1)" ;;
	esac | tr '\t' ' '
}

# show_late SECONDS: after that time, show running processes and their wait channels
show_late()
{
	sleep "$1"
	ps -N -p 2 --ppid 2 -o pid,ppid,stat,wchan:24,args
}

# details: what the test has printed, and the kernel since it began
details()
{
	local file

	cat /tmp/out
	for file in "$results"/*/"$test"*.{out,out.bad,full}; do
		[ ! -e "$file" ] || tail -n 60 "$file" | sed "s|^|${file##*.}: |"
	done
	since_begin "$test" | tail -n 100
	ps -eo pid,stat,wchan:24,args | awk '$2 ~ /^D/'
}

# variants_of TEST: print the files with its results, one for each variant
variants_of() { find $results -path "*/$1" -type f | sort; }

result()
{
	printf '# result: %s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"
	[ "$2" = pass ] || [ "$2" = 'not run' ] || failed=1
}

# judge SECONDS: report the variants of $test, the kernel's complaints included
judge()
{
	local file verdict splat reason

	splat=$(since_begin "$test" | grep -E "$splats" | head -n 1)
	if [ -z "$(variants_of "$test")" ]; then
		# What its group needs is missing.
		reason=$(sed -n '/\[not run\]/,$s/^    //p' /tmp/out | head -n 1)
		verdict=${reason:+not run}
		result "$test" "${verdict:-fail}" "$1" "${reason:-no result}"
	fi
	while read -r file; do
		verdict=$(field "$file" status)
		if [ "$verdict" = pass ] && [ -n "$splat" ]; then
			result "$test" fail "$1" "kernel: $splat"
			continue
		fi
		result "$test" "$verdict" "$(field "$file" runtime | tr -d s)" \
			"$(reason_of "$file")"
	done < <(variants_of "$test")
}

# run_test SECONDS TEST
run_test()
{
	local limit=$1 test=$2 status=0 unloaded=0 begin=$SECONDS watch

	echo "# begin: $test $limit"
	echo "ornic-test: $test" >/dev/kmsg
	rm -rf $results
	show_late $((limit - 10)) &
	watch=$!
	DEV=$DEV timeout -s KILL "$limit" unshare -fpm --mount-proc --kill-child \
		./check -c "$own/config" -o $results "$test" </dev/null >/tmp/out 2>&1 ||
		status=$?
	kill $watch 2>/dev/null
	unload || unloaded=1
	if [ "$status" = 137 ]; then
		result "$test" timeout "$limit" "after $limit s"
	else
		judge $((SECONDS - begin))
	fi
	[ "$unloaded" = 0 ] ||
		result "$test" fail $((SECONDS - begin)) "$module cannot be unloaded"
	echo "# done: $test"
	[ "$failed" = 0 ] || details
}

failed=0
set_up >/tmp/set_up.out 2>&1 || cat /tmp/set_up.out
while read -r seconds name; do
	run_test "$seconds" "$name"
	[ "$failed" = 0 ] || break
done <"/ornic/build/blktests/$DEV.plan"
echo '# end'
