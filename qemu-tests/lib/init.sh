#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# /init of the initramfs: mount an overlay of the host's root and switch to it.
#
#   host   the host's /, read-only over 9p        (lowest layer)
#   stage  our modules and provider, over 9p      (middle layer)
#   tmpfs  what the guest writes                  (top layer)
#   tree   the repository, read-only, at /ornic
set -e
/bin/busybox --install -s /bin
export PATH=/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
while read -r module; do
	insmod "/modules/$module"
done </modules/order

p9=trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro
mkdir -p /host /stage /rw /new
mount -t 9p -o "$p9" host /host
mount -t 9p -o "$p9" stage /stage
mount -t tmpfs rw /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/stage:/host,upperdir=/rw/upper,workdir=/rw/work \
	root /new

mkdir -p /new/ornic
mount -t 9p -o "$p9" tree /new/ornic
for dir in tmp run; do
	mount -t tmpfs tmpfs "/new/$dir"
done
mkdir -p /new/run/ornic
cp /manifest /new/run/ornic/
for dir in proc sys dev; do
	mount -o move "/$dir" "/new/$dir"
done
exec switch_root /new /bin/bash /ornic/qemu-tests/lib/agent.sh
