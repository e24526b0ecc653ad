/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#pragma once

/* Results as KTAP, the name of a test alone, instead of GoogleTest's lines. */
void report_as_ktap();
