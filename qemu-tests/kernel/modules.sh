#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build modules that Debian's kernel lacks, from linux-source-6.12 for the kernel whose
# headers are in KDIR, once, in the cache, and print their paths.
#
#   modules.sh siw KDIR      iWARP over TCP
#   modules.sh rnbd KDIR     RTRS and RNBD
#   modules.sh block KDIR    the same, and the NVMe target with its files in debugfs
#   modules.sh smb KDIR      cifs and ksmbd with SMB Direct
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

# The kernel's configuration lacks what -D defines.
rtrs=drivers/infiniband/ulp/rtrs
headers=()
rnbd_options=(CONFIG_INFINIBAND_RTRS=m CONFIG_INFINIBAND_RTRS_CLIENT=m
	CONFIG_INFINIBAND_RTRS_SERVER=m CONFIG_BLK_DEV_RNBD_CLIENT=m
	CONFIG_BLK_DEV_RNBD_SERVER=m)
case $name in
siw)
	folders=(drivers/infiniband/sw/siw)
	options=(CONFIG_RDMA_SIW=m) ;;
rnbd)
	folders=("$rtrs" drivers/block/rnbd)
	options=("${rnbd_options[@]}" "KCFLAGS=-I$new/$rtrs") ;;
block)
	folders=("$rtrs" drivers/block/rnbd drivers/nvme/target)
	headers=(drivers/nvme/host)
	options=("${rnbd_options[@]}" CONFIG_NVME_TARGET_DEBUGFS=y
		"KCFLAGS=-DCONFIG_NVME_TARGET_DEBUGFS -I$new/$rtrs") ;;
smb)
	folders=(fs/smb/common fs/smb/client fs/smb/server)
	headers=(fs/nls scripts/asn1_compiler.c include/linux/asn1.h
		include/linux/asn1_ber_bytecode.h)
	options=(CONFIG_CIFS_SMB_DIRECT=y CONFIG_SMB_SERVER_SMBDIRECT=y
		"KCFLAGS=-DCONFIG_CIFS_SMB_DIRECT -DCONFIG_SMB_SERVER_SMBDIRECT") ;;
*)
	echo "modules.sh: no $name" >&2
	exit 2 ;;
esac

# compile_grammars: Debian's headers lack the compiler of ASN.1. It is built with headers of
# the source, which are then removed, since modules are built with Debian's.
compile_grammars()
{
	local grammar

	${HOSTCC:-gcc} -O1 -I "$new/include" -o "$new/asn1_compiler" \
		"$new/scripts/asn1_compiler.c" && rm -r "$new/include" || return
	for grammar in "$new"/fs/smb/*/*.asn1; do
		"$new/asn1_compiler" "$grammar" "$grammar.c" "$grammar.h" || return
	done
}

build()
{
	rm -rf "$dir" "$new"
	mkdir "$new" &&
		tar -xJf "$source" -C "$new" --strip-components=1 --wildcards \
			"${folders[@]/#/*/}" "${headers[@]/#/*/}" &&
		printf 'obj-m += %s/\n' "${folders[@]}" >"$new/Kbuild" || return
	[ "$name" != smb ] || compile_grammars || return
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
