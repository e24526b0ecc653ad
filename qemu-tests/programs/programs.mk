# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs that cases run in the guest, over plain libibverbs.

programs: $(BUILD)/programs/ornic_verify $(BUILD)/programs/ornic_fork \
		$(BUILD)/programs/ornic_kicks $(BUILD)/programs/ornic_events \
		$(BUILD)/programs/ornic_live $(BUILD)/programs/ornic_comp_cntr \
		$(BUILD)/programs/ornic_flows $(BUILD)/programs/ornic_smc \
		$(BUILD)/programs/ornic_bpf $(BUILD)/programs/ornic_attack_remote \
		$(BUILD)/programs/ornic_attack_local $(BUILD)/programs/ornic_kfuzz \
		$(BUILD)/programs/ornic_faults $(BUILD)/programs/ornic_hang \
		$(BUILD)/programs/ornic_i915.so $(BUILD)/programs/ornic_smc_sockets.so \
		$(BUILD)/programs/ornic_files

# Without Open MPI's headers the cases that want it are skipped.
mpi_flags := $(shell $(PKG_CONFIG) --cflags ompi-c 2>/dev/null)
ifneq ($(mpi_flags),)
programs: $(BUILD)/programs/ornic_mpi $(BUILD)/programs/ornic_shmem
endif

$(BUILD)/programs/ornic_shmem: mpi_libs := -loshmem
$(BUILD)/programs/ornic_mpi $(BUILD)/programs/ornic_shmem: \
		$(BUILD)/programs/ornic_%: qemu-tests/programs/%/main.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -g1 -Wall -Wextra -Werror -DOMPI_SKIP_MPICXX \
		$(mpi_flags) $< $$($(PKG_CONFIG) --libs ompi-c) $(mpi_libs) -o $@

verify_sources := $(wildcard qemu-tests/programs/verify/*.cc)
verify_headers := $(wildcard qemu-tests/programs/verify/*.h) \
		$(wildcard qemu-tests/programs/attack/*.h) \
		$(wildcard qemu-tests/programs/kfuzz/*.h) \
		$(wildcard qemu-tests/programs/faults/*.h) \
		$(wildcard qemu-tests/programs/odp/*.h) \
		kunit/kernel/dmabuf_exporter.h kunit/kernel/dmabuf_importer.h
verify_objects := $(verify_sources:qemu-tests/programs/%.cc=$(BUILD)/programs/%.o)

$(BUILD)/programs/%.o: qemu-tests/programs/%.cc $(verify_headers)
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -g1 -Wall -Wextra -Werror $(CPPFLAGS) -c $< \
		-o $@

# ioctls of modules for tests, and a method of the driver
$(BUILD)/programs/verify/dma_buffer.o: CPPFLAGS += -Ikunit/kernel
$(BUILD)/programs/verify/dm_export.o: CPPFLAGS += -Ikunit/kernel -Iuapi

$(BUILD)/programs/ornic_verify: $(verify_objects)
	$(CXX) $^ -lgtest -libverbs -o $@

$(BUILD)/programs/ornic_smc: $(BUILD)/programs/smc/main.o
	$(CXX) $^ -o $@

$(BUILD)/programs/ornic_files: $(BUILD)/programs/files/main.o
	$(CXX) $^ -o $@

$(BUILD)/programs/ornic_bpf: $(BUILD)/programs/bpf/main.o
	$(CXX) $^ -o $@

$(BUILD)/programs/ornic_smc_sockets.so: qemu-tests/programs/smc/sockets.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared $< -o $@

$(BUILD)/programs/ornic_fork: $(BUILD)/programs/fork/main.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -o $@

$(BUILD)/programs/ornic_kicks: $(BUILD)/programs/kicks/main.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -pthread -o $@

$(BUILD)/programs/ornic_events: $(BUILD)/programs/events/main.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -o $@

$(BUILD)/programs/ornic_live: $(BUILD)/programs/live/main.o \
		$(BUILD)/programs/verify/verbs.o \
		$(BUILD)/programs/verify/live_memory.o
	$(CXX) $^ -libverbs -pthread -o $@

$(BUILD)/programs/comp_cntr/%.o: CPPFLAGS += -Iuapi

$(BUILD)/programs/ornic_comp_cntr: $(BUILD)/programs/comp_cntr/main.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -pthread -o $@

$(BUILD)/programs/ornic_hang: $(BUILD)/programs/hang/main.o \
		$(BUILD)/programs/verify/hung_file.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -pthread -o $@

programs: $(BUILD)/programs/ornic_odp_swap $(BUILD)/programs/ornic_odp_chaos

odp_common := $(addprefix $(BUILD)/programs/,odp/ends.o verify/verbs.o \
		verify/live_memory.o)

$(BUILD)/programs/ornic_odp_swap: $(BUILD)/programs/odp/swap.o $(odp_common)
	$(CXX) $^ -libverbs -pthread -o $@

$(BUILD)/programs/ornic_odp_chaos: $(odp_common) \
		$(addprefix $(BUILD)/programs/odp/,chaos.o events.o traffic.o zone.o)
	$(CXX) $^ -libverbs -pthread -o $@

$(BUILD)/programs/ornic_flows: $(BUILD)/programs/flows/main.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -pthread -o $@

$(BUILD)/programs/ornic_attack_remote: $(BUILD)/programs/attack/remote.o \
		$(BUILD)/programs/attack/packet.o \
		$(BUILD)/programs/attack/bait.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -libverbs -o $@

$(BUILD)/programs/ornic_attack_local: $(BUILD)/programs/attack/local.o \
		$(BUILD)/programs/attack/theft.o \
		$(BUILD)/programs/attack/guess.o \
		$(BUILD)/programs/attack/misuse.o \
		$(BUILD)/programs/verify/dma_buffer.o \
		$(BUILD)/programs/verify/ktap.o \
		$(BUILD)/programs/verify/verbs.o
	$(CXX) $^ -lgtest -libverbs -pthread -o $@

$(BUILD)/programs/ornic_i915.so: qemu-tests/programs/i915/main.cc \
		qemu-tests/programs/verify/drm.h
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -g1 -Wall -Wextra -Werror -fPIC -shared $< -o $@

faults_sources := $(wildcard qemu-tests/programs/faults/*.cc)

$(BUILD)/programs/ornic_faults: $(BUILD)/programs/verify/verbs.o \
		$(BUILD)/programs/kfuzz/nldev.o \
		$(faults_sources:qemu-tests/programs/%.cc=$(BUILD)/programs/%.o)
	$(CXX) $^ -libverbs -o $@

kfuzz_sources := $(wildcard qemu-tests/programs/kfuzz/*.cc)

$(BUILD)/programs/kfuzz/%.o: CPPFLAGS += -Iuapi

$(BUILD)/programs/ornic_kfuzz: $(BUILD)/programs/verify/verbs.o \
		$(BUILD)/programs/verify/dma_buffer.o \
		$(kfuzz_sources:qemu-tests/programs/%.cc=$(BUILD)/programs/%.o)
	$(CXX) $^ -libverbs -pthread -o $@
