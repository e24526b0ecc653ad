# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One QEMU guest: command line, result port, shutdown."""

import fcntl
import os
import re
import select
import socket
import subprocess
import tempfile
import time

from stage import HOST_ARCH
from tsc import tsc_khz

QEMU = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
MACHINE = {"amd64": "q35", "arm64": "virt,gic-version=3"}
CONSOLE = {"amd64": "ttyS0", "arm64": "ttyAMA0"}
# On x86-64, without ERMS and FSRM, which are slow under TCG, and without PCLMUL and CRC32, which
# TCG runs slower than table lookups: relative costs are closer to those of hardware.
# Without LA57: while the kernel identifies the boot CPU it briefly clears the
# feature, and KASAN then reports valid memory of an interrupt.
# On arm64, with a cheap algorithm of pointer authentication.
TCG_CPU = {"amd64": "max,-erms,-fsrm,-pclmulqdq,-sse4.2,-la57",
           "arm64": "max,pauth-impdef=on"}
CMDLINE = ("quiet loglevel=4 panic=-1 panic_on_warn=1 oops=panic "
           "softlockup_panic=1 hung_task_panic=1 "
           "sysctl.kernel.hung_task_timeout_secs=120 mitigations=off ")
CMDLINE_ARCH = {"amd64": "tsc=reliable no_timer_check", "arm64": ""}
KVM_PROBE_SECONDS = 25
SPLAT = re.compile(r"Kernel panic|BUG:|BUG at|WARNING:|KASAN|Oops|Call Trace:|"
                   r"general protection|soft lockup|blocked for more than")
# What drop_uverbs_inversion() of agent.sh drops from the log, too
UVERBS_INVERSION = re.compile(
    r"^[^\n]*WARNING: possible circular locking(?:(?!</TASK>).)*is trying to acquire lock:\n"
    r"[^\n]*(?:uverbs_user_mmap_disassociate|rdma_umap_open)(?:(?!</TASK>).)*</TASK>\n?",
    re.DOTALL | re.MULTILINE)
MEMORY_DUMP = re.compile(r"\b[CD]R[0-9]: |\b[FG]S:  ?[0-9a-f]{16}|\bCS:  |Modules linked in")


def accelerator_options(accel, cpus, acpi, cpu):
    # Without ACPI the kernel reads the MP table, where SeaBIOS lists one CPU per
    # socket. With ACPI use one socket, since unbound work items (of rxe) stay on
    # the socket that queued them.
    smp = str(cpus) if acpi else f"{cpus},sockets={cpus}"
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host", "-smp", smp]
    if accel == "icount":
        return ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off",
                "-cpu", cpu, "-smp", "1"]
    # With one CPU or one thread TCG emits no memory barriers, and LOCK is not atomic
    # with respect to other processes. maxcpus=2 avoids this.
    return ["-accel", "tcg,thread=multi", "-cpu", cpu,
            "-smp", "1,maxcpus=2" if cpus == 1 else smp]


def clock_options(accel, arch):
    khz = tsc_khz() if (accel, arch) == ("tcg", "amd64") else None
    return f"tsc_early_khz={khz}" if khz else ""


