#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Download what `make ARCH=arm64` builds with and what its guests boot, once, and
# print the folder that holds it: a root of this Debian for arm64, with kernels of 4 and
# 16 KiB pages, of the release that is installed on this machine. Packages are only
# unpacked, so nothing is emulated.
set -eu

cache=${ORNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ornic}
kernels='arm64 arm64-16k'
# To build: headers and libraries
packages='libc6-dev libibverbs-dev libseccomp-dev zlib1g-dev libgtest-dev'
# To boot: what the cases call
packages="$packages base-passwd bash bsdextrautils busybox-static coreutils dash
	diffutils ethtool fio findutils grep gzip hostname ibverbs-providers
	ibverbs-utils iproute2 iputils-ping kmod libc-bin mawk mount ncurses-base
	netbase nftables nvme-cli passwd pciutils perftest procps psmisc python3
	python3-pyverbs rdma-core rdmacm-utils sed strace tar tcpdump util-linux"

die()
{
	echo "arm64: $*" >&2
	exit 1
}

# The programs of kbuild run on this machine.
release=$(find /lib/modules -path '/lib/modules/6.12*/build' |
	sed -n 's:^/lib/modules/\([^-]*\)-a..64/build$:\1:p' | sort -V | tail -n 1)
[ -n "$release" ] || die "no headers: apt-get install linux-headers-6.12-$(dpkg --print-architecture)"
dir=$cache/arm64-$release-$(echo "$packages" | cksum | cut -d ' ' -f 1)

# Of the machine's own sources, those of Debian
sources()
{
	# shellcheck disable=SC2016 # of apt
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | grep -E '/debian(-security)?/* ' | sort -u
}

# Links into this root, not into that of the machine; kbuild's programs are the
# machine's own.
unpack_headers()
{
	for kernel in $kernels; do
		(cd "$dir.new" && APT_CONFIG=$1 apt-get -qq download \
			"linux-headers-$release-$kernel")
	done
	for package in "$dir.new"/linux-headers-*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -x -C "$dir.new" --keep-directory-symlink
		rm "$package"
	done
	for kernel in $kernels; do
		ln -sfn "../../../src/linux-headers-$release-$kernel" \
			"$dir.new/usr/lib/modules/$release-$kernel/build"
		PATH=$PATH:/usr/sbin:/sbin depmod -b "$dir.new" "$release-$kernel"
	done
	ln -sfn "/usr/lib/linux-kbuild-$release" "$dir.new/usr/lib/"
}

# What the packages' own scripts would do.
configure()
{
	cp "$dir.new/usr/share/base-passwd/passwd.master" "$dir.new/etc/passwd"
	cp "$dir.new/usr/share/base-passwd/group.master" "$dir.new/etc/group"
	ln -sf mawk "$dir.new/usr/bin/awk"
}

if [ "${1-}" = --finish ]; then
	unpack_headers "$MMDEBSTRAP_APT_CONFIG"
	configure
	exit
fi

mkdir -p "$cache"
exec 9>"$dir.lock"
flock 9
if [ ! -e "$dir" ]; then
	rm -rf "$dir.new"
	for kernel in $kernels; do
		packages="$packages linux-image-$release-$kernel"
	done
	echo "arm64: downloading a root of Debian" >&2
	sources | mmdebstrap --quiet --architectures=arm64 --variant=extract \
		--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
		--include="$(printf %s "$packages" | tr -s '[:space:]' ,)" \
		--extract-hook="$0 --finish" \
		'' "$dir.new" - >&2 ||
		die 'cannot download'
	mv "$dir.new" "$dir"
fi
echo "$dir"
