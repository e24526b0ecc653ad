# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# For cases in which a PCI NIC, its driver or a guest goes under traffic.

# watch_events: from now on, what happens to the device is written to events
watch_events()
{
	ibv_asyncwatch -d ornic0 >events 2>&1 &
	watch_pid=$!
	wait_until 10 watches "$watch_pid"
}

# watches PID: it has the file of asynchronous events
watches() { find "/proc/$1/fd" -lname "*infinibandevent*" | grep -q .; }

# saw_fatal: the device told its users that it is over. Programs that poll see
# nothing else: nobody is left who could complete their work.
saw_fatal() { grep -qi 'catastrophic\|fatal' events || [ ! -e "/proc/$watch_pid/exe" ]; }

# end_traffic: of start_traffic and watch_events; nothing of it hangs
end_traffic()
{
	kill -9 "$srv_pid" "$cli_pid" "$watch_pid" 2>/dev/null || :
	wait_until 20 traffic_ended
	wait "$srv_pid" "$cli_pid" "$watch_pid" 2>/dev/null || :
}

traffic_ended() { [ ! -e "/proc/$cli_pid/exe" ]; }

# works_again: the NIC is back, and moves data
works_again()
{
	link_up ornic0 && (topology "$1" && pingpong ibv_rc_pingpong -n 10)
}

# is_busy: what start_traffic started goes on
is_busy() { kill -0 "$cli_pid" && busy_posting "$cli_dev"; }
