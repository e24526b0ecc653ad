# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Who may include whom: prints each #include that its file may not have.
#
#   uapi                  the C library's or the kernel's basics, and itself
#   driver/engine         itself and uapi; env*.h alone knows where it runs, and
#                         build_datapath.c alone has other sources in it
#   driver, driver/pci    themselves, uapi, kernel headers; never the engine
#   driver/soft           both sides
#   userspace-provider    itself, uapi, <infiniband/verbs.h>; not the driver
#   kunit                 driver_* the driver, all others uapi and the engine
#   qemu-tests/nic        of the engine engine.h; nothing of the driver
#   qemu-tests/programs   themselves and <infiniband/verbs.h>: plain verbs; what
#                         is common to them are some headers of verify;
#                         the ioctls of a module for tests are its header's;
#                         kfuzz also uapi, as what it damages is ours,
#                         comp_cntr, as it is in the provider's place, and
#                         verify/dm_export, whose verb libibverbs may lack
#   qemu-tests/bench      kernel headers, the C library's or plain verbs: nothing
#                         of ours

function allowed(file, what, quoted)
{
	if (file ~ /^uapi\//)
		return !quoted && what ~ /^(linux\/(types|stddef|build_bug)|assert|stddef|rdma\/ornic-[a-z-]+)\.h$/
	if (file ~ /^driver\/engine\/env[a-z_]*\.h$/)
		return !quoted || what ~ /^env[a-z_]*\.h$/
	if (file ~ /^driver\/engine\/build_datapath\.c$/)
		return quoted && what ~ /^[a-z0-9_]+\.c$/
	if (file ~ /^driver\/engine\//)
		return quoted ? beside(file, what) : what ~ /^rdma\/ornic-/
	if (file ~ /^driver\/soft\//)
		return !quoted || what ~ /^(engine\/engine|soft[a-z_]*|ornic_bus|compat\/compat_[a-z]+)\.h$/
	if (file ~ /^driver\//)
		return quoted ? what ~ /^((pci|compat)\/)?(ornic|pci|compat)_[a-z_]+\.h$/ : what !~ /^(engine|soft)/
	if (file ~ /^userspace-provider\//)
		return quoted ? what !~ /\// : what !~ /^infiniband\/driver/ && what !~ /^(kunit|engine)\//
	if (file ~ /^kunit\/driver_/)
		return !quoted || what ~ /^(pci\/pci|ornic)_[a-z_]+\.h$/
	if (file ~ /^kunit\//)
		return !quoted ? what !~ /^ornic_/ : what !~ /^(ornic_|soft|\.\.)/
	if (file ~ /^qemu-tests\/programs\/(kfuzz\/|comp_cntr\/|verify\/dm_export)/ && what ~ /^rdma\/ornic-/)
		return 1
	if (file ~ /^qemu-tests\/programs\//)
		return quoted ? what !~ /\// || what ~ /^\.\.\/verify\/(verbs|live_memory|hung_file|ktap|dma_buffer|drm)\.h$|^\.\.\/kfuzz\/nldev\.h$/ : what !~ /^rdma\/ornic|^infiniband\/driver/
	if (file ~ /^qemu-tests\/bench\//)
		return !quoted && what !~ /^rdma\/|^infiniband\/driver/
	if (file ~ /^qemu-tests\/nic\//)
		return what ~ /^engine\// ? what == "engine/engine.h" : what !~ /^(ornic_|soft)/
	return 0
}

# A header of the same folder.
function beside(file, what)
{
	return what ~ /^[a-z0-9_]+\.h$/ && what !~ /^(ornic|soft)_/
}

/^[ \t]*#[ \t]*include/ {
	quoted = $0 ~ /"/
	what = $0
	sub(/^[^"<]*["<]/, "", what)
	sub(/[">].*/, "", what)
	if (!allowed(FILENAME, what, quoted))
		print FILENAME ":" FNR ": may not include " what
}
