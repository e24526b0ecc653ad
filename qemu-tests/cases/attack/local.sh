# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have a process without privileges use the keys, handles and numbers
# of others, guess them, and break its own rings, doorbells, commands and limits,
# until it is killed: victims on the same device notice nothing, and nothing is left.

limit=200
full_limit=1800

requires()
{
	need_ornic
	need setpriv rping
}

run()
{
	# shellcheck source=qemu-tests/lib/attack.sh
	. /ornic/qemu-tests/lib/attack.sh
	topology veth
	attack_locally
}
