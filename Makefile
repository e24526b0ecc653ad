# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# ornic: everything is built into build/; `make help` lists the targets.

BUILD := $(CURDIR)/build
PKG_CONFIG ?= pkg-config
# The name that Debian has for the architecture of this machine
DEB_ARCH := $(if $(filter aarch64,$(shell uname -m)),arm64,amd64)
# make ARCH=arm64: build for that, on another machine. Not from the environment, where
# builds of kernels put it.
CROSS := $(if $(findstring command,$(origin ARCH)),$(filter-out $(DEB_ARCH),$(ARCH)))
ifeq ($(CROSS),arm64)
include qemu-tests/kernel/cross.mk
endif

# The running kernel if there are headers for it, else the newest that has some.
# Those of -rt and -cloud kernels, and of kernels with larger pages, are used for these
# only.
RUNNING := $(shell uname -r)
newest_headers = $(notdir $(patsubst %/build,%,$(shell \
	ls -d $(ROOT)/lib/modules/$(1)/build 2>/dev/null | \
	grep -vE -- '-(rt|cloud)-[^-]*/build$$|-arm64-[0-9]+k/build$$' | sort -V | tail -n 1)))
# The kernel of guests: 6.12, or what the release of Debian has
STOCK := $(or $(call newest_headers,6.12*-$(DEB_ARCH)),$(call \
	newest_headers,*-$(DEB_ARCH)))
STOCK_KDIR := $(ROOT)/lib/modules/$(STOCK)/build
KVER ?= $(if $(ROOT),$(STOCK),$(if $(wildcard \
	/lib/modules/$(RUNNING)/build),$(RUNNING),$(call newest_headers,*)))
KDIR ?= $(ROOT)/lib/modules/$(KVER)/build
MODULES := $(if $(filter $(STOCK),$(KVER)),stock,$(KVER))
DESTDIR ?=
MODDIR ?= /lib/modules/$(KVER)/updates/ornic
# What qemu-test runs, all if empty
CASES ?= $(GROUP)
# Of the modules, of ornic-nic and of the packages; `make check` compares.
VERSION := $(file < VERSION)
JOBS := $(shell nproc)
RUN := qemu-tests/run
# What kcsan runs, if CASES is empty
RACES := lifecycle verify perftest mcast kicks rdmacm \
	$(notdir $(wildcard qemu-tests/cases/attack))

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all
.PHONY: all modules modules-stock stock-release modules-debug modules-debug-users \
	modules-kcsan modules-kcov modules-coverage modules-16k modules-64k debug-kernel \
	kernel-debug-users kernel-kcsan kernel-arm64-64k provider programs unit sim fuzz \
	fuzz-short fuzz-kernel coverage-kernel kcsan kunit qemu-test test users users-debug \
	blktests matrix demo check check-hardening install uninstall install-modules \
	uninstall-modules html clean help

all: modules provider

