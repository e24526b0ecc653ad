# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Code outside the kernel: suites, simulator, fuzzers. Included by the
# top Makefile, or used alone with `make -f kunit/kunit.mk unit`.
#
#   unit        every suite, natively, under ASan and UBSan
#   litmus      memory ordering of the rings: see litmus/litmus.cc
#   sim         the simulator (SEEDS=N, SEED=N for one)
#   spin        the model of the transport, and its runs replayed in the engine
#               (FULL=1 for all configurations): see spin/check
#   fuzz-short  each fuzzer for FUZZ_SECONDS, from its seeds in git
#   fuzz        each fuzzer for DURATION seconds; adds to the seeds
#   coverage    what suites, simulator and the fuzzers' seeds reach of the engine
#   microbench  how long the engine takes here (FILTER=regular expression)
#   microbench-count
#               how many instructions, against bench/instructions.txt
#               (UPDATE=1 writes that)
#
# Those that test leave one line "N passed, M failed, K skipped" in
# build/results/.

BUILD ?= $(CURDIR)/build
CXX ?= g++
SEEDS ?= 5000
SAN_SEEDS ?= 500
SEED ?=
FUZZ_SECONDS ?= 10
DURATION ?= 600
FILTER ?= .
CLANG ?= $(firstword $(shell command -v clang-14 clang-15 clang-16 clang))

.PHONY: unit litmus sim spin fuzz fuzz-short coverage microbench microbench-count

host_inc := -Iuapi -Idriver -Idriver/engine -Ikunit -Ikunit/host

host_warn := -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter \
	-Wno-missing-field-initializers
host_san := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
host_c := -std=gnu11 -g -Werror=implicit -MMD -MP $(host_inc) $(host_warn)
host_cxx := -std=c++20 -g -MMD -MP $(host_inc) $(host_warn)

# As in Kbuild: build_datapath.c has the sources of the data path.
engine_c := $(addprefix driver/engine/,ah.c build_datapath.c cc.c cmd.c \
	comp_cntr.c counters.c crc32.c crc32_select.c delay.c engine.c fault.c flow.c \
	flow_key.c frame.c frmr.c gaps.c gaps_map.c gaps_nak.c impair.c impair_text.c \
	inspect.c kept.c mcast.c mkey.c null_key.c odp.c pkey.c qp.c qp_state.c rate.c raw.c reorder.c replay.c \
	rss.c sink.c spare.c spray.c srq.c table.c tm.c)
harness_c := $(sort $(wildcard kunit/harness*.c) kunit/pair_fixture.c)
# Of the driver, what computes and touches nothing else: see ornic_pure.h.
driver_c := $(addprefix driver/ornic_,dm_budget.c flow_spec.c pack.c page_tree.c ring.c \
	rss.c wqe.c) \
	$(addprefix driver/pci/pci_,eq_ring.c regs.c slots.c)
