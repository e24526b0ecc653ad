/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Scenes that are played on the wire and in memory, and what they tell. */
#ifndef ORNIC_LOOP_STORY_H
#define ORNIC_LOOP_STORY_H

#include "suite_fixture.h"

#define ORNIC_STORY_NOTES 128

/* What happened; of what may differ (QPNs, addresses), whether it is right. */
struct ornic_note {
	u8 where; /* CQ: 0 a send, 1 a recv, 2 b send, 3 b recv */
	u8 opcode;
	u8 status;
	u8 flags;
	u32 index;
	u32 bytes;
	u32 imm;
	u32 grh; /* checksum of what does not differ */
	u16 vlan;
	u8 sl;
	u8 sgid_index;
	bool from_a; /* source QPN */
	bool smac_of_a;
	bool ips_fit; /* addresses and checksum */
};

struct ornic_story {
	struct ornic_note note[ORNIC_STORY_NOTES];
	u32 notes;
	u32 psn[4];
	u8 state[2];
	u32 events[ORNIC_TH_EVENT_TYPES];
	u32 memory[2];
};

/**
 * struct ornic_loop_test - test->priv of a suite of scenes
 * @fix: is made anew for each way to play
 * @told: by the wire, and by another way
 */
struct ornic_loop_test {
	struct ornic_fixture fix;
	struct ornic_story told[2];
};

static_assert(offsetof(struct ornic_loop_test, fix) == 0);

/**
 * struct ornic_scene - what two QPs do
 * @desc: says it
 * @type: of the QPs
 * @act: does it
 * @rnr_retry: of a
 * @max_dest: READs and atomics that b takes at once
 * @good: work requests of a that succeed
 * @prepare: changes the fixture's QPs in RESET, NULL = nothing; a status
 */
struct ornic_scene {
	const char *desc;
	u8 type;
	void (*act)(struct ornic_fixture *fix);
	u8 rnr_retry;
	u8 max_dest;
	u8 good;
	int (*prepare)(struct ornic_fixture *fix);
};

/* Play @scene on the wire, and in memory in all ways there are: one story. */
void ornic_scene_compare(struct kunit *test, const struct ornic_scene *scene);

#endif /* ORNIC_LOOP_STORY_H */
