# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will delete the netdev under traffic, 20 times on a full run: both devices
# are removed with their netdevs, and the programs exit.

limit=300
direct=1

requires()
{
	need_ornic
}

no_devices() { [ -z "$(ls /sys/class/infiniband)" ]; }

run()
{
	local lap

	for ((lap = 0; lap < $(times 20); lap++)); do
		topology veth
		start_traffic 18515
		wait_until 20 busy_posting "$cli_dev"
		ends_within 30 ip -n cli link delete veth-cli
		wait_until 20 no_devices
		stop_traffic "$srv_pid" "$cli_pid"
		# TCP of the programs would keep the namespaces for 100 s.
		on_srv sysctl -qw net.ipv4.tcp_orphan_retries=1
		on_cli sysctl -qw net.ipv4.tcp_orphan_retries=1
		ip netns delete srv
		ip netns delete cli
	done
}
