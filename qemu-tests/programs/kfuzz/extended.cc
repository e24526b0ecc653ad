// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "extended.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "world.h"

void extended_command::add(std::span<const std::byte> bytes)
{
	const std::size_t n =
		std::min(bytes.size(), bytes_.size() - heads - used_);

	std::copy_n(bytes.begin(), n, bytes_.begin() + heads + used_);
	used_ += n;
}

bool extended_command::run(world &w, const call &c, std::span<std::byte> answer,
			   std::size_t driver)
{
	const std::size_t core = core_size_ ? core_size_ : used_;
	ib_uverbs_ex_cmd_hdr extended = {};
	ib_uverbs_cmd_hdr head = {};

	head.command = number_ | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	head.in_words = static_cast<uint16_t>(core / 8);
	head.out_words = static_cast<uint16_t>((answer.size() - driver) / 8);
	extended.response = reinterpret_cast<uint64_t>(answer.data());
	extended.provider_in_words = static_cast<uint16_t>((used_ - core) / 8);
	extended.provider_out_words = static_cast<uint16_t>(driver / 8);
	std::memcpy(bytes_.data(), &head, sizeof(head));
	std::memcpy(bytes_.data() + sizeof(head), &extended, sizeof(extended));
	if (!keep_)
		damage({ bytes_.data() + heads, used_ }, c.noise);
	const bool ok = write(w.files(c).verbs, bytes_.data(), heads + used_) ==
			static_cast<ssize_t>(heads + used_);

	w.count(c, ok);
	return ok;
}