def take_slots(cache, cpus_of_guest, count=1):
    """Wait until the host has CPUs for count more guests. All guests together may
    have twice the CPUs of the host, since they idle half of the time; with more
    they miss deadlines. Closing the returned files frees the slots. Slots for count
    guests are taken at once, so that two runs cannot deadlock."""
    os.makedirs(cache, exist_ok=True)
    slots = max(1, 2 * (os.cpu_count() or 1) // max(1, cpus_of_guest))
    count = min(count, slots)
    while True:
        taken = []
        for number in range(slots):
            # Not inherited by QEMU, so the lock ends with this process.
            file = open(os.path.join(cache, f"slot-{number}"), "w",
                        encoding="ascii")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                taken.append(file)
            except BlockingIOError:
                file.close()
                continue
            if len(taken) == count:
                return taken
        for file in taken:
            file.close()
        time.sleep(0.5)


class Machine:
    """A running guest. lines() yields what it reports."""

    def __init__(self, kernel, initramfs, shares, console, *, accel="tcg",
                 cpus=2, cpu=None, memory="1G", append="", interactive=False,
                 slots=(), devices=(), iommu=False, reboots=False):
        """cpu: of QEMU under TCG; slots: of take_slots(), for it and its peers;
        devices: more options of QEMU; reboots: the guest may reboot."""
        self.console = console
        self._slots = slots
        self._folder = tempfile.TemporaryDirectory(prefix="ornic-qemu-")
        self._listener = socket.socket(socket.AF_UNIX)
        path = os.path.join(self._folder.name, "result")
        self._listener.bind(path)
        self._listener.listen(1)
        self._port = None
        self._buffer = b""
        self.killed = False
        arch = kernel.arch
        cmdline = " ".join([CMDLINE, f"console={CONSOLE[arch]}", CMDLINE_ARCH[arch],
                            clock_options(accel, arch), append]).strip()
        command = [
            # Kill the guest if the runner dies.
            "setpriv", "--pdeathsig", "KILL", QEMU[arch], "-nodefaults", "-display", "none",
            *([] if reboots else ["-no-reboot"]),
            "-machine", MACHINE[arch], "-m", memory,
            *accelerator_options(accel, cpus, kernel.acpi, cpu or TCG_CPU[arch]),
            "-kernel", kernel.image, "-initrd", initramfs, "-append", cmdline,
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=result,path={path}",
            "-device", "virtserialport,chardev=result,name=org.ornic.result",
            "-serial", "mon:stdio" if interactive else f"file:{console}",
        ]
        if iommu:
            command += ["-device", "intel-iommu"]
        command += devices
        for tag, folder in shares.items():
            command += ["-virtfs", f"local,path={folder},mount_tag={tag},"
                        "security_model=none,readonly=on,multidevs=remap"]
        quiet = None if interactive else subprocess.DEVNULL
        with open(console + ".qemu", "wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=quiet, stdout=quiet,
                stderr=None if interactive else errors)

    def lines(self, deadline):
        """Yield lines of the result port, and None after each second without one,
        until the guest dies or the time is deadline()."""
        while True:
            while b"\n" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\n")
                yield line.decode(errors="replace").rstrip("\r")
            if time.monotonic() >= deadline():
                return
            if not self._receive():
                return
            if b"\n" not in self._buffer:
                yield None

    def _receive(self):
        source = self._port or self._listener
        ready, _, _ = select.select([source], [], [], 1.0)
        if not ready:
            return self.process.poll() is None
        if self._port is None:
            self._port, _ = self._listener.accept()
            return True
        data = self._port.recv(65536)
        self._buffer += data
        return bool(data)

    def wait(self, seconds=None):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self):
        if self.wait(10 if self._port is None else 3) is None:
            self.kill()
            self.process.wait()
        if self._port is not None:
            self._port.close()
        self._listener.close()
        for slot in self._slots:
            slot.close()
        self._folder.cleanup()

    def kill(self):
        if self.process.poll() is None:
            self.killed = True
            self.process.kill()

    def last_console_lines(self, count):
        lines = _lines(self.console)[-count:]
        return UVERBS_INVERSION.sub("", "\n".join(lines)).splitlines()

    def last_words(self, count):
        """Lines of the console from the kernel's first complaint on, without the
        stack addresses that nobody needs; if it has none, the last ones."""
        lines = [line for line in self.last_console_lines(400)
                 if not MEMORY_DUMP.search(line)]
        for number, line in enumerate(lines):
            if SPLAT.search(line):
                return lines[number:number + count]
        return lines[-count:]

    def cause(self):
        """How the guest ended, what its kernel complained of first or said last, and where
        it was, on one line."""
        how = "no answer" if self.killed else f"QEMU's status {self.wait(0)}"
        lines = [re.sub(r"^\[ *[0-9.]+\] ?", "", line) for line in self.last_words(60)]
        lines = [line for line in lines if line]
        where = [line for line in lines if line.startswith("RIP: 0010:")]
        said = lines[:1] if self.splats() else lines[-1:]
        return "; ".join([how] + said + where[:1])

    def splats(self):
        """Complaints of the kernel in the last lines of the console."""
        return [line for line in self.last_console_lines(400) if SPLAT.search(line)]

    def complaints(self):
        """Lines that QEMU printed."""
        return _lines(self.console + ".qemu")


def _lines(path):
    try:
        with open(path, "rb") as file:
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    return text.replace("\r", "").splitlines()


def _boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def choose_accelerator(arch, cache, boot):
    """KVM if a guest boots with it. Opening /dev/kvm does not prove that, so
    boot("kvm") is called once per boot of the host."""
    if arch != HOST_ARCH or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    note = os.path.join(cache, "kvm-" + _boot_id())
    if not os.path.exists(note):
        os.makedirs(cache, exist_ok=True)
        answer = "kvm" if boot("kvm", KVM_PROBE_SECONDS) else "tcg"
        with open(note, "w", encoding="ascii") as file:
            file.write(answer)
    with open(note, encoding="ascii") as file:
        return file.read().strip()
