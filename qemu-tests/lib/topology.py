# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""NICs, network and RAM of the guests of a case, by the machines= of its head:

  nic        a guest with the PCI NIC
  nic+nic    two guests, the NICs of one process; or more
  nic/nic    two guests, a process for each, and a wire between the two
  nic/net    the second guest has a virtio-net on that wire, and no NIC
  net/net    both have
  faulty     a device that violates the interface (fault_device.py), no network

Machine 0 runs the cases, and commands on machine 1, the peer, and on those after it. A
single machine has the address 10.0.0.1; of several, machine 1 has 10.0.0.1, machine 0
10.0.0.2, machine 2 10.0.0.3 and so on. With direct_wire two have another virtio-net
(eth1), and these are connected without ornic-nic."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import threading

from stage import Missing, TREE

VECTORS = 5
FAULT_DEVICE_VECTORS = 3
LIB = os.path.dirname(os.path.abspath(__file__))


def nic_program(sanitized):
    path = os.path.join(TREE, "build", "nicsan" if sanitized else "nic", "ornic-nic")
    if not os.path.exists(path):
        raise Missing(f"{path} is missing: make nic")
    return path


def bytes_of(memory):
    return int(memory[:-1]) << {"M": 20, "G": 30}[memory[-1]]


class Topology:
    """Processes and files of the topology, until close()."""

    def __init__(self, text, machine, memory, log, sanitized=False, capture=False,
                 direct_wire=False, nic_keys=""):
        self.hosts = [host.split("+") for host in text.split("/")]
        self.kinds = [kind for host in self.hosts for kind in host]
        self.machine = machine
        self.memory = memory
        self.log = log
        self.sanitized = sanitized
        self.capture = capture
        self.direct_wire = direct_wire
        self.nic_keys = "," + nic_keys if nic_keys else ""
        self.nics = {}
        self.fault_device = None
        self.stopped_worker = None
        self.peers = {}  # by machine
        self.start_peer = None  # a function of the machine
        self._folder = tempfile.TemporaryDirectory(prefix="ornic-nic-")
        self._ram = tempfile.TemporaryDirectory(prefix="ornic-ram-", dir="/dev/shm")
        self._port = socket.socket(socket.AF_UNIX)
        self._port.bind(self.path("host"))
        self._port.listen(1)
        for number in range(len(self.hosts)):
            self.start_nic(number)
        threading.Thread(target=self._serve, daemon=True).start()

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def ram(self, machine):
        return os.path.join(self._ram.name, f"ram{machine}")

    @staticmethod
    def mac(number):
        return f"52:54:00:00:00:{number:02x}"

    def number(self, machine):
        if len(self.kinds) == 1 or machine > 1:
            return machine + 1
        return 2 - machine

    def _machines_of(self, host):
        first = sum(len(h) for h in self.hosts[:host])
        return range(first, first + len(self.hosts[host]))

    def start_nic(self, host):
        """Start the process of a host, if its guests have NICs."""
        if self.hosts[host] == ["net"]:
            return
        if self.hosts[host] == ["faulty"]:
            self._start_fault_device()
            return
        command = [nic_program(self.sanitized), "--debug",
                   "--control", self.path(f"control{host}")]
        for machine in self._machines_of(host):
            self._make_ram(machine)
            command += ["--guest",
                        f"socket={self.path(f'nic{machine}')},ram={self.ram(machine)},"
                        f"size={self.memory},machine={self.machine},"
                        f"vectors={VECTORS},"
                        f"mac={self.mac(self.number(machine))},"
                        f"netdev=unix:{self.path(f'sw{machine}')}:{self.path(f'net{machine}')}"
                        f"{self.nic_keys}"]
        if len(self.hosts) == 2:
            command += ["--wire", f"unix:{self.path(f'wire{host}')}:{self.path(f'wire{1 - host}')}"]
        if self.capture:
            command += ["--capture", self.path(f"capture{host}")]
        # The control socket is created last.
        self.nics[host] = self._start(command, f"control{host}")

    def _start_fault_device(self):
        self._make_ram(0)
        self.fault_device = self._start(
            [os.path.join(LIB, "fault_device.py"), "--socket", self.path("nic0"),
             "--ram", self.ram(0), "--mac", self.mac(1),
             "--ram-start", str(1 << 30 if self.machine == "virt" else 0),
             "--vectors", str(FAULT_DEVICE_VECTORS)], "nic0")

    def _make_ram(self, machine):
        with open(self.ram(machine), "ab") as file:
            file.truncate(bytes_of(self.memory))

    def _start(self, command, last):
        """Start a process and wait for its last socket."""
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait_for(last, process)
        return process

    def _wait_for(self, name, process):
        for _ in range(500):
            if os.path.exists(self.path(name)):
                return
            if process.poll() is not None:
                raise Missing(f"a device exited at once, see {self.log}")
            threading.Event().wait(0.02)

    def options(self, machine):
        """QEMU's options for the guest."""
        ends = [f"sw{machine}", f"net{machine}"]
        options = []
        if self.kinds[machine] == "net":
            ends = [f"wire{1 - machine}", f"wire{machine}"]
        else:
            options += [
                "-machine", "memory-backend=ram0",
                "-object", f"memory-backend-file,id=ram0,size={self.memory},"
                f"mem-path={self.ram(machine)},share=on",
                "-chardev", f"socket,id=nic,path={self.path(f'nic{machine}')}",
                "-device", "ivshmem-doorbell,chardev=nic,"
                f"vectors={FAULT_DEVICE_VECTORS if self.fault_device else VECTORS}"]
        if self.fault_device:
            return options
        options += [
            "-netdev", "dgram,id=net0,"
            f"local.type=unix,local.path={self.path(ends[1])},"
            f"remote.type=unix,remote.path={self.path(ends[0])}",
            "-device", "virtio-net-pci,netdev=net0,"
            f"mac={self.mac(self.number(machine))}"]
        if self.direct_wire:
            options += [
                "-netdev", "dgram,id=net1,"
                f"local.type=unix,local.path={self.path(f'direct{machine}')},"
                f"remote.type=unix,remote.path={self.path(f'direct{1 - machine}')}",
                "-device", f"virtio-net-pci,netdev=net1,mac={self.mac(0x10 + machine)}"]
        if machine == 0:
            options += ["-chardev", f"socket,id=host,path={self.path('host')}",
                        "-device", "virtserialport,chardev=host,name=org.ornic.host"]
        return options

    def has_nic(self, machine):
        return self.kinds[machine] == "nic"

    # Commands of cases

    def _serve(self):
        try:
            while True:
                port, _ = self._port.accept()
                with port, port.makefile("rw", encoding="utf-8") as stream:
                    for line in stream:
                        stream.write(self._answer(line.split()) + "\n")
                        stream.flush()
        except (OSError, ValueError):
            return

    def _answer(self, words):
        try:
            return getattr(self, "host_" + words[0].replace("-", "_"))(*words[1:]) or "ok"
        except (AttributeError, IndexError, TypeError, ValueError, KeyError,
                OSError, Missing, subprocess.TimeoutExpired) as error:
            return f"error {error}"

    def host_ask(self, host, *words):
        result = subprocess.run(
            [nic_program(False), "--ask", self.path(f"control{host}"), *words],
            stdout=subprocess.PIPE, text=True, check=False, timeout=20)
        text = result.stdout.strip()
        return f"error {text}" if result.returncode else text

    def host_dissect(self, host, minimum):
        result = subprocess.run(
            [os.path.join(LIB, "dissect.sh"), self.path(f"capture{host}"), minimum],
            stdout=subprocess.PIPE, text=True, check=False, timeout=50)
        lines = result.stdout.strip().replace("\n", "; ")
        return lines if result.returncode == 0 else f"error {lines}"

    def host_kill_worker(self, host):
        match = re.search(r'"worker": (\d+)', self.host_ask(host, "guests"))
        os.kill(int(match.group(1)), signal.SIGKILL)

    def host_stop_nic(self, host):
        match = re.search(r'"worker": (\d+)', self.host_ask(host, "guests"))
        self.stopped_worker = int(match.group(1))
        # Otherwise the supervisor would replace the stopped worker.
        self.nics[int(host)].send_signal(signal.SIGSTOP)
        os.kill(self.stopped_worker, signal.SIGSTOP)

    def host_continue_nic(self, host):
        os.kill(self.stopped_worker, signal.SIGCONT)
        self.nics[int(host)].send_signal(signal.SIGCONT)

    def host_kill_nic(self, host):
        self.nics[int(host)].kill()
        self.nics[int(host)].wait()

    def host_kill_peer(self):
        self.peers[1].kill()
        self.peers[1].wait()

    def host_start_peer(self):
        self.peers[1].close()
        self.peers[1] = self.start_peer(1)

    # Shutdown

    def close(self):
        for peer in self.peers.values():
            peer.kill()
            peer.close()
        self._port.close()
        if self.fault_device is not None:
            self.fault_device.kill()
            self.fault_device.wait()
        status = 0
        for nic in self.nics.values():
            nic.terminate()
            try:
                status |= nic.wait(10)
            except subprocess.TimeoutExpired:
                nic.kill()
                nic.wait()
        self._folder.cleanup()
        self._ram.cleanup()
        return status