help:
	@echo 'make [all]        modules and provider for kernel $(KVER)'
	@echo 'make modules      build/$(MODULES)/ornic.ko, ornic_soft.ko'
	@echo '                    (modules-6.1 and others: for guests with the kernels'
	@echo '                    of qemu-tests/kernel/kernels)'
	@echo '                    (ARCH=arm64: cross-compiled, into build/arm64;'
	@echo '                    modules-16k, modules-64k: for larger pages)'
	@echo 'make provider     build/provider/libornic-rdmavNN.so for the installed'
	@echo '                    rdma-core (PABI=all: for 34 to 65)'
	@echo 'make rdma-core    add the provider to RDMA_CORE_SRC, a tree of rdma-core'
	@echo '                  (rdma-core-test: build it and run its tests in a guest)'
	@echo 'make unit         the suites on this host, under ASan and UBSan'
	@echo '                    (unit-provider: those of the provider)'
	@echo 'make litmus       the barriers of the rings, by the memory model (V=1)'
	@echo 'make nic          build/nic/ornic-nic, the PCI NIC of QEMU guests'
	@echo '                    (nic-test: its test, which plays guests)'
	@echo 'make sim          the seeded simulator of two engines and a bad wire'
	@echo 'make spin         the model of the transport, and its runs in the engine'
	@echo 'make kunit        the suites in the debug kernel in QEMU'
	@echo 'make qemu-test    the system cases in QEMU: stock, then debug kernel'
	@echo '                    (CASES="smoke wire/drops" or GROUP=smoke; FULL=1'
	@echo '                    for full counts)'
	@echo 'make kcsan        cases on a kernel that detects data races (CASES=)'
	@echo 'make test         all of the above, and a short run of the fuzzers'
	@echo 'make matrix       modules and cases on many kernels (KERNELS="6.1 7.3"; an'
	@echo '                    hour for each the first time; it goes on where it stopped)'
	@echo 'make users        what runs on RDMA, on ornic and on rxe and siw: a table'
	@echo '                    (USERS="rds nfs" for some of it; users-debug: ornic'
	@echo '                    alone, on a debug kernel with all of them)'
	@echo 'make blktests     blktests on ornic, rxe and siw: a table (BLKTESTS_SRC=DIR:'
	@echo '                    a tree of it; TESTS="nvme srp/002"; FRAGILE=1: what'
	@echo '                    races, 20 times)'
	@echo 'make demo         a guest that shows the device, beside rxe; then'
	@echo '                    two guests with PCI NICs'
	@echo 'make bench        speed beside rxe and siw: table, CSV and plot in'
	@echo '                    build/bench, in 21 minutes (BENCH=quick: 3)'
	@echo 'make bench-count  instructions of a guest for each message, which fails if'
	@echo '                    they rise by 2 % (UPDATE=1 accepts them)'
	@echo 'make bench-lossy  ornic, rxe and TCP on wires that lose, delay, reorder,'
	@echo '                    duplicate and corrupt (BENCH=quick: one repeat of 3)'
	@echo 'make fuzz         each fuzzer for DURATION seconds (600), and keep'
	@echo '                    what it learns (fuzz-kernel: the modules, in a'
	@echo '                    guest with the debug kernel; SEED=1)'
	@echo 'make coverage     lines and branches of the engine that no host test reaches'
	@echo '                    (coverage-kernel: code of the modules that no guest'
	@echo '                    reaches; CASES=)'
	@echo 'make microbench   the engine on its own: time on this host, beside memcpy'
	@echo '                    (microbench-count: instructions, which fails if'
	@echo '                    they rise; UPDATE=1 accepts them)'
	@echo 'make check        style, static analysis, include rules'
	@echo 'make html         the documentation, build/html/index.html'
	@echo 'make install      modules, provider and .driver file (DESTDIR, KVER)'
	@echo 'make uninstall    take them away again'
	@echo 'make deb          Debian packages, in build/deb (rpm: of rpmbuild;'
	@echo '                    deb-guests: try them in bare guests;'
	@echo '                    deb-piuparts: install and purge them in a chroot;'
	@echo '                    deb-reproducible: build them twice)'
	@echo 'make clean        remove build/ (the debug kernel stays in the cache)'

# Packages that ./run does not install: make tells which are missing
define need_packages
	@missing=$$(scripts/missing-packages $(1)); [ -z "$$missing" ] || \
		{ echo "missing packages: apt-get install $$missing" >&2; exit 1; }
endef

# Before a command on this machine; V=1 shows whole command lines.
host_say = $(if $(V),,@echo '  $(1)	$@'; )

# What distributions build with, for what is installed; CPPFLAGS, CFLAGS, CXXFLAGS and
# LDFLAGS come last.
HARDENING = -fstack-protector-strong \
	$(if $(filter x86_64%,$(shell $(CXX) -dumpmachine)),-fcf-protection) \
	$(if $(findstring FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS) $(CXXFLAGS)),, \
		-D_FORTIFY_SOURCE=2)
HARDENING_LINK := -Wl,-z,relro,-z,now

# The parts
-include userspace-provider/provider.mk
-include kunit/kunit.mk
include qemu-tests/programs/programs.mk
-include qemu-tests/nic/nic.mk
include qemu-tests/bench/bench.mk
-include packaging/packaging.mk

# Kernel modules. External modules of 6.12 build beside their sources only, so
# the sources are mirrored into one folder for each kernel. Make does not see that
# another kernel has other structures: what was built for one is removed.
define build_modules
	@test -e "$(2)/include/generated/autoconf.h" || { \
		echo 'no kernel headers in $(2): apt-get install linux-headers-$(or $(3),$(DEB_ARCH))' >&2; exit 1; }
	$(4)
	@mkdir -p $(BUILD)/$(1)
	@{ echo "$(2)"; cat $(2)/include/generated/compile.h; } >$(BUILD)/$(1)/.kernel.new
	@cmp -s $(BUILD)/$(1)/.kernel.new $(BUILD)/$(1)/.kernel || { \
		find $(BUILD)/$(1) -name '*.o' -delete; \
		rm -rf $(BUILD)/$(1)/compat; }
	@mv $(BUILD)/$(1)/.kernel.new $(BUILD)/$(1)/.kernel
	@rsync -rt --delete --prune-empty-dirs --include='*/' --include='*.[ch]' \
		--exclude='*' uapi driver kunit $(BUILD)/$(1)/
	@rsync -t Kbuild VERSION $(BUILD)/$(1)/
	+$(or $(5),$(MAKE) -C $(2) M=$(BUILD)/$(1)) -j$(JOBS) $(KFLAGS) modules
