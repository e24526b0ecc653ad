# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the blocks of Documentation/containers.rst that make two hosts of two
# network namespaces in exclusive mode: neither sees the other's device, a user without
# capabilities transfers data below limits of locked memory and RDMA objects, gets the errno
# of each limit beyond it, and is charged for nothing afterwards.

limit=180
page=/ornic/Documentation/containers.rst

# shellcheck source=/dev/null
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/exclusive.sh
. /ornic/qemu-tests/lib/exclusive.sh

requires()
{
	need_ornic
	need ibv_rc_pingpong prlimit rping setpriv ss strace
	need_modules rdma_ucm
	grep -qw rdma /sys/fs/cgroup/cgroup.controllers || skip 'no rdma cgroup'
}

# step NAME: run the block two-hosts-NAME of the page in this shell
step()
{
	echo "block $1"
	awk -v name="   :name: two-hosts-$1" '
		within && /^[^ ]/ { exit }
		within
		$0 == name { within = 1 }' "$page" >"block-$1"
	[ -s "block-$1" ] || fail "the page has no block two-hosts-$1"
	# shellcheck source=/dev/null
	. "./block-$1"
}

# seen_by HOST DEVICE NODE OTHER-NODE: it sees this device only, and opens its node only
seen_by()
{
	local inside=(ip netns exec "$1")

	wait_until 5 seen "$2:" "${inside[@]}"
	"${inside[@]}" sh -c ": <>$3" || fail "$1 cannot open $3"
	refused 'Operation not permitted' "${inside[@]}" sh -c ": <>$4"
}

# node_of DEVICE
node_of()
{
	local attribute

	attribute=$(grep -lx "$1" /sys/class/infiniband_verbs/*/ibdev)
	attribute=${attribute%/ibdev}
	echo "/dev/infiniband/${attribute##*/}"
}

# refused_with ERRNO MESSAGE NAME: that block ends so, and at once
refused_with()
{
	refused "$2" ends_within 20 step "$3"
	grep -q "= -1 $1 " refused.out || fail "the errno is not $1"
}

not_charged() { ! grep 'hca_[a-z]*=[1-9]' /sys/fs/cgroup/host?/rdma.current; }

# What a failed run leaves: also programs in the namespaces
remove()
{
	kill -KILL -1 2>/dev/null || :
	tidy
	rmdir /sys/fs/cgroup/host? 2>/dev/null || :
}

# A user with no capability, whose limit is 8 MiB
unprivileged()
{
	local status

	status=$(on host1 cat /proc/self/status /proc/self/limits /proc/self/cgroup)
	grep -qE '^Uid:(\s+65534){4}$' <<<"$status" || fail 'another user'
	! grep -E '^Cap[A-Z].*:.*[1-9a-f]' <<<"$status" || fail 'a capability is left'
	grep -qE '^Max locked memory +8388608 +8388608 ' <<<"$status" || fail 'another limit'
	grep -qx '0::/host1' <<<"$status" || fail 'another cgroup'
}

run()
{
	local own other

	# It waits for namespaces of a case before, which may still be ending.
	exclusive
	trap 'cat use.out refused.out 2>/dev/null || :; remove' EXIT
	step make
	seen '' || fail 'seen outside'
	own=$(node_of ornic1) other=$(node_of ornic2)
	seen_by host1 ornic1 "$own" "$other"
	seen_by host2 ornic2 "$other" "$own"
	wait_until 5 index_of ornic1 192.0.2.1 ip netns exec host1
	wait_until 5 index_of ornic2 192.0.2.2 ip netns exec host2
	refused "IB device 'ornic1' wasn't found" step see
	grep -q 'GID\[  1\].*192.0.2.1, RoCE v2' refused.out || fail 'the GID index is not 1'

	step limit
	unprivileged
	step use >use.out
	grep -q '^ornic1 hca_handle=1 hca_object=4 ' use.out || fail 'the objects are not charged'
	[ "$(grep -c '^1000 iters' use.out)" = 2 ] || fail 'not all messages'
	wait_until 5 not_charged

	refused_with ENOMEM "Couldn't register MR" memory
	refused_with EAGAIN "Couldn't create CQ" objects
	# See cgroup.sh.
	[ "$KERNEL" = debug ] || refused_with EAGAIN "Couldn't get context" handles
	wait_until 5 not_charged
	step remove
	wait_until 20 seen ''
}
