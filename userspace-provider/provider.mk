# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The rdma-core provider: `make provider install-provider uninstall-provider
# check-provider unit-provider`. Built for the rdma-core that is installed.

PROVIDER_DIR := userspace-provider
PROVIDER_OUT := $(BUILD)/provider
PROVIDER_RDMA_CORE := $(word 3,$(subst ., ,$(shell \
	pkg-config --modversion libibverbs 2>/dev/null)))
PROVIDER_PABI := $(if $(filter 57 58,$(PROVIDER_RDMA_CORE)),57,34)
# Of another release, nothing is built; that is no reason not to have modules.
PROVIDER_REFUSED := $(if $(PROVIDER_RDMA_CORE),$(if $(filter \
	$(shell seq 34 58),$(PROVIDER_RDMA_CORE)),,no provider for rdma-core \
	$(PROVIDER_RDMA_CORE): it is for 34 to 58))
PROVIDER_LIB := $(PROVIDER_OUT)/libornic-rdmav$(PROVIDER_PABI).so
PROVIDER_SRC := $(sort $(wildcard $(PROVIDER_DIR)/*.cc))
PROVIDER_OBJ := $(PROVIDER_SRC:$(PROVIDER_DIR)/%.cc=$(PROVIDER_OUT)/%.o)
PROVIDER_TEST_SRC := $(sort $(wildcard $(PROVIDER_DIR)/test/*.cc))

# What distributions build with; CPPFLAGS, CXXFLAGS and LDFLAGS come last.
PROVIDER_HARDENING = -fstack-protector-strong -ffile-prefix-map=$(CURDIR)=. \
	$(if $(filter x86_64%,$(shell $(CXX) -dumpmachine)),-fcf-protection) \
	$(if $(findstring FORTIFY_SOURCE,$(CPPFLAGS) $(CXXFLAGS)),, \
		-D_FORTIFY_SOURCE=2)
# No libstdc++ at run time: every verbs program on the machine loads this.
PROVIDER_STD := -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
	-Iuapi -D_GNU_SOURCE
PROVIDER_CXXFLAGS = $(PROVIDER_STD) -O2 -g -fPIC -flto -fno-exceptions -fno-rtti \
	-fno-threadsafe-statics -fvisibility=hidden \
	-DORNIC_RDMA_CORE=$(PROVIDER_RDMA_CORE) $(PROVIDER_HARDENING) \
	$(CPPFLAGS) $(CXXFLAGS)
PROVIDER_LDFLAGS = -shared -Wl,--no-undefined -Wl,--as-needed \
	-Wl,-z,relro,-z,now -Wl,--version-script=$(PROVIDER_DIR)/ornic.map \
	$(LDFLAGS)
# Without libibverbs-dev, which may be gone when the provider has to go: Debian's.
PROVIDER_LIBDIR = $(or $(shell pkg-config --variable=libdir libibverbs \
	2>/dev/null),/usr/lib/$(shell $(CC) -print-multiarch))/libibverbs
PROVIDER_CONFDIR := /etc/libibverbs.d
PROVIDER_MANDIR := /usr/share/man/man7

.PHONY: provider install-provider uninstall-provider check-provider \
	unit-provider provider-headers provider-name

ifneq ($(PROVIDER_REFUSED),)
# As part of a bigger goal it is a remark, asked for alone it is an error.
provider install-provider:
	@echo '$(strip $(PROVIDER_REFUSED))' >&2; \
		exit $(words $(filter $@,$(MAKECMDGOALS)))

provider-headers:
	@echo '$(strip $(PROVIDER_REFUSED))' >&2; exit 1
else
provider: $(PROVIDER_LIB)

provider-headers:
	@pkg-config --exists libibverbs || \
		{ echo 'no libibverbs headers: apt-get install libibverbs-dev' >&2; exit 1; }

install-provider: provider
	install -d $(DESTDIR)$(PROVIDER_LIBDIR) $(DESTDIR)$(PROVIDER_CONFDIR) \
		$(DESTDIR)$(PROVIDER_MANDIR)
	install -m 644 $(PROVIDER_LIB) $(DESTDIR)$(PROVIDER_LIBDIR)/
	echo 'driver ornic' > $(DESTDIR)$(PROVIDER_CONFDIR)/ornic.driver
	install -m 644 $(PROVIDER_DIR)/ornic.7 $(DESTDIR)$(PROVIDER_MANDIR)/
endif

# What libibverbs of PROVIDER_RDMA_CORE looks for.
provider-name:
	@echo $(notdir $(PROVIDER_LIB))

# The release is part of what objects depend on: another one, another layout.
$(PROVIDER_OUT)/rdma-core: provider-headers
	@mkdir -p $(@D)
	@echo '$(PROVIDER_RDMA_CORE)' | cmp -s - $@ || \
		echo '$(PROVIDER_RDMA_CORE)' > $@

$(PROVIDER_OUT)/%.o: $(PROVIDER_DIR)/%.cc $(PROVIDER_OUT)/rdma-core
	@echo '  CXX     $<'
	@$(CXX) $(PROVIDER_CXXFLAGS) -MMD -MP -c -o $@ $<

$(PROVIDER_LIB): $(PROVIDER_OBJ) $(PROVIDER_DIR)/ornic.map
	@echo '  LD      $(@F)'
	@$(CXX) $(PROVIDER_LDFLAGS) -o $@ $(PROVIDER_OBJ) -libverbs

-include $(PROVIDER_OBJ:.o=.d)

uninstall-provider:
	rm -f $(DESTDIR)$(PROVIDER_LIBDIR)/libornic-rdmav*.so \
		$(DESTDIR)$(PROVIDER_CONFDIR)/ornic.driver \
		$(DESTDIR)$(PROVIDER_MANDIR)/ornic.7

# Rings and records on plain memory, under ASan and UBSan.
PROVIDER_UNIT_OBJ := $(patsubst $(PROVIDER_DIR)/test/%.cc, \
	$(PROVIDER_OUT)/test/%.o,$(PROVIDER_TEST_SRC)) \
	$(addprefix $(PROVIDER_OUT)/test/,clock.o cq.o cq_ex.o cq_ring.o doorbell.o \
	domain.o import.o match.o qp.o version.o work_queue.o wr.o)
PROVIDER_UNIT_FLAGS = $(PROVIDER_STD) -O1 -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all -I$(PROVIDER_DIR) \
	-DORNIC_RDMA_CORE=$(PROVIDER_RDMA_CORE) \
	-DORNIC_ABI_RECORD='"$(PROVIDER_DIR)/abi"'

define compile_provider_unit
	@mkdir -p $(@D)
	@echo '  CXX     $< (unit)'
	@$(CXX) $(PROVIDER_UNIT_FLAGS) -MMD -MP -c -o $@ $<
endef

$(PROVIDER_OUT)/test/%.o: $(PROVIDER_DIR)/test/%.cc $(PROVIDER_OUT)/rdma-core
	$(compile_provider_unit)

$(PROVIDER_OUT)/test/%.o: $(PROVIDER_DIR)/%.cc $(PROVIDER_OUT)/rdma-core
	$(compile_provider_unit)

$(PROVIDER_OUT)/test/unit: $(PROVIDER_UNIT_OBJ)
	@echo '  LD      $(@F) (provider)'
	@$(CXX) -fsanitize=address,undefined -o $@ $^ -lgtest_main -lgtest \
		-libverbs -lpthread

-include $(PROVIDER_UNIT_OBJ:.o=.d)

unit-provider: $(PROVIDER_OUT)/test/unit
	$< --gtest_brief=1

# What the library needs and what it exports.
check-provider: provider
	@needed=$$(readelf -d $(PROVIDER_LIB) | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | \
		grep -v '^ld-linux' | sort | tr '\n' ' '); \
	test "$$needed" = 'libc.so.6 libibverbs.so.1 ' || \
		{ echo "$(PROVIDER_LIB) needs $$needed" >&2; exit 1; }
	@exported=$$(nm -D --defined-only $(PROVIDER_LIB)); \
	test -z "$$exported" || \
		{ echo "$(PROVIDER_LIB) exports $$exported" >&2; exit 1; }
