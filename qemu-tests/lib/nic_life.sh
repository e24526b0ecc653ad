# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases that remove a PCI NIC, its driver or a guest under traffic.

# watch_events: record asynchronous events of the device in the file events
watch_events()
{
	ibv_asyncwatch -d ornic0 >events 2>&1 &
	watch_pid=$!
	wait_until 10 watches "$watch_pid"
}

# watches PID: the process has opened the asynchronous events
watches() { find "/proc/$1/fd" -lname "*infinibandevent*" | grep -q .; }

# saw_fatal: the device has raised a fatal event. If it failed, this is the only
# notification of programs: their WQEs never complete.
saw_fatal() { grep -qi 'catastrophic\|fatal' events || [ ! -e "/proc/$watch_pid/exe" ]; }

# end_traffic: stop start_traffic and watch_events; fails if a process hangs
end_traffic()
{
	kill -9 "$srv_pid" "$cli_pid" "$watch_pid" 2>/dev/null || :
	wait_until 20 traffic_ended
	wait "$srv_pid" "$cli_pid" "$watch_pid" 2>/dev/null || :
}

traffic_ended() { ended "$cli_pid"; }

# works_again: the NIC is up and transfers data
works_again()
{
	link_up ornic0 && (topology "$1" && pingpong ibv_rc_pingpong -n 10)
}

# is_busy: the traffic of start_traffic continues
is_busy() { kill -0 "$cli_pid" && busy_posting "$cli_dev"; }
