# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will transfer data as a user without capabilities, from memory below
# RLIMIT_MEMLOCK, and register more than it allows: this fails with ENOMEM, and pages
# pinned before the failure are unpinned. Memory on demand may be larger than the limit,
# but not what the kernel needs for it.

# shellcheck source=/dev/null
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh

requires() { need_ornic; need setpriv strace; }

# limit_to KIB: set $limited, which runs a command with this limit
limit_to() { limited=(prlimit "--memlock=$(($1 * 1024))" "${as_nobody[@]}"); }

# beyond KIB SIZE [OPTION...]: ibv_rc_pingpong fails with this limit and buffer size
beyond()
{
	limit_to "$1"
	refused "Couldn't register MR" timeout $((20 * SCALE)) \
		strace -f --seccomp-bpf -o calls -e trace=ioctl "${limited[@]}" \
		ibv_rc_pingpong -d "$srv_dev" -g "$srv_gid" -s "${@:2}"
	grep -q ENOMEM calls || fail 'the errno is not ENOMEM'
}

# below KIB SIZE [OPTION...]: two of them transfer data
below()
{
	limit_to "$1"
	srv_prefix=("${limited[@]}") cli_prefix=("${limited[@]}")
	pingpong ibv_rc_pingpong -n 20 -s "${@:2}"
}

run()
{
	local limited before

	topology loop
	before=$(users "$srv_dev")
	beyond 256 1000000
	below 4096 1000000
	if has_odp; then
		below 256 4000000 -o
		beyond 64 20000000 -o
	fi
	same_users "$srv_dev" "$before" || fail 'objects are left'
}
