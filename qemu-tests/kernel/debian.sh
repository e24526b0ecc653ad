#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Download a kernel of Debian without installing it, and print the folder that
# holds it: boot/vmlinuz-RELEASE and lib/modules/RELEASE.
#
#   debian.sh VERSION    the newest release of VERSION (6.1) with headers
set -eu

version=$1
cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}

die()
{
	echo "kernel $version: $*" >&2
	exit 1
}

headers=$(find /lib/modules -path "/lib/modules/$version.*-amd64/build" |
	sort -V | tail -n 1)
[ -n "$headers" ] ||
	die "no headers: apt-get install linux-headers-$version.*-amd64"
release=$(basename "$(dirname "$headers")")
dir=$cache/debian-$release

mkdir -p "$cache"
exec 9>"$dir.lock"
flock 9
if [ ! -e "$dir/done" ]; then
	rm -rf "$dir"
	mkdir "$dir"
	(cd "$dir" && apt-get -qq download "linux-image-$release") >&2 ||
		die "cannot download linux-image-$release"
	dpkg-deb -x "$dir"/*.deb "$dir"
	rm "$dir"/*.deb
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$dir" "$release"
	touch "$dir/done"
fi
echo "$dir"
