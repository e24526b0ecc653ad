# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Run the case in the file $CASE: requires(), then run(). Exit 0 = passed, 77 = skipped.
set -eu
cd "$WORK"
# Named network namespaces die with the mount namespace of the case.
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
# shellcheck source=qemu-tests/lib/guest.sh
. /ornic/qemu-tests/lib/guest.sh
requires() { :; }
# shellcheck disable=SC1090
. "$CASE"
requires
run
