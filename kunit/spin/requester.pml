// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester and completer: req.c, comp.c, gaps.c and retry.c of the engine. PSNs
 * are indices of packets; maps have a bit for each.
 */

byte tail; /* the oldest message that is not complete */
byte acked, psn, max_psn;
byte window = WINDOW;
byte retries = RETRIES, rnr_retries = RNR_RETRIES;
byte resends; /* timers since the last progress: none, probe, resend */
byte recover; /* max_psn at the last resend */
bit wait; /* of an RNR NAK */
bit nak_held;
byte err; /* why the QP is in error */
byte selective; /* of the peer: ASK, YES or NO */
bit open;
byte executed;
byte g_at, g_end;
short got, resent;
short placed; /* what the memory has of READs and atomics */
short asked; /* messages of which parts were asked for */

#define ASK 0
#define YES 1
#define NO 2

#define NO_RETRIES 1
#define NO_RNR_RETRIES 2

hidden byte end, from, limit;
hidden byte asks;

inline req_begin()
{
	selective = (STANDARD == 2 -> NO : ASK)
}

inline req_reset()
{
	tail = 0;
	acked = 0;
	psn = 0;
	max_psn = 0;
	window = WINDOW;
	retries = RETRIES;
	rnr_retries = RNR_RETRIES;
	resends = 0;
	recover = 0;
	wait = 0;
	nak_held = 0;
	err = 0;
	open = 0;
	executed = 0;
	g_at = 0;
	g_end = 0;
	got = 0;
	resent = 0;
	placed = 0;
	asked = 0
}

/* ---- completion ------------------------------------------------------------- */

inline fail(why)
{
	err = why;
	wait = 0;
	nak_held = 0;
	g_at = 0;
	g_end = 0
}

inline seek(to)
{
	psn = to
}

inline progress(to)
{
	window = (window + to - acked > WINDOW -> WINDOW : window + to - acked);
	got = got & ~BELOW(to);
	resent = resent & ~BELOW(to);
	acked = to;
	retries = RETRIES;
	rnr_retries = RNR_RETRIES;
	resends = 0;
	nak_held = 0;
	recover = (recover > to -> recover : 0)
}

/* A completion reports success only if the effect has happened. */
inline success()
{
	end = first[tail + 1];
	assert(epsn >= end);
	assert(!IS_FETCH(tail) ||
	       (placed & BELOW(end) & ~BELOW(first[tail])) ==
		       (BELOW(end) & ~BELOW(first[tail])));
	tail++;
	if
	:: end > acked -> progress(end)
	:: else
	fi;
	if
	:: end > psn -> seek(end)
	:: else
	fi
}

/* The peer has executed all before `to'; ok: no response is missing there. */
inline comp_up_to(to)
{
	ok = 1;
	do
	:: tail == NMSG || to <= acked -> break
	:: else ->
		if
#if MUTANT == 7 /* an ACK beyond a READ completes it */
		:: false
#else
		:: IS_FETCH(tail) -> ok = 0; break
#endif
		:: !IS_FETCH(tail) && first[tail + 1] > to ->
			progress(to);
			if
			:: to > psn -> seek(to)
			:: else
			fi;
			break
		:: else -> success()
		fi
	od
}

/* The place of a response is that of its PSN; the index is its content. */
inline place(i)
{
	assert(pc == i);
	m = owner[i];
	assert(pt == (kind[m] == READ -> DATA : RESULT));
	assert(pt != RESULT || pv == atoms[m]);
	assert(pt != DATA ||
	       (pv || i + 1 < first[m + 1]) &&
		       (i + 1 == first[m + 1] || !pv || asked & BIT(m)));
	placed = placed | BIT(i)
}

/* The response to the oldest PSN is in its place. */
inline comp_response()
{
	if
	:: kind[tail] == ATOMIC -> success()
	:: else ->
		progress(acked + 1);
		if
		:: acked == first[tail + 1] -> success()
		:: acked < first[tail + 1] && acked > psn -> seek(acked)
		:: else
		fi
	fi
}

/* ---- gaps.c ------------------------------------------------------------------- */

inline gaps_set(from_, to)
{
	g_at = from_;
	g_end = to;
	if
	:: g_at >= g_end -> g_at = 0; g_end = 0
	:: else
	fi
}

inline note_executed(to)
{
	if
	:: !open || to > executed -> open = 1; executed = to
	:: else
	fi
}

inline gaps_ask(from_, to)
{
	if
	:: slow -> resent = 0
	:: else
	fi;
	if
	:: g_at == g_end -> gaps_set(from_, to)
	:: else ->
		g_at = (from_ < g_at -> from_ : g_at);
		g_end = (to > g_end -> to : g_end)
	fi
}

inline gaps_probe()
{
	resent = 0;
	if
	:: open -> gaps_ask(acked, executed)
	:: !open && max_psn > acked -> gaps_ask(max_psn - 1, max_psn)
	:: !open && max_psn == acked -> assert(false)
	fi
}

inline mark(i)
{
	got = got | BIT(i);
	if
	:: resent & BIT(i) ->
		resent = resent & ~(BELOW(i) & ~BELOW(acked))
	:: else
	fi
}

