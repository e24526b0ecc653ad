# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The rdma-core provider: `make provider install-provider uninstall-provider
# check-provider unit-provider load-provider`, for the rdma-core that is installed or
# for others; `make rdma-core`.

PROVIDER_DIR := userspace-provider
PROVIDER_OUT := $(BUILD)/provider
PROVIDER_RDMA_CORE := $(word 3,$(subst ., ,$(shell \
	$(PKG_CONFIG) --modversion libibverbs 2>/dev/null)))
PROVIDER_PABIS := 34 57 59 64 65
PROVIDER_NEWEST := 65
# The private ABI of that release: the last one that is not newer.
PROVIDER_PABI := $(lastword $(foreach pabi,$(PROVIDER_PABIS),$(if $(filter \
	$(shell seq $(pabi) $(PROVIDER_NEWEST)),$(PROVIDER_RDMA_CORE)),$(pabi))))
# What is built: for the rdma-core that is installed; PABI=59 or PABI=all
PROVIDER_FOR := $(if $(filter all,$(PABI)),$(PROVIDER_PABIS),$(or $(PABI), \
	$(PROVIDER_PABI)))
# For another release, nothing is built; that is no reason not to have modules.
PROVIDER_REFUSED := $(if $(PROVIDER_RDMA_CORE),$(if $(PROVIDER_FOR),,no \
	provider for rdma-core $(PROVIDER_RDMA_CORE): it is for 34 to \
	$(PROVIDER_NEWEST)))
