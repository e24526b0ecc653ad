# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# `make bench`: ornic beside rxe and siw, see qemu-tests/bench/bench. `make bench-lossy`:
# the same on wires that lose, delay and reorder packets. `make bench-count`: instructions.

.PHONY: bench bench-count bench-lossy bench-parts

bench:
	$(call need_packages,linux-source-6.12 xz-utils zlib1g-dev perftest \
		rdmacm-utils iperf3 sockperf python3-matplotlib fio nvme-cli \
		nfs-kernel-server)
	+@$(MAKE) all modules-stock programs nic bench-parts
	qemu-tests/bench/bench

bench-count:
	$(call need_packages,perftest)
	+@$(MAKE) all modules-stock programs
	qemu-tests/bench/count

bench-lossy:
	$(call need_packages,linux-source-6.12 xz-utils zlib1g-dev perftest iperf3)
	+@$(MAKE) all modules-stock programs bench-parts
	qemu-tests/bench/bench --mode lossy$(addprefix -,$(filter quick icount,$(BENCH)))

bench-parts: $(addprefix $(BUILD)/bench/,null_syscall netns_run objects perftest_nosleep.so)
	@rsync -rt qemu-tests/bench/ref $(BUILD)/bench/
	+@$(MAKE) -s -C $(STOCK_KDIR) M=$(BUILD)/bench/ref modules
	@siw=$$(qemu-tests/kernel/modules.sh siw $(STOCK_KDIR)) && cp "$$siw" $(BUILD)/bench/

$(BUILD)/bench/null_syscall: qemu-tests/bench/null_syscall.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -o $@ $<

$(BUILD)/bench/netns_run: qemu-tests/bench/netns_run.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -static -o $@ $<

$(BUILD)/bench/%.so: qemu-tests/bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared -o $@ $<

$(BUILD)/bench/objects: qemu-tests/bench/objects.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -Wall -Wextra -Werror -o $@ $< -libverbs
