# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# ornic-nic, the PCI NIC of QEMU guests. Included by the top Makefile.
#
#   nic        build/nic/ornic-nic, and build/nicsan/ornic-nic under sanitizers
#   nic-test   test the latter with simulated guests
#   install-nic, uninstall-nic

.PHONY: nic nic-test install-nic uninstall-nic

nic_cc := $(sort $(wildcard qemu-tests/nic/*.cc))
nic_test_cc := $(sort $(wildcard qemu-tests/nic/test/*.cc))
nic_inc := -Iuapi -Idriver -Iqemu-tests/nic
nic_cxx := -std=c++20 -fno-exceptions -fno-rtti -g -MMD -MP $(nic_inc) \
	-DORNIC_VERSION='"$(VERSION)"' $(host_warn) -Werror

nic: $(BUILD)/nic/ornic-nic $(BUILD)/nicsan/ornic-nic
programs: $(BUILD)/nic/ornic-nic

$(BUILD)/nic/%.o: %.c
	@mkdir -p $(@D)
	$(call host_say,CC)$(CC) $(host_c) -O2 $(HARDENING) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/nic/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(nic_cxx) -O2 $(HARDENING) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

$(BUILD)/nic/qemu-tests/nic/options.o $(BUILD)/nicsan/qemu-tests/nic/options.o: VERSION

$(BUILD)/nic/ornic-nic: $(call objects,nic,$(engine_c) $(nic_cc))
	$(call host_say,LD)$(CXX) $(HARDENING_LINK) $(LDFLAGS) -o $@ $^ -lz -lseccomp

install-nic: $(BUILD)/nic/ornic-nic
	install -d $(DESTDIR)/usr/bin $(DESTDIR)/usr/share/man/man1
	install $(BUILD)/nic/ornic-nic $(DESTDIR)/usr/bin/
	install -m 644 qemu-tests/nic/ornic-nic.1 $(DESTDIR)/usr/share/man/man1/

uninstall-nic:
	rm -f $(DESTDIR)/usr/bin/ornic-nic \
		$(DESTDIR)/usr/share/man/man1/ornic-nic.1

# They compile in half of the time so.
$(BUILD)/nicsan/qemu-tests/nic/test/%.o: nic_test_flags := -O0

$(BUILD)/nicsan/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(nic_cxx) -O1 $(host_san) $(nic_test_flags) -c -o $@ $<

$(BUILD)/nicsan/ornic-nic: $(call objects,nicsan,$(nic_cc)) $(engine_san)
	$(call host_say,LD)$(CXX) $(host_san) -o $@ $^ -lz -lseccomp

$(BUILD)/nicsan/nic-test: $(call objects,nicsan,$(nic_test_cc) \
		$(filter-out %/main.cc,$(nic_cc))) $(engine_san)
	$(call host_say,LD)$(CXX) $(host_san) -o $@ $^ -lgtest -lz -lseccomp -pthread

nic-test: $(BUILD)/nicsan/nic-test $(BUILD)/nicsan/ornic-nic
	@mkdir -p $(BUILD)/results
	@$(BUILD)/nicsan/nic-test --program=$(BUILD)/nicsan/ornic-nic \
		--results=$(BUILD)/results/nic.txt
	@echo "nic-test: $$(cat $(BUILD)/results/nic.txt)"

# The fuzzer of the device, see kunit/kunit.mk.
$(BUILD)/fuzz/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CLANG)$(CLANG) --driver-mode=g++ $(filter-out -Werror,$(nic_cxx)) $(fuzz_flags) -fsanitize=fuzzer-no-link -c -o $@ $<

$(BUILD)/fuzzfast/%.o: %.cc
	@mkdir -p $(@D)
	$(call host_say,CLANG)$(CLANG) --driver-mode=g++ $(filter-out -Werror,$(nic_cxx)) $(fast_flags) -c -o $@ $<

nic_fuzz_objects = $(call objects,$(1),$(filter-out %/main.cc,$(nic_cc)) \
	$(engine_c) $(addprefix kunit/fuzz/,nic_fuzz.cc mutate.c \
	small_tables.c snapshot.c))
nic_fuzz_link = $(CLANG) --driver-mode=g++ $(fuzz_wrap) -Wl,--wrap=calloc \
	-fsanitize=fuzzer

$(BUILD)/fuzz/ornic_fuzz_nic: $(call nic_fuzz_objects,fuzz)
	$(call host_say,LD)$(nic_fuzz_link) $(host_san) -o $@ $^ -lz -lseccomp

$(BUILD)/fuzzfast/ornic_fuzz_nic: $(call nic_fuzz_objects,fuzzfast)
	$(call host_say,LD)$(nic_fuzz_link) $(fast_san) -o $@ $^ -lz -lseccomp

-include $(wildcard $(BUILD)/nic/*/*/*.d $(BUILD)/nicsan/*/*/*.d \
	$(BUILD)/nicsan/*/*/*/*.d)
