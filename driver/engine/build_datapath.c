// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The data path as one unit for the compiler. A message passes through many
 * short functions of these files, whose calls would cost as much as their work;
 * in one unit the compiler can inline them into the __flatten ones.
 *
 * Each file can also be compiled alone: it has its includes, shares only what
 * headers declare, and undefines macros of a common name at its end. Names of
 * static functions are unique among them.
 */
#include "cq.c"
#include "dev.c"
#include "mem.c"
#include "odp_map.c"
#include "mw.c"
#include "wqe.c"
#include "icrc.c"
#include "wire.c"
#include "tx.c"
#include "recv.c"
#include "resp_tx.c"
#include "xrc.c"
#include "resp.c"
#include "comp.c"
#include "retry.c"
#include "loop.c"
#include "direct.c"
#include "loop_datagram.c"
#include "datagram.c"
#include "req.c"
#include "run.c"
