# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will register more memory than RLIMIT_MEMLOCK allows: this fails with
# ENOMEM, and pages pinned before the failure are unpinned. Memory on demand may be larger
# than the limit, but not what the kernel needs for it.

# shellcheck source=/dev/null
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh

requires() { need_ornic; need setpriv strace; }

# limited KIB SIZE [OPTION...]: run ibv_rc_pingpong with this limit and buffer size,
# unprivileged
limited()
{
	setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock \
		prlimit --memlock=$(($1 * 1024)) strace -f --seccomp-bpf -o calls -e trace=ioctl \
		ibv_rc_pingpong -d "$srv_dev" -g "$srv_gid" -s "$2" "${@:3}" 10.0.0.9
}

# not_refused KIB SIZE [OPTION...]: the same comes as far as its peer, which there is not
not_refused()
{
	refused "Couldn't connect\|No route\|Couldn't read" \
		timeout $((20 * SCALE)) bash -c "$(declare -f limited); srv_dev=$srv_dev \
		srv_gid=$srv_gid; limited $*"
}

run()
{
	local before

	topology loop
	before=$(users "$srv_dev")
	refused "Couldn't register MR" limited 256 1000000
	grep -q ENOMEM calls || fail 'the errno is not ENOMEM'
	not_refused 4096 1000
	if has_odp; then
		not_refused 256 4000000 -o
		refused "Couldn't register MR" limited 64 20000000 -o
		grep -q ENOMEM calls || fail 'the errno is not ENOMEM'
	fi
	same_users "$srv_dev" "$before" || fail 'objects are left'
}