/* Of the NAK of pc: what the peer keeps. limit: one past the last of it. */
inline gaps_sack()
{
	limit = pc + 1;
	n = 0;
	do
	:: n < 7 && pv & BIT(n) ->
		limit = pc + 1 + n;
		if
		:: limit >= acked && limit < max_psn && !IS_FETCH(owner[limit]) ->
			mark(limit)
		:: else
		fi;
		n++
	:: n < 7 && !(pv & BIT(n)) -> n++
	:: n == 7 -> break
	od
}

#define IS_EXECUTED(m) (acked > first[m] || open && executed > first[m])

#if MUTANT == 16 /* what the peer kept once it has for ever */
#define OLDEST(i) false
#else
#define OLDEST(i) ((i) == acked)
#endif

#define IS_MISSING(i) (!(resent & BIT(i)) && \
	(IS_FETCH(owner[i]) && !(got & BIT(i)) || \
	 !IS_FETCH(owner[i]) && (OLDEST(i) || \
		!(got & BIT(i)) && (!open || (i) >= executed))))

/* How many from `at' on go again in one packet: n. */
inline run_of()
{
	limit = (first[m + 1] < g_end -> first[m + 1] : g_end);
	limit = (kind[m] != READ && limit > at + 1 -> at + 1 : limit);
	n = 0;
	do
	:: at + n < limit ->
		if
		:: IS_MISSING(at + n) -> n++
		:: else -> break
		fi
	:: else -> break
	od
}

inline gaps_next()
{
	at = (g_at < acked -> acked : g_at);
	n = 0;
	do
	:: at >= g_end || at >= max_psn -> break
	:: else ->
		m = owner[at];
		if
#if MUTANT == 15 /* a part of a READ that the peer may not have executed */
		:: false
#else
		/* Mutant 18: again with every NAK. */
		:: IS_FETCH(m) && !IS_EXECUTED(m) &&
		   (MUTANT == 18 || !(resent & BIT(first[m]))) ->
			at = first[m]; n = LEN(m); break
		:: IS_FETCH(m) && !IS_EXECUTED(m) && MUTANT != 18 &&
		   resent & BIT(first[m]) ->
			at = first[m + 1]
#endif
		:: else ->
			run_of();
			if
			:: n -> break
			:: else -> at++
			fi
		fi
	od;
	if
	:: !n -> gaps_set(0, 0)
	:: else
	fi
}

/* ---- responses ---------------------------------------------------------------- */

inline begin_recovery()
{
	recover = max_psn
}

inline resend_from_oldest()
{
	if
	:: selective == YES ->
		resent = 0;
		gaps_ask(acked, acked + 1)
	:: else -> seek(acked)
	fi
}

inline resend_unacked()
{
	nak_held = 0;
	begin_recovery();
	resend_from_oldest()
}

inline retry_or_fail()
{
	if
	:: !retries -> fail(NO_RETRIES)
	:: else ->
#if MUTANT != 12 /* a timeout costs no retry */
		retries--;
#endif
		resend_unacked()
	fi
}

inline lost_packet(progressed_)
{
	if
	:: progressed_ && RETRIES -> resend_unacked()
	:: else -> retry_or_fail()
	fi
}

inline retry_gap(from_, to)
{
	if
	:: wait
	:: !wait && !RETRIES -> retry_or_fail()
#if STANDARD == 2
	/* Once, until there is progress. */
	:: !wait && RETRIES && recover <= from_ -> retry_or_fail()
	:: !wait && RETRIES && recover > from_
#else
	:: !wait && RETRIES ->
		if
		:: from_ >= recover -> begin_recovery()
		:: else
		fi;
		gaps_ask(from_, to)
#endif
	fi
}

inline ask_before(to)
{
	if
	:: to > acked -> retry_gap(acked, to)
	:: else
	fi
}

inline gaps_data(i)
{
	m = owner[i];
	if
#if STANDARD == 2
	:: IS_FETCH(m) -> ask_before(i)
#else
	:: IS_FETCH(m) ->
		note_executed(first[m + 1]);
		limit = (pt == RESULT || pv -> i : first[m]);
		if
		:: !(got & BIT(i)) -> place(i); mark(i)
		:: else
		fi;
#if MUTANT == 6 /* the last response of a READ completes it */
		if
		:: pv && m == tail -> success(); open = 0
		:: else
		fi;
#endif
		ask_before(limit)
#endif
	:: else
	fi
}

inline retry_nak(progressed_)
{
	if
	:: wait
	:: !wait && selective == YES ->
		gaps_sack();
#if MUTANT == 4 /* what a NAK names does not go again */
		from = pc + 1;
#else
		from = pc;
#endif
#if MUTANT == 5 /* what the peer keeps counts as executed */
		if
		:: limit > pc + 1 && limit <= max_psn -> comp_up_to(limit)
		:: else
		fi;
#endif
		retry_gap(from, limit)
	:: !wait && selective != YES ->
		if
		:: STANDARD != 2 && pc < recover && !slow -> nak_held = 1
		:: else -> lost_packet(progressed_)
		fi
	fi
}

