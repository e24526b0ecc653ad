#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build modules that Debian's kernel lacks, from linux-source-6.12 for the kernel whose
# headers are in KDIR, once, in the cache, and print their paths.
#
#   modules.sh siw KDIR      iWARP over TCP
#   modules.sh block KDIR    RTRS and RNBD; the NVMe target with its files in debugfs
set -eu

name=$1
kdir=$2
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
dir=$cache/$name-$key
new=$dir.new

case $name in
siw)
	folders=(drivers/infiniband/sw/siw)
	headers=()
	options=(CONFIG_RDMA_SIW=m) ;;
block)
	rtrs=drivers/infiniband/ulp/rtrs
	folders=("$rtrs" drivers/block/rnbd drivers/nvme/target)
	headers=(drivers/nvme/host)
	options=(CONFIG_INFINIBAND_RTRS=m CONFIG_INFINIBAND_RTRS_CLIENT=m
		CONFIG_INFINIBAND_RTRS_SERVER=m CONFIG_BLK_DEV_RNBD_CLIENT=m
		CONFIG_BLK_DEV_RNBD_SERVER=m CONFIG_NVME_TARGET_DEBUGFS=y
		"KCFLAGS=-DCONFIG_NVME_TARGET_DEBUGFS -I$new/$rtrs") ;;
*)
	echo "modules.sh: no $name" >&2
	exit 2 ;;
esac

build()
{
	local folder patterns=()

	rm -rf "$dir" "$new"
	mkdir "$new"
	for folder in "${folders[@]}" "${headers[@]}"; do
		patterns+=("*/$folder/*")
	done
	tar -xJf "$source" -C "$new" --strip-components=1 --wildcards "${patterns[@]}"
	printf 'obj-m += %s/\n' "${folders[@]}" >"$new/Kbuild"
	make -s -C "$kdir" M="$new" "${options[@]}" modules &&
		touch "$new/done" && mv "$new" "$dir"
}

if [ ! -e "$dir/done" ]; then
	mkdir -p "$cache"
	exec 9>"$dir.lock"
	flock 9
fi
if [ ! -e "$dir/done" ]; then
	echo "$name: building in $dir" >&2
	(build) >"$dir.log" 2>&1 </dev/null || {
		tail -n 20 "$dir.log" >&2
		exit 1
	}
fi
find "$dir" -name '*.ko' | sort
