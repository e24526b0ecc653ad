# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases in which a device ends whose memory a program has mapped.

# owner NAME: take all device memory of $srv_dev, which must be zeroed, fill it with NAME,
# create NAME.has, wait for NAME.ends, and write to NAME.found what is there then: own,
# zero or other
owner()
{
	exec /usr/bin/python3 - "$srv_dev" "$1" <<-'END'
		import os
		import sys
		import time
		from pyverbs.device import AllocDmAttr, Context, DM

		_, device, name = sys.argv
		context = Context(name=device)
		size = context.query_device_ex().max_dm_size
		memory = DM(context, AllocDmAttr(size))
		if memory.copy_from_dm(0, size).count(0) != size:
		    sys.exit(name + ": new memory is not zeroed")
		data = name.encode() * (size // len(name))
		memory.copy_to_dm(0, data, len(data) // 4 * 4)
		open(name + ".has", "w").close()
		while not os.path.exists(name + ".ends"):
		    time.sleep(0.01)
		now = memory.copy_from_dm(0, len(data) // 4 * 4)
		with open(name + ".found", "w") as found:
		    found.write("own" if now == data[:len(now)] else
		                "zero" if now.count(0) == len(now) else "other")
		# What is left is the kernel's to clean up.
		os._exit(0)
	END
}

# take_memory NAME: start owner NAME, and wait until it has the memory; sets $owner_pid
take_memory()
{
	owner "$1" &
	owner_pid=$!
	wait_until 20 has_or_ended "$1"
	[ -e "$1.has" ] || fail "$1 has no device memory, or not all of it is zero"
}

has_or_ended() { [ -e "$1.has" ] || [ ! -e "/proc/$owner_pid/exe" ]; }

# found NAME PID WHAT: end the owner, which must find WHAT
found()
{
	touch "$1.ends"
	wait "$2" || fail "$1 ended"
	[ "$(cat "$1.found")" = "$3" ] || fail "$1 found $(cat "$1.found"), not $3"
}