suite_c := $(sort $(wildcard kunit/*_kunit.c)) kunit/loop_story.c \
	kunit/tm_fixture.c

# $(call objects,flavour,sources)
objects = $(patsubst %,$(BUILD)/$(1)/%.o,$(basename $(2)))

# unit ------------------------------------------------------------------

# See env_host.h.
suite_flags := -DORNIC_OTHER_CPU
unit_obj := $(call objects,unit,$(engine_c) $(driver_c) $(harness_c) $(suite_c) \
	kunit/host/runner.c)

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CC)$(CC) $(host_c) $(suite_flags) -O1 $(host_san) -c -o $@ $<

# What needs more does not fit the stack of a kernel with KASAN: it is allocated.
$(call objects,unit,$(harness_c) $(suite_c)): \
	suite_flags += -Werror=frame-larger-than=1024

$(BUILD)/unit/run: $(unit_obj)
	$(call host_say,LD)$(CC) $(host_san) -o $@ $^ -lz

unit: $(BUILD)/unit/run
	@mkdir -p $(BUILD)/results
	@$(BUILD)/unit/run --results $(BUILD)/results/unit.txt \
		>$(BUILD)/results/unit.ktap 2>&1 || { \
		grep -v '^ *ok ' $(BUILD)/results/unit.ktap | tail -n 60; \
		echo 'unit: failed, all of it in build/results/unit.ktap'; \
		exit 1; }
	@echo "unit: $$(cat $(BUILD)/results/unit.txt)"

# litmus ----------------------------------------------------------------

litmus_obj := $(call objects,sim,$(sort $(wildcard kunit/litmus/*.cc)))

$(BUILD)/sim/ornic_litmus: $(litmus_obj)
	$(call host_say,LD)$(CXX) -o $@ $^

litmus: $(BUILD)/sim/ornic_litmus
	@mkdir -p $(BUILD)/results
	@$(BUILD)/sim/ornic_litmus $(if $(V),-v) \
		--results=$(BUILD)/results/litmus.txt \
		kunit/litmus/*.litmus kunit/litmus/model/*.litmus
	@echo "litmus: $$(cat $(BUILD)/results/litmus.txt)"

# sim -------------------------------------------------------------------
# Twice: at speed for many seeds, under sanitizers for some of them.

sim_cc := $(sort $(wildcard kunit/sim/*.cc))
sim_obj := $(call objects,sim,$(engine_c) $(harness_c) $(sim_cc))
# The sanitized engine, which ornic-nic has as well
engine_san := $(call objects,simsan,$(engine_c))
simsan_obj := $(engine_san) $(call objects,simsan,$(harness_c) $(sim_cc))

$(BUILD)/sim/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CC)$(CC) $(host_c) -O2 -c -o $@ $<

$(BUILD)/sim/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(host_cxx) -O2 -c -o $@ $<

$(BUILD)/simsan/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CC)$(CC) $(host_c) -O1 $(host_san) -c -o $@ $<

$(BUILD)/simsan/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(host_cxx) -O1 $(host_san) -c -o $@ $<

$(BUILD)/sim/ornic_sim: $(sim_obj)
	$(call host_say,LD)$(CXX) -o $@ $^ -lgtest -lz -pthread

$(BUILD)/simsan/ornic_sim: $(simsan_obj)
	$(call host_say,LD)$(CXX) $(host_san) -o $@ $^ -lgtest -lz -pthread

sim: $(BUILD)/sim/ornic_sim $(BUILD)/simsan/ornic_sim
	@mkdir -p $(BUILD)/results
	@$(BUILD)/simsan/ornic_sim $(if $(SEED),--seed=$(SEED),--seeds=$(SAN_SEEDS)) \
		--results=$(BUILD)/results/sim-sanitized.txt
	@$(BUILD)/sim/ornic_sim $(if $(SEED),--seed=$(SEED),--seeds=$(SEEDS)) \
		--results=$(BUILD)/results/sim.txt
	@echo "sim: $$(cat $(BUILD)/results/sim.txt)"

# spin ------------------------------------------------------------------

spin_src := $(sort $(wildcard kunit/spin/*.c kunit/spin/*.cc))
replay_obj := $(call objects,sim,$(engine_c) $(harness_c) $(spin_src))
replaysan_obj := $(engine_san) $(call objects,simsan,$(harness_c) $(spin_src))

$(BUILD)/sim/ornic_replay: $(replay_obj)
	$(call host_say,LD)$(CXX) -o $@ $^ -lz

$(BUILD)/simsan/ornic_replay: $(replaysan_obj)
	$(call host_say,LD)$(CXX) $(host_san) -o $@ $^ -lz

spin: $(BUILD)/sim/ornic_replay $(BUILD)/simsan/ornic_replay
	@kunit/spin/check $(BUILD) $(if $(filter-out 0,$(FULL)),full,short)

# fuzz ------------------------------------------------------------------

fuzzers := packet wqe command link raw tags nic
# Twice: under sanitizers, and at speed with fixtures that are made once.

fuzz_c := $(engine_c) $(harness_c) $(addprefix kunit/fuzz/,fuzz.c objects.c \
	mutate.c small_tables.c snapshot.c)
fuzz_obj := $(call objects,fuzz,$(fuzz_c))
fast_obj := $(call objects,fuzzfast,$(fuzz_c))
fuzz_flags := -O1 $(host_san)
fast_san := -fsanitize=undefined -fsanitize-trap=undefined
fast_flags := -O2 $(fast_san) -DORNIC_FUZZ_FAST \
	-fsanitize-coverage=inline-8bit-counters,pc-table
fast_c := -Dcalloc=ornic_snap_calloc -Dfree=ornic_snap_free
fuzz_wrap := -Wl,--wrap=ornic_table_init,--wrap=ornic_table_init_random

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CLANG)$(CLANG) $(host_c) $(fuzz_flags) -fsanitize=fuzzer-no-link -c -o $@ $<

$(BUILD)/fuzz/ornic_fuzz_%: $(fuzz_obj) $(BUILD)/fuzz/kunit/fuzz/%_fuzz.o
	$(call host_say,LD)$(CLANG) $(host_san) $(fuzz_wrap) -fsanitize=fuzzer -o $@ $^ -lz

$(BUILD)/fuzzfast/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CLANG)$(CLANG) $(host_c) $(fast_flags) $(fast_c) -c -o $@ $<

$(BUILD)/fuzzfast/ornic_fuzz_%: $(fast_obj) $(BUILD)/fuzzfast/kunit/fuzz/%_fuzz.o
	$(call host_say,LD)$(CLANG) $(fast_san) $(fuzz_wrap) -fsanitize=fuzzer -o $@ $^ -lz

fuzz_bin := $(addprefix $(BUILD)/fuzz/ornic_fuzz_,$(fuzzers))
fast_bin := $(addprefix $(BUILD)/fuzzfast/ornic_fuzz_,$(fuzzers))

fuzz-short: $(fuzz_bin)
	@kunit/fuzz/run $(BUILD) $(FUZZ_SECONDS) short $(fuzzers)

fuzz: $(fuzz_bin) $(fast_bin)
	@kunit/fuzz/run $(BUILD) $(DURATION) long $(fuzzers)

# Only pattern rules name them, and make removes such files after their use.
.SECONDARY: $(fuzz_obj) $(fast_obj) \
	$(call objects,fuzzfast,$(patsubst %,kunit/fuzz/%_fuzz.c,$(fuzzers))) \
	$(call objects,fuzz,$(patsubst %,kunit/fuzz/%_fuzz.c,$(fuzzers)))

# coverage --------------------------------------------------------------

CLANGXX := $(subst clang,clang++,$(CLANG))
cov_flags := $(suite_flags) -O1 -fprofile-instr-generate -fcoverage-mapping
cov_unit_obj := $(call objects,cov,$(engine_c) $(driver_c) $(harness_c) $(suite_c) \
	kunit/host/runner.c)
cov_sim_obj := $(call objects,cov,$(engine_c) $(harness_c) $(sim_cc))
cov_fuzz_obj := $(call objects,cov,$(fuzz_c))

$(BUILD)/cov/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CLANG)$(CLANG) $(host_c) $(cov_flags) -c -o $@ $<

$(BUILD)/cov/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CLANG)$(CLANGXX) $(host_cxx) $(cov_flags) -c -o $@ $<

$(BUILD)/cov/run: $(cov_unit_obj)
	$(call host_say,LD)$(CLANG) $(cov_flags) -o $@ $^ -lz

$(BUILD)/cov/ornic_sim: $(cov_sim_obj)
	$(call host_say,LD)$(CLANGXX) $(cov_flags) -o $@ $^ -lgtest -lz -pthread

$(BUILD)/cov/ornic_fuzz_%: $(cov_fuzz_obj) $(BUILD)/cov/kunit/fuzz/%_fuzz.o
	$(call host_say,LD)$(CLANG) $(cov_flags) $(fuzz_wrap) -fsanitize=fuzzer -o $@ $^ -lz

# The NIC's fuzzer is linked with the NIC, which has rules of its own.
cov_fuzzers := $(filter-out nic,$(fuzzers))
cov_bin := $(addprefix $(BUILD)/cov/,run ornic_sim \
	$(addprefix ornic_fuzz_,$(cov_fuzzers)))

coverage: $(cov_bin)
	@scripts/coverage $(BUILD) $(SAN_SEEDS) $(cov_fuzzers)

.SECONDARY: $(cov_fuzz_obj) \
	$(call objects,cov,$(patsubst %,kunit/fuzz/%_fuzz.c,$(cov_fuzzers)))

# bench -----------------------------------------------------------------
# Without assertions: locks cost then what they cost where nobody waits.

bench_flags := -O2 -DNDEBUG
bench_c := $(engine_c) $(harness_c) kunit/bench/workload.cc
bench_obj := $(call objects,bench,$(bench_c))

$(BUILD)/bench/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CC)$(CC) $(host_c) $(bench_flags) -c -o $@ $<

$(BUILD)/bench/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(host_cxx) $(bench_flags) -c -o $@ $<

$(BUILD)/bench/ornic_microbench: $(bench_obj) \
		$(BUILD)/bench/kunit/bench/microbench.o
	$(call host_say,LD)$(CXX) -o $@ $^ -lbenchmark -lz -pthread

$(BUILD)/bench/ornic_count: $(bench_obj) $(BUILD)/bench/kunit/bench/count.o
	$(call host_say,LD)$(CXX) -o $@ $^ -lz

microbench:
	$(call need_packages,libbenchmark-dev zlib1g-dev)
	+@$(MAKE) $(BUILD)/bench/ornic_microbench
	@$(BUILD)/bench/ornic_microbench --benchmark_min_time=0.3 \
		--benchmark_filter='$(FILTER)'

microbench-count: $(BUILD)/bench/ornic_count
	@kunit/bench/count $(BUILD)

-include $(wildcard $(BUILD)/bench/*/*.d $(BUILD)/bench/*/*/*.d \
	$(BUILD)/unit/*/*.d $(BUILD)/unit/*/*/*.d \
	$(BUILD)/sim/*/*.d $(BUILD)/sim/*/*/*.d $(BUILD)/simsan/*/*.d \
	$(BUILD)/simsan/*/*/*.d $(BUILD)/fuzz/*/*.d $(BUILD)/fuzz/*/*/*.d \
	$(BUILD)/fuzzfast/*/*.d $(BUILD)/fuzzfast/*/*/*.d \
	$(BUILD)/cov/*/*.d $(BUILD)/cov/*/*/*.d)
