/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Frames for a guest whose device has flow rules, until it has its turn. */
#ifndef ORNIC_NIC_INBOX_H
#define ORNIC_NIC_INBOX_H

#include <deque>
#include <vector>

#include "frame.h"

namespace nic
{

struct inbound {
	sender from;
	packet_place place; // valid, if it is a RoCE packet
	frame data;
};

/**
 * Frames in the order of their arrival. A sender gets no more of the room than is left
 * for others: alone it fills half, and the next one finds half of the rest.
 */
class inbox {
public:
	bool empty() const
	{
		return frames_.empty();
	}

	/** Put a copy in. False: no room. */
	bool put(bytes f, const packet_place &place, sender from)
	{
		use &mine = of(from);

		if (mine.frames >= max_frames - all_.frames ||
		    mine.bytes + f.size() > max_bytes - all_.bytes)
			return false;
		for (use *u : { &mine, &all_ }) {
			u->frames++;
			u->bytes += f.size();
		}
		frames_.push_back({ from, place, frame(f.begin(), f.end()) });
		return true;
	}

	/** Take the oldest one; there is one. */
	inbound take()
	{
		inbound in = std::move(frames_.front());

		frames_.pop_front();
		for (use *u : { &of(in.from), &all_ }) {
			u->frames--;
			u->bytes -= in.data.size();
		}
		return in;
	}

private:
	static constexpr std::size_t max_frames = 2048;
	static constexpr std::size_t max_bytes = 16 << 20;

	struct use {
		std::size_t frames;
		std::size_t bytes;
	};

	use &of(sender from)
	{
		std::size_t i =
			from.index * makers + static_cast<std::size_t>(from.by);

		if (i >= of_.size())
			of_.resize(i + 1);
		return of_[i];
	}

	std::deque<inbound> frames_;
	use all_{};
	std::vector<use> of_; // [sender]
};

} // namespace nic

#endif // ORNIC_NIC_INBOX_H
