// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder: resp.c, resp_tx.c and reorder.c of the engine. What it executes is
 * counted, so that each thing happens once and in order.
 */

byte epsn;
bit nak_sent;
bit nak_known; /* it was for this gap, and not an RNR NAK */
bit nak_at; /* a NAK is due when its packet is late */
byte posted = POSTED; /* receives */
byte memory; /* the atomics count in it */
short kept, kept_ack; /* packets, and those with AckReq */
short kept_part; /* READs of less than all */

hidden byte due, due_psn, due_kept; /* the ACK or NAK that ends the event */
hidden byte verdict; /* of the last request that was executed */
hidden byte i;

#define NONE 9

inline resp_reset()
{
	epsn = 0;
	nak_sent = 0;
	nak_known = 0;
	nak_at = 0;
	posted = POSTED;
	memory = 0;
	kept = 0;
	kept_ack = 0;
	kept_part = 0
}

inline respond(type, c, value)
{
	assert(len(rev) < ROOM);
	rev!type,c,value
}

inline send_read(c, count)
{
	i = 0;
	do
	:: i < count -> respond(DATA, c + i, i + 1 == count); i++
	:: else -> break
	od
}

/* IBTA C9-116: one NAK for a gap, unless the requester asks. */
inline nak_now()
{
	assert(!nak_known || pa);
#if MUTANT != 3 /* a NAK for each packet after a gap */
	nak_sent = 1;
#endif
	nak_known = 1;
	nak_at = 0;
	aged = 0;
	due = NAK;
	due_psn = epsn
}

inline nak_gap()
{
	if
	:: NAK_DELAY && kept && !slow -> nak_at = 1
	:: else -> nak_now()
	fi
}

/* The packet c, which is the one expected. */
inline execute(c, count, ack)
{
	m = owner[c];
	assert(c == epsn);
	nak_sent = 0;
	verdict = ACK;
	if
	:: kind[m] == SEND && c == first[m] && sends[m] >= posted ->
		nak_sent = 1;
		nak_known = 0;
		verdict = RNR;
		due = RNR;
		due_psn = c
	:: kind[m] == READ ->
		assert(c == first[m] && count == LEN(m));
		verdict = DATA;
		epsn = epsn + count;
		nak_known = 0;
		send_read(c, count)
	:: kind[m] == ATOMIC ->
		verdict = RESULT;
		epsn++;
		nak_known = 0;
		respond(RESULT, c, memory);
		memory++
	:: else ->
		epsn++;
		nak_known = 0;
		due = (ack -> ACK : due);
		due_psn = (ack -> c : due_psn)
	fi
}

/*
 * The response again, if its resource is one of the last MAXRD.
 */
inline replay_rd(c)
{
	m = owner[c];
	n = atoms[owner[epsn]] + reads[owner[epsn]] - atoms[m] - reads[m];
	if
#if MUTANT == 14 /* one resource less than the requester may use */
	:: n >= MAXRD
#else
	:: n > MAXRD
#endif
	:: else ->
		if
#if MUTANT == 1 /* an atomic that comes again is executed again */
		:: kind[m] == ATOMIC ->
			respond(RESULT, c, memory); memory++
#else
		:: kind[m] == ATOMIC -> respond(RESULT, c, atoms[m])
#endif
		:: kind[m] == READ && c + pn <= first[m + 1] ->
			send_read(c, pn)
		:: else
		fi
	fi
}

inline duplicate()
{
	if
	:: IS_FETCH(owner[pc]) -> replay_rd(pc)
	:: !IS_FETCH(owner[pc]) && (pa || pc + 1 == epsn) ->
#if MUTANT == 2 /* what came twice is not acknowledged again */
		skip
#else
		due = ACK;
		due_psn = epsn - 1
#endif
	:: else
	fi
}

#define IS_PART(c, count) (kind[owner[c]] == READ && \
	((c) != first[owner[c]] || (count) != LEN(owner[c])))

inline keep()
{
	was_missing = STANDARD == 0 && kept >> (pc + 1);
	if
	:: STANDARD != 1 && pc - epsn <= KEEP && !(kept & BIT(pc)) ->
		kept = kept | BIT(pc);
		kept_ack = (pa -> kept_ack | BIT(pc) : kept_ack);
		kept_part = (IS_PART(pc, pn) -> kept_part | BIT(pc) : kept_part);
#if MUTANT == 8 /* what is only kept is acknowledged */
		due = ACK;
		due_psn = pc;
#endif
	:: else
	fi;
	if
	:: !nak_sent -> nak_gap()
	:: nak_sent && STANDARD != 1 && pa && nak_known &&
	   (was_missing || slow) -> nak_now()
	:: else
	fi
}

/* All that is kept and not ahead any more. */
inline execute_due()
{
	do
	:: kept & BIT(epsn) ->
		x = epsn;
		assert(!(kept_part & BIT(x)));
		execute(x, LEN(owner[x]), kept_ack & BIT(x));
		kept = kept & ~BIT(x);
		if
		:: verdict == RNR -> break
		:: else
		fi
	:: else -> break
	od;
	kept = kept & ~BELOW(epsn);
	kept_ack = kept_ack & kept;
	kept_part = kept_part & kept;
	if
	:: verdict == ACK -> due = ACK; due_psn = epsn - 1
	:: else
	fi
}

inline reorder_run()
{
	filled = 0;
	if
	:: kept & BELOW(epsn + 1) ->
		filled = 1;
		nak_at = 0;
		verdict = NONE;
		execute_due()
	:: else
	fi;
	if
	:: kept && !nak_sent && (filled || nak_at) -> nak_gap()
	:: else
	fi
}

inline resp_run()
{
	due_kept = 0;
	if
	:: due == NAK && STANDARD == 0 ->
		due_kept = (kept >> (due_psn + 1)) & 127
	:: else
	fi;
	if
	:: due != NONE -> respond(due, due_psn, due_kept)
	:: else
	fi
}

inline resp_rx()
{
	due = NONE;
	d = DIFF(pc, epsn);
	if
	/* Older than a packet gets in a network. */
	:: pc + HALF < epsn
	:: pc + HALF >= epsn && d == 0 -> execute(pc, pn, pa)
	:: pc + HALF >= epsn && d < 0 -> assert(epsn + d == pc); duplicate()
	:: else -> assert(epsn + d == pc); keep()
	fi;
	if
	:: kept -> reorder_run()
	:: else
	fi;
	resp_run()
}

/* The packet of a gap is late. */
inline resp_expire()
{
	due = NONE;
	pa = 0;
	slow = 1;
	if
	:: kept -> reorder_run()
	:: else -> nak_at = 0
	fi;
	resp_run()
}

/* Does it make a difference for the request whether time has passed? */
#define is_slow_request() (pc > epsn && \
	(nak_sent && nak_known && pa || !nak_sent && NAK_DELAY == 1))
