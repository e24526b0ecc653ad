# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# make ARCH=arm64: the same rules with Debian's cross compilers, into build/arm64.
# Headers, libraries and the kernels of guests are those of ROOT, see arm64.sh.

cross_missing := $(shell scripts/missing-packages gcc-aarch64-linux-gnu \
	g++-aarch64-linux-gnu mmdebstrap)
ifneq ($(cross_missing),)
$(error missing packages: apt-get install $(cross_missing))
endif
ifeq ($(wildcard /lib/modules/6.12*/build),)
$(error make ARCH=$(CROSS) needs headers of 6.12, which Debian 12 and 13 have)
endif
ROOT := $(shell qemu-tests/kernel/arm64.sh)
ifeq ($(ROOT),)
$(error qemu-tests/kernel/arm64.sh has failed)
endif

DEB_ARCH := arm64
BUILD := $(BUILD)/arm64
export CROSS_COMPILE := aarch64-linux-gnu-
PKG_CONFIG := PKG_CONFIG_LIBDIR=$(ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig pkg-config
CC := $(CROSS_COMPILE)gcc --sysroot=$(ROOT)
CXX := $(CROSS_COMPILE)g++ --sysroot=$(ROOT)
