# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# `make deb`: Debian packages of what git knows, in build/deb; lintian must be silent.
# `make rpm`: packages of rpmbuild, in build/rpm.
# `make deb-guests`: the Debian packages in bare guests, see packaging/try-guest.
# `make deb-piuparts`: install and purge them in a chroot, see packaging/piuparts.
# `make deb-reproducible`: build them twice, in other circumstances, and compare.
# `make dkms-source`: the sources that DKMS builds, in /usr/src.

.PHONY: deb rpm deb-guests deb-piuparts deb-reproducible dkms-source

DEB := $(BUILD)/deb
DEB_TREE := $(DEB)/ornic-$(VERSION)
# What the packages are built from: the index, and what differs from it
deb_sources = { git ls-files -s; git diff; } | sha256sum
# Before what tries them
define need_deb
	+@[ "$$(cat $(DEB)/sources 2>/dev/null)" = "$$($(deb_sources))" ] || \
		$(MAKE) deb
endef

deb:
	$(call need_packages,dpkg-dev lintian)
	rm -rf $(DEB)
	@mkdir -p $(DEB_TREE)
	@$(deb_sources) >$(DEB)/sources.new
	git ls-files -z | tar -c --null -T - | tar -x -C $(DEB_TREE)
	cd $(DEB_TREE) && dpkg-buildpackage --no-sign $(DEB_OPTIONS)
	lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file \
		$(DEB)/*.changes
	@mv $(DEB)/sources.new $(DEB)/sources

RPM := $(BUILD)/rpm

rpm:
	$(call need_packages,rpm)
	rm -rf $(RPM)
	@mkdir -p $(RPM)/SOURCES
	git ls-files -z | tar -czf $(RPM)/SOURCES/ornic-$(VERSION).tar.gz --null \
		--transform 's,^,ornic-$(VERSION)/,' -T -
	rpmbuild --nodeps -bb --define '_topdir $(RPM)' packaging/rpm/ornic.spec

# Steps that are done are kept, so this can be called again.
deb-guests:
	$(call need_packages,mmdebstrap qemu-system-x86)
	$(need_deb)
	for suite in bookworm trixie sid; do packaging/try-guest $$suite || exit; done

deb-piuparts:
	$(call need_packages,mmdebstrap piuparts)
	$(need_deb)
	packaging/piuparts

deb-reproducible:
	$(call need_packages,dpkg-dev faketime)
	packaging/reproduce $(BUILD)/reproduce

# As the packages have them: without the suites, which Kbuild would build, too.
DKMS_SOURCE := $(DESTDIR)/usr/src/ornic-$(VERSION)

dkms-source:
	install -d $(DKMS_SOURCE)
	rsync -rt --delete --delete-excluded --prune-empty-dirs --chmod=D755,F644 \
		--include='*/' --include='*.[ch]' --exclude='*' driver uapi $(DKMS_SOURCE)/
	install -m 644 Kbuild VERSION dkms.conf $(DKMS_SOURCE)/
