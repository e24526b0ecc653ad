# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""migrate.py SOURCE TARGET URI on|off: by QMP, at these sockets, have SOURCE migrate to
URI, where TARGET listens and was started with -S; the last word says if all memory is
registered at first. Both then write their memory to SOURCE.memory and TARGET.memory, and
end."""

import json
import os
import socket
import sys
import time

SECONDS = 90
# The segment that the boot sector of users/migration.sh changes
WRITTEN = 0x20000
WRITTEN_BYTES = 0x10000


class Qemu:
    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.file = self.socket.makefile("rw")
        self.file.readline()  # the greeting
        self.call("qmp_capabilities")

    def call(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        for line in self.file:
            answer = json.loads(line)
            if "error" in answer:
                sys.exit(f"{self.path}: {command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        sys.exit(f"{self.path}: {command}: QEMU has ended")

    def pin_all(self, on):
        self.call("migrate-set-capabilities",
                  capabilities=[{"capability": "rdma-pin-all", "state": on}])

    def wait_for(self, command, key, wanted, bad=()):
        deadline = time.monotonic() + SECONDS
        while (state := self.call(command).get(key)) != wanted:
            if state in bad or time.monotonic() > deadline:
                sys.exit(f"{self.path}: {key} is {state}, not {wanted}")
            time.sleep(0.1)

    def save_memory(self, size=64 << 20, at=0):
        name = os.path.abspath(self.path + ".memory")
        self.call("pmemsave", val=at, size=size, filename=name)
        return name

    def wait_for_writes(self):
        """Until the machine has changed the segment that it writes to"""
        deadline = time.monotonic() + SECONDS
        while True:
            with open(self.save_memory(WRITTEN_BYTES, WRITTEN), "rb") as file:
                if any(file.read()):
                    return
            if time.monotonic() > deadline:
                sys.exit(f"{self.path}: the machine writes nothing")
            time.sleep(0.1)

    def end(self):
        self.call("quit")


def main():
    source, target = Qemu(sys.argv[1]), Qemu(sys.argv[2])
    for qemu in (source, target):
        qemu.pin_all(sys.argv[4] == "on")
    source.wait_for_writes()
    source.call("migrate", uri=sys.argv[3])
    source.wait_for("query-migrate", "status", "completed", ("failed", "cancelled"))
    ram = source.call("query-migrate")["ram"]
    print(f"{ram['normal']} pages in {ram['dirty-sync-count']} rounds")
    if ram["dirty-sync-count"] < 2:
        sys.exit("nothing was written meanwhile")
    target.wait_for("query-status", "status", "paused")
    for qemu in (source, target):
        qemu.save_memory()
        qemu.end()


main()
