// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// How libibverbs finds this provider, and how it finds its devices.

#include <rdma/ornic-abi.h>

#include "context.h"
#include "library.h"
#include "match.h"
#include "resource.h"

namespace ornic
{
namespace
{

pabi_device *alloc_device(pabi_sysfs_dev * /* unused */) noexcept
{
	return make_object<pabi_device>().release();
}

void uninit_device(pabi_device *device) noexcept
{
	object_deleter()(device);
}

/*
 * By the modalias of the parent device; it stays when the RDMA device is
 * renamed. That of the soft device is our own. The ids of the PCI NIC may be
 * those of something else, so there the driver of the parent counts, too.
 */
const pabi_match_ent match_table[] = {
	{
		.driver_data = const_cast<char *>(pci_driver),
		.u = { .modalias = "pci:v00001AF4d00001110sv*" },
		.vendor = 0,
		.device = 0,
		.kind = PABI_MATCH_MODALIAS,
	},
	{
		.driver_data = nullptr,
		.u = { .modalias = soft_modalias },
		.vendor = 0,
		.device = 0,
		.kind = PABI_MATCH_MODALIAS,
	},
	{},
};

bool match_device(pabi_sysfs_dev *found) noexcept
{
	if (!found->match)
		return false;

	const auto *driver =
		static_cast<const char *>(found->match->driver_data);

	return !driver || parent_has_driver(found->ibdev_path, driver);
}

constinit const pabi_device_ops device_ops = {
	.name = "ornic",
	.match_min_abi_version = ORNIC_ABI_VERSION,
	.match_max_abi_version = ORNIC_ABI_VERSION,
	.match_table = match_table,
	.static_providers = nullptr,
	.match_device = match_device,
	.alloc_context = alloc_context,
	.import_context = import_context,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
};

/* Loading the library is registering it; libibverbs calls nothing by name. */
struct registration {
	registration() noexcept
	{
		library = find_library(ORNIC_PABI, verbs_set_ops);
		if (library)
			PABI_REGISTER(&device_ops);
		else
			warn_of_library(ORNIC_PABI, "/sys/class/infiniband");
	}
};

const registration registered;

} // namespace
} // namespace ornic
