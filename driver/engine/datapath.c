// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What moves data, in one unit for the compiler. A message is a long way of
 * short functions through these files, and their calls cost as much as what
 * they do; here the compiler may put them into each other (__flatten).
 *
 * Each file stands for itself as well: it has its includes, and shares with the
 * others what headers declare. But its static names are unique among them.
 */
#include "cq.c"
#include "dev.c"
#include "mem.c"
#include "mw.c"
#include "sgl.c"
#include "wqe.c"
#include "crc32.c"
#include "icrc.c"
#include "wire.c"
#include "tx.c"
#include "resp_tx.c"
#include "xrc.c"
#include "resp.c"
#include "comp.c"
#include "loop.c"
#include "req.c"
#include "run.c"
