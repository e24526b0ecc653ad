# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# `make deb`: Debian packages of what git knows, in build/deb; lintian must be silent.

.PHONY: deb

DEB := $(BUILD)/deb
DEB_TREE := $(DEB)/ornic-$(VERSION)

deb:
	$(call need_packages,dpkg-dev lintian)
	rm -rf $(DEB)
	@mkdir -p $(DEB_TREE)
	git ls-files -z | rsync -a --from0 --files-from=- ./ $(DEB_TREE)/
	cd $(DEB_TREE) && dpkg-buildpackage --no-sign $(DEB_OPTIONS)
	lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file \
		$(DEB)/*.changes
