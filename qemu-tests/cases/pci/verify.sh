# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check bytes, completions, errors and refusals of all verbs on the PCI
# NIC.

machines=nic
append=dma_debug=off # see local-attack.sh
limit=240
full_limit=300

requires() { need_ornic; }

run()
{
	# Of dma-bufs
	modprobe vgem 2>/dev/null || :
	modprobe -q ornic_dmabuf_exporter || :
	modprobe -q ornic_dmabuf_importer || :
	echo 2 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages || :
	topology nic
	verify
}
