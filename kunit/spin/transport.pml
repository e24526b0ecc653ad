// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The transport of an RC connection as a Spin model: requester, responder and a
 * wire that loses, duplicates and reorders a bounded number of packets. See
 * Documentation/testing-model.rst; kunit/spin/check runs it.
 *
 * A packet of a message is known by its index c from 0 to TOTAL - 1. On the wire
 * it has the PSN c mod PSNS, and each side derives the index from the PSN and
 * its own position, as the engine does with 24 bits. The index itself travels as
 * the content: what is executed or placed must have the index that the PSN
 * stands for.
 *
 * Functions have the names of driver/engine. One step of the model is one event:
 * a packet arrives or is lost, a timer expires, a receive is posted. All that the
 * engine does upon it is deterministic. Time has no value: an event is either
 * `slow', then a round trip has passed, or it is not.
 */

/* What is transferred: all sequences of messages of that many packets. */
#ifndef NMSG
#define NMSG 3
#endif
#ifndef MAXLEN
#define MAXLEN 3
#endif
#ifndef PSNS
#define PSNS 8
#endif
/* PSNs without a response, PSNs kept ahead, READs and atomics under way. */
#ifndef WINDOW
#define WINDOW (PSNS / 2 - 1)
#endif
#ifndef KEEP
#define KEEP 3
#endif
#ifndef MAXRD
#define MAXRD 2
#endif
/* What may go wrong, each so many times. */
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef COPIES
#define COPIES 1
#endif
#ifndef DELAYS
#define DELAYS 1
#endif
/* The responder drops all that it keeps. */
#ifndef FORGETS
#define FORGETS 0
#endif
/* From some event on nothing arrives. */
#ifndef CUTS
#define CUTS 0
#endif
/* Receives that are there at first, and that may come; all there: 9. */
#ifndef POSTED
#define POSTED 9
#endif
/* Without selective repeat each of several NAKs for a gap may take one. */
#ifndef RETRIES
#if STANDARD >= 2
#define RETRIES 7
#else
#define RETRIES (LOSSES + COPIES + DELAYS)
#endif
#endif
#ifndef RNR_RETRIES
#define RNR_RETRIES 1
#endif
/* The sequence NAK is sent 0: at once, 1: now or later, 2: when it is late. */
#ifndef NAK_DELAY
#define NAK_DELAY 0
#endif
/*
 * Which side is a standard RC peer: 0: none, 1: the responder, 2: the requester;
 * 3: neither, but they do not tell each other.
 */
#ifndef STANDARD
#define STANDARD 0
#endif
/* The kinds that occur, as a set of bits. */
#ifndef KINDS
#define KINDS 15
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
/* So many random runs, one after the other, and a line for each; 0: no such. */
#ifndef TRACES
#define TRACES 0
#endif

/* Packets that the wire holds in each direction. */
#ifndef ROOM
#define ROOM 16
#endif
#define TOTAL first[NMSG]
#define HALF (PSNS / 2)
/* Signed distance of two PSNs, as ornic_psn_diff(). */
#define DIFF(a, b) (((a) % PSNS - (b) % PSNS + PSNS + HALF) % PSNS - HALF)
#define BIT(c) (1 << (c))
#define BELOW(c) (BIT(c) - 1)

#define SEND 0
#define WRITE 1
#define READ 2
#define ATOMIC 3
#define IS_FETCH(m) (kind[m] >= READ)
#define LEN(m) (first[(m) + 1] - first[m])

/* The script. It does not change, so it is no part of the state but its number. */
hidden byte kind[NMSG + 1];
hidden byte first[NMSG + 2]; /* index of the first packet */
hidden byte owner[NMSG * MAXLEN + 2]; /* message of a packet */
/* How many of them are before a message. */
hidden byte sends[NMSG + 1], reads[NMSG + 1], atoms[NMSG + 1];
int script;

/* The wire: requests (index, PSNs of a READ, AckReq), responses (see below). */
chan fwd = [ROOM] of { byte, byte, bit };
chan rev = [ROOM] of { byte, byte, byte };
chan late_fwd = [1] of { byte, byte, bit };
chan late_rev = [1] of { byte, byte, byte };
byte losses = LOSSES, copies = COPIES, delays = DELAYS, forgets = FORGETS;
bit cut;

#define ACK 0
#define NAK 1 /* value: which of the requests after it are kept */
#define RNR 2
#define DATA 3 /* value: it is the last of its request */
#define RESULT 4 /* value: what the memory held before */

/* The event. Zero between two events. */
byte act, pc, pn, pt, pv;
bit pa, slow;
bit aged; /* a timer has expired since the last NAK */
/* Of functions. What is hidden keeps no value from one step to the next. */
hidden byte m, n, x, y, at;
hidden short d;
hidden byte ok, was_missing, filled;

#define RX_REQUEST 0
#define RX_RESPONSE 1
#define NAK_TIMER 2
#define RNR_TIMER 3
#define HOLD_TIMER 4
#define PROBE 5
#define RESEND 6
#define ACK_TIMER 7
#define POST 8
#define FORGET 9
#define CUT 10
#define NOTHING 11

#include "requester.pml"
#include "responder.pml"

#define WIRE_IS_EMPTY (len(fwd) + len(rev) + len(late_fwd) + len(late_rev) == 0)
#define IS_OVER (err || tail == NMSG && len(fwd) + len(late_fwd) == 0)

inline choose_message(i)
{
	if
	:: KINDS & BIT(SEND) -> kind[i] = SEND
	:: KINDS & BIT(WRITE) -> kind[i] = WRITE
	:: KINDS & BIT(READ) -> kind[i] = READ
	:: KINDS & BIT(ATOMIC) -> kind[i] = ATOMIC
	fi;
	first[i + 1] = first[i] + 1;
	do
	:: kind[i] != ATOMIC && first[i + 1] < first[i] + MAXLEN ->
		first[i + 1]++
	:: break
	od;
	script = script * 16 + kind[i] * 4 + LEN(i)
}

inline choose_script()
{
	m = 0;
	do
	:: m < NMSG -> choose_message(m); m++
	:: else -> break
	od;
	pc = 0;
	m = 0;
	sends[0] = 0;
	reads[0] = 0;
	atoms[0] = 0;
	do
	:: m < NMSG ->
		sends[m + 1] = sends[m] + (kind[m] == SEND);
		reads[m + 1] = reads[m] + (kind[m] == READ);
		atoms[m + 1] = atoms[m] + (kind[m] == ATOMIC);
		do
		:: pc < first[m + 1] -> owner[pc] = m; pc++
		:: else -> break
		od;
		m++
	:: else -> break
	od;
	owner[pc] = NMSG;
	printf("\nT %d %d %d %d %d", STANDARD, POSTED, RETRIES, RNR_RETRIES,
	       NAK_DELAY);
	m = 0;
	do
	:: m < NMSG -> printf(" %d:%d", kind[m], LEN(m)); m++
	:: else -> break
	od;
	printf(" |"); skip
}

/* A request is at the end of the wire: it arrives, or does not. */
inline pick_request()
{
	fwd?pc,pn,pa;
	act = RX_REQUEST;
	if
	:: printf(" f%d", pc)
#if TRACES
	/* The wire is good most of the time. */
	:: printf(" f%d", pc)
	:: printf(" f%d", pc)
	:: printf(" f%d", pc)
	:: printf(" f%d", pc)
#endif
	:: losses > 0 -> losses--; act = NOTHING; printf(" x%d", pc)
	:: copies > 0 && nfull(late_fwd) ->
		copies--; late_fwd!pc,pn,pa; printf(" d%d", pc)
	:: delays > 0 && nfull(late_fwd) ->
		delays--; late_fwd!pc,pn,pa; act = NOTHING; printf(" h%d", pc)
	fi
}

inline pick_response()
{
	rev?pt,pc,pv;
	act = RX_RESPONSE;
	if
	:: printf(" F%d.%d", pt, pc)
#if TRACES
	:: printf(" F%d.%d", pt, pc)
	:: printf(" F%d.%d", pt, pc)
	:: printf(" F%d.%d", pt, pc)
	:: printf(" F%d.%d", pt, pc)
#endif
	:: losses > 0 -> losses--; act = NOTHING; printf(" X%d.%d", pt, pc)
	:: copies > 0 && nfull(late_rev) ->
		copies--; late_rev!pt,pc,pv; printf(" D%d.%d", pt, pc)
	:: delays > 0 && nfull(late_rev) ->
		delays--; late_rev!pt,pc,pv; act = NOTHING;
		printf(" H%d.%d", pt, pc)
	fi
}

inline pick_late_request()
{
	late_fwd?pc,pn,pa;
	printf(" l%d", pc);
	act = RX_REQUEST
}

inline pick_late_response()
{
	late_rev?pt,pc,pv;
	printf(" L%d.%d", pt, pc);
	act = RX_RESPONSE
}

/* Timers of the requester come when nothing is under way any more. */
inline pick_timeout()
{
	if
	:: STANDARD != 2 && resends == 0 -> act = PROBE; printf(" p")
	:: STANDARD != 2 && resends == 1 -> act = RESEND; printf(" r")
	:: STANDARD == 2 || resends > 0 -> act = ACK_TIMER; printf(" t")
	fi
}

inline pick_event()
{
	if
	:: nempty(fwd) -> pick_request()
	:: nempty(rev) -> pick_response()
	:: nempty(late_fwd) -> pick_late_request()
	:: nempty(late_rev) -> pick_late_response()
	:: nak_at -> act = NAK_TIMER; printf(" n")
	:: wait -> act = RNR_TIMER; printf(" w")
	:: nak_held -> act = HOLD_TIMER; printf(" o")
	:: WIRE_IS_EMPTY && MUTANT != 11 && !wait && !nak_held && tail < NMSG -> pick_timeout()
	:: posted < sends[NMSG] -> act = POST; printf(" v")
	:: forgets > 0 && kept -> forgets--; act = FORGET; printf(" k")
	:: CUTS && !cut -> act = CUT; printf(" c")
	fi;
#if TRACES
	slow = aged && act == RX_REQUEST;
	aged = aged || act >= RNR_TIMER && act <= ACK_TIMER
#else
	/* Where it makes a difference, time may have passed. */
	if
	:: true
	:: act == RX_REQUEST && is_slow_request() -> slow = 1; printf("*")
	:: act == RX_RESPONSE && is_slow_response() -> slow = 1; printf("*")
	fi
#endif
}

inline do_event()
{
	if
	:: act == RX_REQUEST -> resp_rx()
	:: act == RX_RESPONSE -> comp_rx()
	:: act == NAK_TIMER -> resp_expire()
	:: act == RNR_TIMER -> wait = 0
	:: act == HOLD_TIMER -> lost_packet(0)
	:: act == PROBE -> gaps_probe(); resends = 1
	:: act == RESEND -> begin_recovery(); resend_from_oldest(); resends = 2
	:: act == ACK_TIMER -> window = 1; resends = 0; retry_or_fail()
	:: act == POST -> posted++
	:: act == FORGET -> kept = 0; kept_ack = 0; kept_part = 0; nak_at = 0
	:: act == CUT -> cut = 1
	:: else -> skip
	fi;
	req_run();
	assert(IS_UNDER_WAY);
	/* Nobody waits for these. */
	do
	:: (tail == NMSG || cut) && len(rev) -> rev?pt,pc,pv
	:: (tail == NMSG || cut) && len(late_rev) -> late_rev?pt,pc,pv
	:: cut && len(fwd) -> fwd?pc,pn,pa
	:: cut && len(late_fwd) -> late_fwd?pc,pn,pa
	:: else -> break
	od;
	act = 0;
	pc = 0;
	pn = 0;
	pa = 0;
	pt = 0;
	pv = 0;
	slow = 0;
	assert(acked <= psn && psn <= max_psn && max_psn <= TOTAL);
	assert(max_psn - acked < HALF);
	assert(acked <= epsn && epsn <= max_psn)
}

#define FAULTS (LOSSES - losses + COPIES - copies + DELAYS - delays)

/* Each run ends with all complete, or with an error that had its causes. */
inline check_end()
{
	assert(err || tail == NMSG && acked == TOTAL && epsn == TOTAL);
	assert(memory == atoms[owner[epsn]]);
	assert(err != NO_RETRIES || cut || FAULTS > RETRIES);
	printf(" = %d %d %d", err, tail, epsn)
}

/* As it was at the beginning. */
inline start_again()
{
	do
	:: len(rev) -> rev?pt,pc,pv
	:: len(late_rev) -> late_rev?pt,pc,pv
	:: len(fwd) -> fwd?pc,pn,pa
	:: len(late_fwd) -> late_fwd?pc,pn,pa
	:: else -> break
	od;
	pt = 0;
	pc = 0;
	pv = 0;
	pn = 0;
	pa = 0;
	script = 0;
	losses = LOSSES;
	copies = COPIES;
	delays = DELAYS;
	forgets = FORGETS;
	cut = 0;
	aged = 0;
	req_reset();
	resp_reset()
}

int runs;

init {
again:
	atomic { choose_script(); skip; d_step { req_begin(); req_run(); skip } };
	do
	:: IS_OVER -> break
	:: else -> atomic { pick_event(); skip; d_step { do_event(); skip } }
	od;
	skip;
	d_step { check_end(); skip };
#if TRACES
	d_step { start_again(); runs++ };
	/* An error, so that the search ends here. */
	assert(runs < TRACES);
	goto again
#endif
}