PROVIDER_LIBS := $(PROVIDER_FOR:%=$(PROVIDER_OUT)/libornic-rdmav%.so)
PROVIDER_SRC := $(sort $(wildcard $(PROVIDER_DIR)/*.cc))
# All but provider.cc, which registers with one private ABI.
PROVIDER_OBJ := $(patsubst $(PROVIDER_DIR)/%.cc,$(PROVIDER_OUT)/%.o, \
	$(filter-out %/provider.cc,$(PROVIDER_SRC)))
PROVIDER_REGISTER := $(PROVIDER_PABIS:%=$(PROVIDER_OUT)/provider-%.o)
PROVIDER_STUBS := $(PROVIDER_PABIS:%=$(PROVIDER_OUT)/stub/%/libibverbs.so)
PROVIDER_TEST_SRC := $(sort $(wildcard $(PROVIDER_DIR)/test/*.cc))

# Wherever it is built, the same comes out, of the link as well.
PROVIDER_FILES = -ffile-prefix-map=$(CURDIR)=. -frandom-seed=$(@F)
# No libstdc++ at run time: every verbs program on the machine loads this.
PROVIDER_STD := -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
	-Iuapi -D_GNU_SOURCE
PROVIDER_CXXFLAGS = $(PROVIDER_STD) -O2 -g -fPIC -flto -fno-exceptions -fno-rtti \
	-fno-threadsafe-statics -fvisibility=hidden $(PROVIDER_FILES) $(HARDENING) \
	$(CPPFLAGS) $(CXXFLAGS)
PROVIDER_LDFLAGS = -shared -Wl,--no-undefined -Wl,--as-needed \
	$(HARDENING_LINK) -Wl,--version-script=$(PROVIDER_DIR)/ornic.map \
	$(LDFLAGS)
# Without libibverbs-dev, which may be gone when the provider has to go: Debian's.
PROVIDER_LIBDIR = $(or $(shell $(PKG_CONFIG) --variable=libdir libibverbs \
	2>/dev/null),/usr/lib/$(shell $(CC) -print-multiarch))/libibverbs
PROVIDER_CONFDIR := /etc/libibverbs.d
PROVIDER_MANDIR := /usr/share/man/man7

.PHONY: provider install-provider uninstall-provider check-provider \
	unit-provider load-provider rdma-core rdma-core-test provider-headers provider-name

ifneq ($(PROVIDER_REFUSED),)
# As part of a bigger goal it is a remark, asked for alone it is an error.
provider install-provider:
	@echo '$(strip $(PROVIDER_REFUSED))' >&2; \
		exit $(words $(filter $@,$(MAKECMDGOALS)))

provider-headers:
	@echo '$(strip $(PROVIDER_REFUSED))' >&2; exit 1
else
provider: provider-headers $(PROVIDER_LIBS)

provider-headers:
	@$(PKG_CONFIG) --exists libibverbs || \
		{ echo 'no libibverbs headers: apt-get install libibverbs-dev' >&2; exit 1; }

install-provider: provider
	install -d $(DESTDIR)$(PROVIDER_LIBDIR) $(DESTDIR)$(PROVIDER_CONFDIR) \
		$(DESTDIR)$(PROVIDER_MANDIR)
	install -m 644 $(PROVIDER_LIBS) $(DESTDIR)$(PROVIDER_LIBDIR)/
	echo 'driver ornic' >$(PROVIDER_OUT)/ornic.driver
	install -m 644 $(PROVIDER_OUT)/ornic.driver $(DESTDIR)$(PROVIDER_CONFDIR)/
	install -m 644 $(PROVIDER_DIR)/ornic.7 $(DESTDIR)$(PROVIDER_MANDIR)/
endif

# What libibverbs of PROVIDER_RDMA_CORE looks for.
provider-name:
	@echo $(notdir $(PROVIDER_LIBS))

# The headers are part of what objects depend on.
$(PROVIDER_OUT)/rdma-core: provider-headers
	@mkdir -p $(@D)
	@echo '$(PROVIDER_RDMA_CORE)' | cmp -s - $@ || \
		echo '$(PROVIDER_RDMA_CORE)' > $@

define compile_provider
	$(call host_say,CXX)$(CXX) $(PROVIDER_CXXFLAGS) -MMD -MP -c -o $@ $<
endef

$(PROVIDER_OUT)/%.o: $(PROVIDER_DIR)/%.cc $(PROVIDER_OUT)/rdma-core
	$(compile_provider)

$(PROVIDER_REGISTER): PROVIDER_CXXFLAGS += -DORNIC_PABI=$(@:$(PROVIDER_OUT)/provider-%.o=%)
$(PROVIDER_REGISTER): $(PROVIDER_DIR)/provider.cc $(PROVIDER_OUT)/rdma-core
	$(compile_provider)

# A libibverbs to link with where another one is installed: what those releases
# have of what we call, by the record.
$(PROVIDER_STUBS): $(PROVIDER_OUT)/stub/%/libibverbs.so: \
		$(wildcard $(PROVIDER_DIR)/abi/*.facts) $(PROVIDER_DIR)/abi/stub.awk
	@mkdir -p $(@D)
	@grep -lx 'pabi: $*' $(filter %.facts,$^) | xargs cat | \
		awk -v pabi=$* -v map=$(@D)/map -f $(PROVIDER_DIR)/abi/stub.awk \
			>$(@D)/stub.c
	$(call host_say,LD)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) \
		-shared -fPIC -Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script=$(@D)/map -o $@ $(@D)/stub.c

$(PROVIDER_PABIS:%=$(PROVIDER_OUT)/libornic-rdmav%.so): \
		$(PROVIDER_OUT)/libornic-rdmav%.so: $(PROVIDER_OBJ) \
		$(PROVIDER_OUT)/provider-%.o \
		$(PROVIDER_OUT)/stub/%/libibverbs.so $(PROVIDER_DIR)/ornic.map
	$(call host_say,LD)$(CXX) $(PROVIDER_FILES) $(PROVIDER_LDFLAGS) -o $@ $(filter %.o,$^) \
		$(if $(filter $*,$(PROVIDER_PABI)),-libverbs,$(filter %.so,$^))

-include $(PROVIDER_OBJ:.o=.d) $(PROVIDER_REGISTER:.o=.d)

# The drop-in: the provider as a part of RDMA_CORE_SRC, a tree of rdma-core. Its own
# build then makes libornic-rdmavNN.so beside the other providers.
PROVIDER_TREE = $(RDMA_CORE_SRC)/providers/ornic

rdma-core:
	@test -f '$(RDMA_CORE_SRC)/libibverbs/driver.h' || \
		{ echo 'RDMA_CORE_SRC=DIR is to be a tree of rdma-core' >&2; exit 1; }
	install -d $(PROVIDER_TREE)/rdma
	install -m 644 $(PROVIDER_SRC) $(wildcard $(PROVIDER_DIR)/*.h) \
		$(PROVIDER_DIR)/CMakeLists.txt $(PROVIDER_DIR)/ornic.7 \
		$(PROVIDER_TREE)/
	install -m 644 uapi/rdma/*.h $(PROVIDER_TREE)/rdma/
	grep -q 'providers/ornic)' $(RDMA_CORE_SRC)/CMakeLists.txt || \
		sed -i '/^add_subdirectory(providers\/rxe)/i add_subdirectory(providers/ornic)' \
			$(RDMA_CORE_SRC)/CMakeLists.txt

# The tests of that tree on its own libraries, in a guest. The tree is built in place with
# Debian's Python, which is what the guest runs; links that leave it are followed, as the
# guest has another /tmp. With libdrm-dev, its tests of dma-bufs can run.
PROVIDER_TRIED = $(BUILD)/rdma-core-tree
PROVIDER_TREE_BUILD = $(RDMA_CORE_SRC)/build
PROVIDER_TREE_ENV := PATH=/usr/sbin:/usr/bin:/sbin:/bin

# pyverbs calls a method of C as if it were one of Python, once it has registered a dma-buf
# (with libdrm-dev; seen with Cython 0.29). A tree that is mended stays as it is.
PYVERBS_MR = $(RDMA_CORE_SRC)/pyverbs/mr.pyx

rdma-core-test: rdma-core modules-stock programs
	! grep -q '^ *dmabuf\.add_ref(self)' $(PYVERBS_MR) || \
		sed -i 's/^\( *\)dmabuf\.add_ref(self)/\1(<DmaBuf>dmabuf).add_ref(self)/' \
			$(PYVERBS_MR)
	$(PROVIDER_TREE_ENV) cmake -S $(RDMA_CORE_SRC) -B $(PROVIDER_TREE_BUILD) \
		-GNinja -DIN_PLACE=1 -DNO_MAN_PAGES=1 \
		-DPYTHON_EXECUTABLE=/usr/bin/python3 -DPython_EXECUTABLE=/usr/bin/python3
	$(PROVIDER_TREE_ENV) ninja -C $(PROVIDER_TREE_BUILD)
	rm -rf $(PROVIDER_TRIED)
	mkdir -p $(PROVIDER_TRIED)
	cp -rL $(PROVIDER_TREE_BUILD)/lib $(PROVIDER_TREE_BUILD)/python \
		$(RDMA_CORE_SRC)/tests $(PROVIDER_TRIED)/
	$(RUN) --kernel stock trees

uninstall-provider:
	rm -f $(DESTDIR)$(PROVIDER_LIBDIR)/libornic-rdmav*.so \
		$(DESTDIR)$(PROVIDER_CONFDIR)/ornic.driver \
		$(DESTDIR)$(PROVIDER_MANDIR)/ornic.7

# Rings and records on plain memory, under ASan and UBSan.
PROVIDER_UNIT_OBJ := $(patsubst $(PROVIDER_DIR)/test/%.cc, \
	$(PROVIDER_OUT)/test/%.o,$(PROVIDER_TEST_SRC)) \
	$(addprefix $(PROVIDER_OUT)/test/,clock.o comp_cntr.o context.o cq.o \
	cq_ex.o cq_ring.o dm.o doorbell.o domain.o flow.o import.o library.o match.o objects.o \
	qp.o rwq.o srq.o tags.o work_queue.o wr.o)
PROVIDER_UNIT_FLAGS = $(PROVIDER_STD) -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all -I$(PROVIDER_DIR) \
	-DORNIC_PABI=$(PROVIDER_PABI) \
	-DORNIC_ABI_RECORD='"$(PROVIDER_DIR)/abi"'

define compile_provider_unit
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(PROVIDER_UNIT_FLAGS) $(1) -MMD -MP -c -o $@ $<
endef

# The tests themselves compile in half of the time without optimisation.
$(PROVIDER_OUT)/test/%.o: $(PROVIDER_DIR)/test/%.cc $(PROVIDER_OUT)/rdma-core
	$(call compile_provider_unit,-O0)

$(PROVIDER_OUT)/test/%.o: $(PROVIDER_DIR)/%.cc $(PROVIDER_OUT)/rdma-core
	$(call compile_provider_unit,-O1)

$(PROVIDER_OUT)/test/unit: $(PROVIDER_UNIT_OBJ)
	$(call host_say,LD)$(CXX) -fsanitize=address,undefined -o $@ $^ -lgtest_main -lgtest \
		-libverbs -lpthread

-include $(PROVIDER_UNIT_OBJ:.o=.d)

# A device of the provider on real libibverbs, with a kernel that is simulated: on that
# which is installed, and on those in the folders RDMA_CORE_LIBS. Then, whether it
# registers with releases that are played by the record.
$(PROVIDER_OUT)/test/load: $(PROVIDER_DIR)/test/load/load.cc $(PROVIDER_DIR)/pabi.h
	@mkdir -p $(@D)
	$(call host_say,CXX)$(CXX) $(PROVIDER_STD) -O1 -g -I$(PROVIDER_DIR) -rdynamic -o $@ $< -libverbs

load-provider: $(PROVIDER_OUT)/test/load provider
	@for dir in "" $(RDMA_CORE_LIBS); do \
		echo "libibverbs $$dir"; \
		LD_LIBRARY_PATH=$$dir $< $(PROVIDER_OUT)/libornic || exit; \
	done
	@$(PROVIDER_DIR)/test/releases $(PROVIDER_OUT)

unit-provider: $(PROVIDER_OUT)/test/unit load-provider
	$< --gtest_brief=1

# What the libraries need and what they export; and whether all users can read what is
# installed.
PROVIDER_TRIED_ROOT := $(PROVIDER_OUT)/root

check-provider: provider
	@for lib in $(PROVIDER_LIBS); do \
		needed=$$(readelf -d $$lib | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | \
			grep -v '^ld-linux' | sort | tr '\n' ' '); \
		test "$$needed" = 'libc.so.6 libibverbs.so.1 ' || \
			{ echo "$$lib needs $$needed" >&2; exit 1; }; \
		exported=$$(nm -D --defined-only $$lib); \
		test -z "$$exported" || \
			{ echo "$$lib exports $$exported" >&2; exit 1; }; \
	done
	@rm -rf $(PROVIDER_TRIED_ROOT)
	@umask 077; $(MAKE) -s install-provider DESTDIR=$(PROVIDER_TRIED_ROOT)
	@hidden=$$(find $(PROVIDER_TRIED_ROOT)/* ! -perm -044); test -z "$$hidden" || \
		{ echo "not for all users: $$hidden" >&2; exit 1; }