endef

modules:
	$(call build_modules,$(MODULES),$(KDIR),$(KVER),@echo 'modules for Linux $(KVER)$(if \
		$(filter-out $(RUNNING),$(KVER)), ($(RUNNING) is running)): $(BUILD:$(CURDIR)/%=%)/$(MODULES)')

ifeq ($(MODULES),stock)
modules-stock: modules
else
modules-stock:
	$(call build_modules,stock,$(STOCK_KDIR),6.12-$(DEB_ARCH) or linux-headers-$(DEB_ARCH))
endif

stock-release:
	@echo $(STOCK)

debug-kernel:
	@qemu-tests/kernel/build.sh

modules-debug: debug-kernel
	$(call build_modules,debug,$(shell qemu-tests/kernel/build.sh --print-dir)/build)

# As prerequisites: make expands all lines of a recipe before it runs the first.
kernel-debug-users kernel-kcsan kernel-arm64-64k: kernel-%:
	@qemu-tests/kernel/build.sh $*

modules-debug-users modules-kcsan: modules-%: kernel-%
	$(call build_modules,$*,$(shell qemu-tests/kernel/build.sh --print-dir $*)/build)

# Kernels of Debian are built for in a chroot of their release.
DEBIAN_KERNEL := qemu-tests/kernel/debian.sh
DEBIAN_MODULES := $(addprefix modules-,$(shell $(DEBIAN_KERNEL) --list))
.PHONY: $(DEBIAN_MODULES)
$(DEBIAN_MODULES): modules-%:
	$(call build_modules,$*,$(shell $(DEBIAN_KERNEL) --headers $*),,,$(DEBIAN_KERNEL) --make $* $(BUILD)/$*)

# make ARCH=arm64 modules-16k: for pages of 16 KiB
modules-16k:
	$(call build_modules,16k,$(ROOT)/lib/modules/$(STOCK)-16k/build,6.12-arm64-16k)

# of 64 KiB, with a kernel that is built first
modules-64k: kernel-arm64-64k
	$(call build_modules,64k,$(shell qemu-tests/kernel/build.sh --print-dir arm64-64k)/build)

modules-kcov: export KCOV := 1
modules-kcov: debug-kernel
	$(call build_modules,kcov,$(shell qemu-tests/kernel/build.sh --print-dir)/build)

modules-coverage: export COVERAGE := 1
modules-coverage: debug-kernel
	$(call build_modules,coverage,$(shell qemu-tests/kernel/build.sh --print-dir)/build)

# Tests in QEMU
kunit: modules-debug
	$(RUN) --kernel debug kunit

qemu-test: modules-stock modules-debug provider programs nic
	$(RUN) --kernel stock $(CASES)
	$(RUN) --kernel debug $(CASES)

kcsan: modules-kcsan provider programs
	$(RUN) --kernel kcsan $(or $(CASES),$(RACES))

# Of cases that are skipped without them
USERS_PACKAGES := linux-source-6.12 xz-utils cifs-utils curl dbench fio infiniband-diags \
	iperf3 ksmbd-tools libfabric-bin libopenmpi-dev netcat-traditional nfs-kernel-server \
	nftables nginx-light nvme-cli open-iscsi openmpi-bin perftest python3-pyroute2 \
	python3-pyverbs qemu-system-x86 rdmacm-utils redis-server tcpdump ucx-utils

test:
	$(if $(filter-out 0,$(FULL)),$(call need_packages,$(USERS_PACKAGES)))
	+@scripts/test

users users-debug:
	$(call need_packages,$(USERS_PACKAGES))
	+@$(MAKE) all programs nic $(if $(filter users-debug,$@),modules-debug-users,modules-stock)
	qemu-tests/users $(if $(filter users-debug,$@),--kernel debug-users) $(USERS)

