#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build a kernel from Debian's linux-source-6.12 and print the folder that
# holds it: image, the build tree for external modules (build/) and its own
# modules (modules/lib/modules/VERSION). The folder is named by a hash of
# everything that goes in, so it is built once.
#
#   build.sh [KERNEL]              build if need be, print the folder
#   build.sh --print-dir [KERNEL]  print the folder only; fail if it is not
#                                  built yet
#
# KERNEL is debug (the default); debug-users, the same with users.config; kcsan, the same
# with the changes of kcsan.config; or arm64-64k, for arm64 with pages of 64 KiB, which is
# cross-compiled elsewhere.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=y
if [ "${1-}" = --print-dir ]; then
	build=n
	shift
fi
kernel=${1-debug}
source=${ORNIC_KERNEL_SOURCE:-/usr/src/linux-source-6.12.tar.xz}
cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}
jobs=$(nproc)

die()
{
	echo "$kernel kernel: $*" >&2
	exit 1
}

# Not those of a make that calls this
unset ARCH CROSS_COMPILE MAKEFLAGS
arch=x86 image=bzImage
gcc=gcc
case $kernel in
debug)
	fragments='guest x86 debug'
	set -- ;;
debug-users)
	fragments='guest x86 debug users'
	set -- ;;
kcsan)
	fragments='guest x86 debug kcsan'
	# KCSAN is to watch accesses of our modules alone, which are built by
	# themselves. The kernel only has to tell it where the barriers are.
	set -- CFLAGS_KCSAN=-D__KCSAN_INSTRUMENT_BARRIERS__ ;;
arm64-64k)
	fragments='guest arm64-64k'
	arch=arm64 image=Image
	set -- ARCH=arm64
	if [ "$(uname -m)" != aarch64 ]; then
		gcc=aarch64-linux-gnu-gcc
		set -- "$@" CROSS_COMPILE=aarch64-linux-gnu-
	fi ;;
*)
	die "there are debug, debug-users, kcsan and arm64-64k" ;;
esac
fragments=$(for fragment in $fragments; do echo "$here/$fragment.config"; done)

[ -r "$source" ] || die "$source is missing: apt-get install linux-source-6.12"
command -v "$gcc" >/dev/null ||
	die "$gcc is missing: apt-get install gcc${gcc%gcc}"
# shellcheck disable=SC2086 # a list of files
key=$({
	cat $fragments "$here/build.sh"
	stat -Lc '%s' "$source"
	dpkg-query -W -f '${Version}\n' linux-source-6.12 2>/dev/null || :
	"$gcc" --version | head -n 1
} | sha256sum | cut -c 1-16)
dir=$cache/kernel-$key

if [ -e "$dir/done" ]; then
	echo "$dir"
	exit 0
fi
[ $build = y ] || die "not built yet, run $0"

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
echo "$kernel kernel: building in $dir (some minutes; log in build.log)" >&2

# Only what a kernel of this size needs is unpacked: all Kconfig files, but
# not the sources of other architectures, sound and graphics.
case $arch in
x86) others='[abchlmnoprs]*' ;;
arm64) others='[bchlmnoprsx]*' ;;
esac
mkdir "$dir/build"
tar -xJf "$source" -C "$dir/build" --strip-components=1 --wildcards \
	--exclude='*/drivers/gpu/drm/*/*.[ch]' --exclude='*/sound/*.[ch]' \
	--exclude="*/arch/$others/*.[chS]" --exclude='*/arch/*/*.dts*' \
	--exclude='*/tools/testing/*' --exclude='*/tools/perf/*' \
	--exclude='*/Documentation/*.rst' --exclude='*/Documentation/*.yaml'

cd "$dir/build"

# A later fragment replaces lines of an earlier one. What it turns off takes
# all with it whose names begin with that: KASAN=n removes KASAN_INLINE=y.
merge_fragments()
{
	# shellcheck disable=SC2086
	awk -F= '
		!/^CONFIG_/ { next }
		$2 == "n" { for (s in value) if (index(s, $1 "_") == 1) delete value[s] }
		{ value[$1] = substr($0, length($1) + 2) }
		END { for (s in value) print s "=" value[s] }
	' $fragments | sort
}

verify_config()
{
	bad=0
	while read -r line; do
		case $line in
		*=n) grep -q "^${line%=n}=" .config || continue ;;
		*) ! grep -qxF "$line" .config || continue ;;
		esac
		echo "$kernel kernel: .config lost: $line" >&2
		bad=1
	done <"$dir/config"
	return $bad
}

{
	merge_fragments >"$dir/config"
	make -s "$@" tinyconfig
	scripts/kconfig/merge_config.sh -m .config "$dir/config"
	echo "CONFIG_LOCALVERSION=\"-ornic-$kernel\"" >>.config
	make -s "$@" olddefconfig
} >"$log" 2>&1 </dev/null || die "configuration failed: $(tail -n 3 "$log")"
verify_config || die "the fragment does not fit the source"

nice make -s -j"$jobs" "$@" "$image" modules >>"$log" 2>&1 </dev/null || {
	tail -n 20 "$log" >&2
	die "build failed"
}
PATH=$PATH:/usr/sbin:/sbin make -s "$@" INSTALL_MOD_PATH="$dir/modules" modules_install \
	>>"$log" 2>&1 </dev/null || die "modules_install failed"
cp "arch/$arch/boot/$image" "$dir/image"
make -s "$@" kernelrelease >"$dir/release" 2>>"$log"
# External modules need the headers, the scripts and Module.symvers alone.
find . -name '*.o' ! -path './scripts/*' ! -path './tools/*' -delete
rm -f vmlinux.a vmlinux.unstripped
: >"$dir/done"
echo "$dir"
