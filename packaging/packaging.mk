# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# `make deb`: Debian packages of what git knows, in build/deb; lintian must be silent.
# `make rpm`: packages of rpmbuild, in build/rpm.
# `make deb-guests`: the Debian packages in bare guests, see packaging/try-guest.
# `make deb-piuparts`: install and purge them in a chroot, see packaging/piuparts.
# `make deb-reproducible`: build them twice, in other circumstances, and compare.

.PHONY: deb rpm deb-guests deb-piuparts deb-reproducible

DEB := $(BUILD)/deb
DEB_TREE := $(DEB)/ornic-$(VERSION)

deb:
	$(call need_packages,dpkg-dev lintian)
	rm -rf $(DEB)
	@mkdir -p $(DEB_TREE)
	git ls-files -z | tar -c --null -T - | tar -x -C $(DEB_TREE)
	cd $(DEB_TREE) && dpkg-buildpackage --no-sign $(DEB_OPTIONS)
	lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file \
		$(DEB)/*.changes

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
	@ls $(DEB)/*.deb >/dev/null 2>&1 || $(MAKE) deb
	for suite in bookworm trixie sid; do packaging/try-guest $$suite || exit; done

deb-piuparts:
	$(call need_packages,mmdebstrap piuparts)
	@ls $(DEB)/*.deb >/dev/null 2>&1 || $(MAKE) deb
	packaging/piuparts

deb-reproducible:
	$(call need_packages,dpkg-dev faketime)
	packaging/reproduce $(BUILD)/reproduce
