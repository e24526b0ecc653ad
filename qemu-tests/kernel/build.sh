#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build the debug kernel of debug.config from Debian's linux-source-6.12 and
# print the folder that holds it: bzImage, the build tree for external modules
# (build/) and its own modules (modules/lib/modules/VERSION). The folder is
# named by a hash of everything that goes in, so it is built once.
#
#   build.sh              build if need be, print the folder
#   build.sh --print-dir  print the folder only; fail if it is not built yet
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=${ORNIC_KERNEL_SOURCE:-/usr/src/linux-source-6.12.tar.xz}
cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}
jobs=$(nproc)

die()
{
	echo "debug kernel: $*" >&2
	exit 1
}

[ -r "$source" ] || die "$source is missing: apt-get install linux-source-6.12"
key=$({
	cat "$here/debug.config" "$here/build.sh"
	stat -Lc '%s' "$source"
	dpkg-query -W -f '${Version}\n' linux-source-6.12 2>/dev/null || :
	gcc --version | head -n 1
} | sha256sum | cut -c 1-16)
dir=$cache/kernel-$key

if [ -e "$dir/done" ]; then
	echo "$dir"
	exit 0
fi
[ "${1-}" != --print-dir ] || die "not built yet, run $0"

mkdir -p "$cache"
exec 9>"$dir.lock"
flock 9
if [ -e "$dir/done" ]; then
	echo "$dir"
	exit 0
fi
rm -rf "$dir"
mkdir -p "$dir"
log=$dir/build.log
echo "debug kernel: building in $dir (some minutes; log in build.log)" >&2

# Only what an x86 kernel of this size needs is unpacked: all Kconfig files,
# but not the sources of other architectures, sound and graphics.
mkdir "$dir/build"
tar -xJf "$source" -C "$dir/build" --strip-components=1 --wildcards \
	--exclude='*/drivers/gpu/drm/*/*.[ch]' --exclude='*/sound/*.[ch]' \
	--exclude='*/arch/[abchlmnoprs]*/*.[chS]' \
	--exclude='*/arch/[abchlmnoprs]*/*.dts*' \
	--exclude='*/tools/testing/*' --exclude='*/tools/perf/*' \
	--exclude='*/Documentation/*.rst' --exclude='*/Documentation/*.yaml'

cd "$dir/build"
verify_config()
{
	bad=0
	while read -r line; do
		case $line in
		'#'*|'') continue ;;
		*=n) grep -q "^${line%=n}=" .config || continue ;;
		*) ! grep -qxF "$line" .config || continue ;;
		esac
		echo "debug kernel: .config lost: $line" >&2
		bad=1
	done <"$here/debug.config"
	return $bad
}

{
	make -s tinyconfig
	scripts/kconfig/merge_config.sh -m .config "$here/debug.config"
	echo 'CONFIG_LOCALVERSION="-ornic-debug"' >>.config
	make -s olddefconfig
} >"$log" 2>&1 </dev/null || die "configuration failed: $(tail -n 3 "$log")"
verify_config || die "the fragment does not fit the source"

nice make -s -j"$jobs" bzImage modules >>"$log" 2>&1 </dev/null || {
	tail -n 20 "$log" >&2
	die "build failed"
}
PATH=$PATH:/usr/sbin:/sbin make -s INSTALL_MOD_PATH="$dir/modules" modules_install \
	>>"$log" 2>&1 </dev/null || die "modules_install failed"
cp arch/x86/boot/bzImage "$dir/bzImage"
make -s kernelrelease >"$dir/release" 2>>"$log"
# External modules need the headers, the scripts and Module.symvers alone.
find . -name '*.o' ! -path './scripts/*' ! -path './tools/*' -delete
rm -f vmlinux.a vmlinux.unstripped
: >"$dir/done"
echo "$dir"
