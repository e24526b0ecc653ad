/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Methods of uverbs' ioctl that the provider calls itself, answered by tests. */
#ifndef ORNIC_TEST_FAKE_IOCTL_H
#define ORNIC_TEST_FAKE_IOCTL_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <rdma/rdma_user_ioctl_cmds.h>

namespace ornic::test
{

template <typename T> T read_at(const unsigned char *bytes, std::size_t offset)
{
	T value;

	std::memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/** Attribute @i of a message. */
inline ib_uverbs_attr attribute(const unsigned char *bytes, std::size_t i)
{
	return read_at<ib_uverbs_attr>(bytes,
				       sizeof(ib_uverbs_ioctl_hdr) +
					       i * sizeof(ib_uverbs_attr));
}

/** 0, or an errno; may change the message. */
using method_handler = int (*)(const ib_uverbs_ioctl_hdr &hdr,
			       unsigned char *bytes);

/** Let @handler, or none, answer the methods of @object. */
void answer_methods(std::uint16_t object, method_handler handler);

} // namespace ornic::test

#endif // ORNIC_TEST_FAKE_IOCTL_H
