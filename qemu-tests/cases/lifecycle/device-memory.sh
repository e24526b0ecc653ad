# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will delete the link while a program has all device memory mapped: the
# program still reads what it has written, and the next link has all of its memory.

limit=60

requires()
{
	need_ornic
	need_pyverbs
}

# owner NAME: fill the device memory of $srv_dev, create NAME.has, and compare it when
# there is NAME.ends
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
		data = name.encode() * (size // len(name))
		memory.copy_to_dm(0, data, len(data) // 4 * 4)
		open(name + ".has", "w").close()
		while not os.path.exists(name + ".ends"):
		    time.sleep(0.01)
		same = memory.copy_from_dm(0, len(data) // 4 * 4)
		# What is left is the kernel's to clean up.
		os._exit(same != data[:len(same)])
	END
}

run()
{
	local first second

	topology loop
	owner first &
	first=$!
	wait_until 20 test -e first.has
	del_link "$srv_dev"
	add_link "$srv_dev" veth-srv
	owner second &
	second=$!
	wait_until 20 test -e second.has
	touch first.ends
	wait "$first" || fail 'the memory of the link that is gone has changed'
	touch second.ends
	wait "$second" || fail 'the memory of the new link has changed'
	wait_until 10 no_objects "$srv_dev"
}
