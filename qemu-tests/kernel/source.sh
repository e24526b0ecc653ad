#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Print the file with Debian's source of Linux 6.12, which build.sh takes by
# ORNIC_KERNEL_SOURCE. Releases after Debian 13 have another Linux: there it is that of
# Debian 13, downloaded once, with package lists of its own.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}
dir=$cache/linux-source-6.12

download()
{
	new=$dir.$$
	trap 'rm -rf "$new"' EXIT
	mkdir -p "$new/lists/partial" "$new/cache/archives/partial"
	: >"$new/status"
	echo "deb $("$here/debian.sh" --mirror) trixie main" >"$new/sources.list"
	cat >"$new/apt.conf" <<-END
		APT::Sandbox::User "";
		Dir::Etc::SourceList "$new/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::State::lists "$new/lists";
		Dir::State::status "$new/status";
		Dir::Cache "$new/cache";
	END
	echo "downloading linux-source-6.12 of Debian 13 into $dir" >&2
	(cd "$new" && export APT_CONFIG=apt.conf && apt-get -qq update &&
		apt-get -qq download linux-source-6.12) >&2
	dpkg-deb --fsys-tarfile "$new"/*.deb |
		tar -x -C "$new" --strip-components=3 --wildcards '*/linux-source-*.xz'
	rm -rf "$new"/*.deb "$new/lists" "$new/cache"
	rm -rf "$dir"
	mv "$new" "$dir"
}

for source in "${ORNIC_KERNEL_SOURCE-}" /usr/src/linux-source-6.12.tar.xz; do
	[ ! -r "$source" ] || break
done
if [ ! -r "$source" ]; then
	source=$dir/linux-source-6.12.tar.xz
	[ -r "$source" ] || download
fi
echo "$source"