# blktests as it is. Its programs are built in a copy, as the guest has another /tmp.
BLKTESTS_TREE := $(BUILD)/blktests/tree
BLKTESTS_URL ?= https://github.com/linux-blktests/blktests
BLKTESTS_SRC ?= $(or $(ORNIC_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ornic)/blktests

blktests:
	@test -e '$(BLKTESTS_SRC)' || git clone -q '$(BLKTESTS_URL)' '$(BLKTESTS_SRC)'
	@test -f '$(BLKTESTS_SRC)/common/multipath-over-rdma' || \
		{ echo 'BLKTESTS_SRC=DIR is to be a tree of blktests' >&2; exit 1; }
	$(call need_packages,linux-source-6.12 xz-utils fio nvme-cli jq xfsprogs \
		multipath-tools sg3-utils udev)
	+@$(MAKE) all modules-stock programs
	mkdir -p $(BLKTESTS_TREE)
	rsync -a --delete --exclude=.git '$(BLKTESTS_SRC)'/ $(BLKTESTS_TREE)/
	$(MAKE) -s -C $(BLKTESTS_TREE)/src
	qemu-tests/blktests $(if $(FRAGILE),--fragile) $(TESTS)

# For each kernel of qemu-tests/kernel/kernels, or of KERNELS
matrix:
	+@qemu-tests/matrix $(KERNELS)

fuzz-kernel: modules-kcov provider programs
	DURATION=$(or $(DURATION),600) SEED=$(or $(SEED),1) \
		$(RUN) --kernel debug --modules kcov kfuzz

# What the cases reach of the modules; CASES may be given bit by bit, as the
# counters of each guest stay in build/qemu/coverage/counters.
COVERAGE_CASES := $(or $(CASES),kunit smoke verify lifecycle observe kicks mcast \
	rdmacm netem wire storage pci attack faults kfuzz)

coverage-kernel: modules-coverage provider programs
	-$(RUN) --kernel debug --modules coverage $(COVERAGE_CASES)
	qemu-tests/lib/coverage.py build/coverage build/qemu/coverage

demo: modules-stock provider programs
	$(RUN) --kernel stock --script qemu-tests/demo.sh
	$(RUN) --kernel stock --machines nic+nic --script qemu-tests/demo-guests.sh

# From nothing each time: what is up to date does not warn again.
html:
	$(call need_packages,python3-sphinx graphviz)
	@sphinx-build -q -E -W --keep-going -n -d $(BUILD)/doctrees \
		Documentation $(BUILD)/html

check: modules-stock
	scripts/check

check-hardening: provider $(BUILD)/nic/ornic-nic
	@for file in $(PROVIDER_LIBS) $(BUILD)/nic/ornic-nic; do \
		for mark in NOW GNU_RELRO __stack_chk_fail _chk@GLIBC; do \
			readelf -W -d -l --dyn-syms $$file | grep -q $$mark || \
				{ echo "$$file has no $$mark" >&2; exit 1; }; \
		done; \
	done

# Installation for the kernel KVER, in the places that Debian uses. depmod is
# not in the PATH of a root who came by su.
DEPMOD := PATH=$$PATH:/usr/sbin:/sbin depmod

install-modules: modules
	install -d $(DESTDIR)$(MODDIR)
	install -m 644 $(addprefix $(BUILD)/$(MODULES)/,ornic.ko ornic_soft.ko) \
		$(DESTDIR)$(MODDIR)/
	$(if $(DESTDIR),,$(DEPMOD) -a $(KVER))

uninstall-modules:
	rm -f $(DESTDIR)$(MODDIR)/ornic.ko $(DESTDIR)$(MODDIR)/ornic_soft.ko
	@rmdir $(DESTDIR)$(MODDIR) $(DESTDIR)$(dir $(MODDIR)) 2>/dev/null || :
	$(if $(DESTDIR),,$(DEPMOD) -a $(KVER))

install: install-modules install-provider

# Under DESTDIR the folders were made by install, and go when they are empty.
uninstall: uninstall-modules uninstall-provider
	$(if $(DESTDIR),@[ ! -d $(DESTDIR) ] || { cd $(DESTDIR) && \
		for dir in $(MODDIR) $(PROVIDER_LIBDIR) $(PROVIDER_CONFDIR) \
			$(PROVIDER_MANDIR); do \
		mkdir -p ".$$dir" && \
		rmdir -p --ignore-fail-on-non-empty "$${dir#/}"; done; })

clean:
	rm -rf $(BUILD)