inline retry_rnr()
{
	if
	:: !rnr_retries -> fail(NO_RNR_RETRIES)
	:: else ->
#if MUTANT != 17 /* an RNR NAK costs no retry */
		rnr_retries--;
#endif
		retries = RETRIES;
		g_at = 0;
		g_end = 0;
#if MUTANT == 13 /* what is refused counts as executed */
		progress(pc + 1);
#endif
		seek(acked);
		nak_held = 0;
		window = 1;
		wait = 1
	fi
}

inline gaps_ack(to)
{
#if STANDARD != 2
	note_executed(to);
	if
	:: pt != ACK && selective != YES -> seek(to)
	:: else
	fi;
#endif
	ask_before(to + (pt != ACK))
}

inline rx_ack()
{
	x = pc + (pt == ACK);
	y = acked;
	comp_up_to(x);
	if
	:: !ok -> gaps_ack(x)
	:: ok && pt == NAK -> retry_nak(y != acked)
	:: ok && pt == RNR && !wait -> retry_rnr()
	:: else
	fi
}

inline rx_data()
{
	x = pc;
	comp_up_to(x);
	if
	:: !ok -> gaps_data(x)
	:: ok && x == acked && tail < NMSG -> place(x); comp_response()
	:: else
	fi
}

inline gaps_advance()
{
	do
	:: err || !open -> break
	:: else ->
		comp_up_to(executed);
		if
		:: ok || !(got & BIT(acked)) -> break
		:: else -> comp_response()
		fi
	od;
	if
	:: open && executed <= acked -> open = 0; executed = 0
	:: else
	fi
}

/* What a NAK names is on the way again, or was within a round trip. */
#define IS_UNDER_WAY (act != RX_RESPONSE || pt != NAK || selective != YES || \
	pc != acked || wait || err || len(fwd) == ROOM || resent & BIT(pc))

inline comp_rx()
{
	d = DIFF(pc, acked);
	if
#if MUTANT == 9 /* a response of any age counts */
	:: tail == NMSG
#else
	:: d < 0 || acked + d >= max_psn || pc + HALF < acked
#endif
	:: else ->
		assert(acked + d == pc);
		if
		:: selective == ASK ->
			selective = (STANDARD -> NO : YES)
		:: else
		fi;
		if
		:: pt == DATA || pt == RESULT -> rx_data()
		:: else -> rx_ack()
		fi;
		gaps_advance()
	fi
}

/* ---- sending ------------------------------------------------------------------ */

/* The packet is the last before limit. */
inline send_packet(i, count, ack)
{
	fwd!i,count,ack;
	max_psn = (max_psn < limit -> limit : max_psn)
}

inline send_missing()
{
	gaps_next();
	if
	:: !n
	:: else ->
		asked = (IS_FETCH(m) -> asked | BIT(m) : asked);
		limit = at + n;
		pn = (kind[m] == READ -> n : 0);
		send_packet(at, pn, 1);
		resent = resent | BELOW(at + n) & ~BELOW(at);
		gaps_set(at + n, g_end)
	fi
}

/* READs and atomics under way, of those before psn. */
inline count_reads()
{
	n = 0;
	m = tail;
	do
	:: m < NMSG && first[m + 1] <= psn -> n = n + IS_FETCH(m); m++
	:: else -> break
	od
}

/* asks: the packet psn, of a SEND or WRITE, asks for an ACK. */
inline wants_ack()
{
	m = owner[psn];
	asks = psn - acked + 1 >= window ||
	       psn + 1 == first[m + 1] &&
		       (m + 1 == NMSG || kind[m + 1] >= READ)
}

#if MUTANT == 10 /* more PSNs under way than a difference of PSNs tells */
#define IS_ROOM(count) true
#else
#define IS_ROOM(count) (psn - acked < window && psn - acked + (count) < HALF)
#endif

/* ok: a packet was sent. */
inline send_next()
{
	ok = 0;
	count_reads();
	m = owner[psn];
	if
	:: psn == TOTAL
	:: psn < TOTAL && !IS_FETCH(m) && IS_ROOM(1) ->
		ok = 1;
		wants_ack();
		limit = psn + 1;
		send_packet(psn, 0, asks);
		psn++
	:: psn < TOTAL && IS_FETCH(m) && n < MAXRD &&
	   IS_ROOM(first[m + 1] - psn) ->
		ok = 1;
		limit = first[m + 1];
		pn = (kind[m] == READ -> limit - psn : 0);
		send_packet(psn, pn, 1);
		psn = limit
	:: else
	fi
}

inline req_run()
{
	do
	:: wait || err || len(fwd) == ROOM || tail == NMSG -> break
	:: else ->
		if
		:: g_at < g_end -> send_missing()
		:: else ->
			send_next();
			if
			:: !ok -> break
			:: else
			fi
		fi
	od
}

/* Does it make a difference for the response whether time has passed? */
#define is_slow_response() (resent || \
	selective != YES && pt == NAK && pc < recover)
