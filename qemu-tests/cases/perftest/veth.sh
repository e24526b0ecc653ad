# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run every perftest program between two namespaces over veth, over IPv4: write,
# send, read, atomic in bandwidth and latency, RC, UC and UD where perftest has
# them, and the options that change the data path.

limit=240

run()
{
	topology veth 4
	perftest_matrix
}
