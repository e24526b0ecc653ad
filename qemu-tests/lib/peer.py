#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Run commands for another guest.

  peer.py PORT    Each connection sends one line of shell, which runs with
                  lib/guest.sh. The response is its output and a line "status N".
                  Closing the connection kills the command."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading

PRELUDE = ". /ornic/qemu-tests/lib/guest.sh; cd /tmp; "


def relay(connection, process):
    """Copy output of the process to the connection, until either ends."""
    output = process.stdout.fileno()
    while True:
        ready, _, _ = select.select([output, connection], [], [])
        if connection in ready and not connection.recv(1):
            return False
        if output in ready:
            data = os.read(output, 65536)
            if not data:
                return True
            connection.sendall(data)


def serve(connection):
    with connection:
        line = connection.makefile("r", encoding="utf-8").readline()
        process = subprocess.Popen(
            ["bash", "-c", PRELUDE + line], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        try:
            if relay(connection, process):
                connection.sendall(f"\nstatus {process.wait()}\n".encode())
                return
        except OSError:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def main():
    listener = socket.create_server(("", int(sys.argv[1])))
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main()
