#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Debian's kernel has no siw: build its module from linux-source-6.12 for the
# kernel whose headers are in KDIR, once, in the cache, and print its path.
#
#   siw.sh KDIR
set -eu

kdir=$1
source=${ORNIC_KERNEL_SOURCE:-/usr/src/linux-source-6.12.tar.xz}
cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}

[ -r "$source" ] || {
	echo "$source is missing: apt-get install linux-source-6.12" >&2
	exit 1
}
key=$({
	readlink -f "$kdir"
	stat -Lc '%s' "$source"
	dpkg-query -W -f '${Version}\n' linux-source-6.12 2>/dev/null || :
	cat "$0"
} | sha256sum | cut -c 1-16)
dir=$cache/siw-$key

if [ ! -e "$dir/siw.ko" ]; then
	mkdir -p "$cache"
	exec 9>"$dir.lock"
	flock 9
fi
if [ ! -e "$dir/siw.ko" ]; then
	echo "siw: building in $dir" >&2
	rm -rf "$dir" "$dir.new"
	mkdir "$dir.new"
	tar -xJf "$source" -C "$dir.new" --strip-components=5 \
		--wildcards '*/drivers/infiniband/sw/siw/*'
	make -s -C "$kdir" M="$dir.new" CONFIG_RDMA_SIW=m modules \
		>"$dir.log" 2>&1 </dev/null || {
		tail -n 20 "$dir.log" >&2
		exit 1
	}
	mv "$dir.new" "$dir"
fi
echo "$dir/siw.ko"
