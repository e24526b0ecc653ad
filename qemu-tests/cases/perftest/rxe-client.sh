# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the programs of perftest from rxe to ornic, over
# IPv4: write, send, read, atomic, bandwidth and latency, RC, UC and UD, and the
# options that change the data path, each once.

full_only=1
limit=400
kernels='stock'

run()
{
	topology rxe-client 4
	perftest_selection
}
