#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Kernels of Debian, without installing them: each is in a folder of the cache,
# and its headers in a chroot of its release, whose compiler they need.
#
#   debian.sh NAME           download the kernel NAME of the file `kernels`, if it
#                            is not in the cache, and print the folder: image,
#                            release, lib/modules/RELEASE
#   debian.sh --headers NAME print the folder of its headers
#   debian.sh --make NAME FOLDER ARGUMENTS
#                            run make for the external modules of FOLDER
#   debian.sh --list         print all names
#   debian.sh --mirror       print where packages come from
#
# What is in the cache is not updated; folders may be deleted.
set -eu -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}
PATH=$PATH:/usr/sbin:/sbin

die()
{
	echo "kernel $name: $*" >&2
	exit 1
}

# Of the host's own sources, so that a local mirror is used.
mirror()
{
	# shellcheck disable=SC2016 # of apt
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
		grep -m 1 '/debian/*$' | sed 's:/*$::' ||
		echo 'http://deb.debian.org/debian'
}

sources()
{
	local mirror

	mirror=$(mirror)
	printf 'deb %s main\n' "$mirror $suite" "$mirror $suite-updates" \
		"$mirror-security $suite-security"
	[ "$suite" = bookworm ] ||
		echo "deb $mirror $suite-backports main"
}

in_chroot()
{
	DEBIAN_FRONTEND=noninteractive chroot "$chroot" "$@" </dev/null
}

make_chroot()
{
	[ ! -e "$chroot/done" ] || return 0
	[ "$(id -u)" = 0 ] || die 'only root can make a chroot'
	command -v mmdebstrap >/dev/null || die 'apt-get install mmdebstrap'
	echo "kernel $name: making $chroot" >&2
	rm -rf "$chroot"
	# The compiler that headers of 7.3 depend on finds no assembler without binutils.
	# With W=1 kernels look at comments with perl.
	sources | mmdebstrap --quiet --variant=apt \
		--include=binutils,ccache,make,perl,xz-utils \
		"$suite" "$chroot" - >&2
	# Headers may depend on an image, which is not booted from here.
	mkdir -p "$chroot/etc/initramfs-tools"
	echo 'update_initramfs=no' >"$chroot/etc/initramfs-tools/update-initramfs.conf"
	touch "$chroot/done"
}

newest_release()
{
	in_chroot apt-cache pkgnames linux-headers- |
		sed -n -E "s/^linux-headers-($pattern)\$/\\1/p" | sort -V | tail -n 1
}

# 7.x has packages for each part.
image_packages()
{
	in_chroot apt-cache pkgnames linux- |
		grep -xF -e "linux-image-$release" -e "linux-base-$release" \
			-e "linux-binary-$release" -e "linux-modules-$release"
}

download_image()
{
	local package

	rm -rf "$chroot/var/tmp/image"
	mkdir -p "$chroot/var/tmp/image"
	# shellcheck disable=SC2046 # a list of packages
	in_chroot sh -c 'cd /var/tmp/image && apt-get -qq download "$@" 2>&1' - \
		$(image_packages) >&2
	for package in "$chroot"/var/tmp/image/*.deb; do
		dpkg-deb -x "$package" "$dir"
	done
	rm -r "$chroot/var/tmp/image"
	[ -e "$dir/lib" ] || ln -s usr/lib "$dir/lib"
	if [ -e "$dir/boot/vmlinuz-$release" ]; then
		ln -s "boot/vmlinuz-$release" "$dir/image"
	else
		ln -s "lib/modules/$release/vmlinuz" "$dir/image"
	fi
	depmod -b "$dir" "$release"
}

download()
{
	local release

	make_chroot
	in_chroot apt-get -qq update >&2
	release=$(newest_release)
	[ -n "$release" ] || die "$suite has no release $pattern"
	echo "kernel $name: getting $release" >&2
	in_chroot apt-get -qq -y install --no-install-recommends \
		-o Dpkg::Options::=--force-confold "linux-headers-$release" \
		>"$dir.log" 2>&1 ||
		die "cannot install headers, see $dir.log"
	rm -rf "$dir"
	mkdir "$dir"
	download_image
	echo "$release" >"$dir/release"
	touch "$dir/done"
}

# The tree is at its own path in the chroot, since make writes paths to files.
run_make()
{
	local folder=$1 ccache=${CCACHE_DIR:-$HOME/.cache/ccache}
	shift

	mkdir -p "$chroot$folder" "$chroot/ccache" "$ccache"
	# shellcheck disable=SC2016 # arguments of that shell
	CCACHE_DIR=/ccache PATH=/usr/lib/ccache:$PATH unshare -m sh -c '
		mount --bind "$2" "$1$2" && mount --bind "$3" "$1/ccache" &&
		mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" || exit
		chroot=$1 folder=$2 headers=$4
		shift 4
		exec chroot "$chroot" make -C "$headers" M="$folder" "$@"
	' - "$chroot" "$folder" "$ccache" "/lib/modules/$(cat "$dir/release")/build" \
		"$@"
}

action=print
case $1 in
--list)
	sed -n 's/^\([^# ]\+\) .*/\1/p' "$here/kernels"
	exit
	;;
--mirror)
	mirror
	exit
	;;
--*) action=$1 && shift ;;
esac
name=$1
shift
read -r _ suite arch pattern < <(grep "^$name " "$here/kernels") ||
	die "is not in $here/kernels"
dir=$cache/debian-$name
chroot=$cache/chroot-$suite-$arch

mkdir -p "$cache"
exec 9>"$chroot.lock"
if [ ! -e "$dir/done" ] || [ ! -e "$chroot/done" ]; then
	flock 9
	if [ ! -e "$dir/done" ] || [ ! -e "$chroot/done" ]; then
		download
	fi
fi
case $action in
print) echo "$dir" ;;
--headers) echo "$chroot/usr/src/linux-headers-$(cat "$dir/release")" ;;
--make) run_make "$@" ;;
esac
