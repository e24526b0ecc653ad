# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Parts of a guest: a kernel, a stage (our modules and provider, an overlay of the
host's root), and an initramfs that mounts both."""

import glob
import lzma
import os
import platform
import shutil
import subprocess
import tempfile

HOST_ARCH = {"aarch64": "arm64", "x86_64": "amd64"}.get(platform.machine())
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIB = os.path.join(TREE, "qemu-tests", "lib")

# Loaded by /init with their dependencies, unless built in.
BOOT_MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"]
# Available to modprobe in the guest.
GUEST_MODULES = [
    "rdma_rxe", "ib_uverbs", "ib_umad", "rdma_ucm", "veth", "bridge", "8021q", "zram",
    "bonding", "tun", "dummy", "ipvlan", "macvlan", "sch_ingress", "sch_netem", "sch_prio",
    "sch_tbf", "sch_codel", "cls_matchall", "cls_u32", "virtio_net", "udp_diag", "tcp_diag",
    "inet_diag", "af_packet",
    "crc32_pclmul", "crc32_generic", "nvme_rdma", "nvmet_rdma", "rpcrdma", "ib_iser", "brd",
    "ib_srp", "ib_srpt", "sd_mod", "ib_isert", "nvme_loop", "nvme_tcp", "nvmet_tcp",
    "null_blk", "loop", "xfs", "ext4", "scsi_debug", "sg", "target_core_iblock",
    "target_core_file", "ib_ipoib", "dm_multipath", "dm_queue_length", "dm_service_time",
    "scsi_dh_alua", "scsi_dh_emc", "scsi_dh_rdac", "kyber_iosched", "bfq",
    "nfs", "nfsv3", "nfsv4", "nfsd", "rds_rdma", "cifs", "ksmbd", "cmac", "ccm", "gcm",
    "ghash_generic", "aes_generic", "ctr", "ecb", "hmac", "md5", "sha256_generic",
    "sha512_generic", "rnbd_client", "rnbd_server",
    "libcrc32c", "crc32c_generic", "fuse", "nf_tables", "nft_meta_bridge", "sctp", "smc", "vgem",
    "vrf", "xfrm_user",
]


def _output(script, *args):
    path = os.path.join(TREE, "qemu-tests/kernel", script)
    return subprocess.run([path, *args], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def _read_word(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


# Kernels for arm64, by the folder of our modules, and those of kernel/build.sh
ARM64 = {"arm64": "stock", "arm64-16k": "16k", "arm64-64k": "64k"}
BUILT = ["debug", "debug-users", "kcsan", "arm64-64k"]
# Kernels of qemu-tests/kernel/kernels
DEBIAN = _output("debian.sh", "--list").split()


class Missing(Exception):
    """A part must be built or installed first."""


class Kernel:
    """A bootable kernel: image, release and module folder; and how our modules are
    built for it."""

    def __init__(self, name, modules=None):
        self.name = name
        # What cases know of it
        self.kind = name.removesuffix("-users")
        self.arch = "arm64" if name in ARM64 else HOST_ARCH
        # What guests have of programs
        self.root = "/"
        # Where `make`, or `make ARCH=`, builds
        self.build = os.path.join(TREE, "build")
        self.built = modules or name
        # The others get one socket per CPU, see machine.py
        self.acpi = self.kind not in ("debug", "kcsan")
        if name in ARM64:
            self.root = _output("arm64.sh")
            self.built = modules or ARM64[name]
            if HOST_ARCH != "arm64":
                self.build = os.path.join(TREE, "build/arm64")
        if name in BUILT:
            folder = _output("build.sh", name)
            self.image = os.path.join(folder, "image")
            self.release = _read_word(os.path.join(folder, "release"))
            self.modules = os.path.join(folder, "modules/lib/modules", self.release)
        elif name in DEBIAN:
            folder = _output("debian.sh", name)
            self.image = os.path.join(folder, "image")
            self.release = _read_word(os.path.join(folder, "release"))
            self.modules = os.path.join(folder, "lib/modules", self.release)
        elif name in ARM64:
            self.image, = glob.glob(os.path.join(self.root,
                                                 f"boot/vmlinuz-*[0-9]-{name}"))
            self.release = self.image.split("vmlinuz-", 1)[1]
            self.modules = os.path.join(self.root, "lib/modules", self.release)
        else:
            self.release = _stock_release()
            self.modules = os.path.join("/lib/modules", self.release)
            images = [path for path in (f"/boot/vmlinuz-{self.release}",
                                        f"{self.modules}/vmlinuz")
                      if os.path.exists(path)]
            if not images:
                raise Missing("no kernel: apt-get install "
                              f"linux-image-{self.release}")
            self.image = images[0]

    @property
    def built_modules(self):
        """Our modules, built for this kernel."""
        return sorted(glob.glob(os.path.join(self.build, self.built, "*.ko")))


def _stock_release():
    """The release that the Makefile has chosen among the headers."""
    release = subprocess.run(["make", "-s", "-C", TREE, "stock-release"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if not release:
        raise Missing(f"no kernel: apt-get install linux-image-{HOST_ARCH} "
                      f"linux-headers-{HOST_ARCH}")
    return release


def _module_name(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def read_dependencies(kernel):
    """modules.dep as {name: (path, [dependencies, deepest first])}"""
    table = {}
    with open(os.path.join(kernel.modules, "modules.dep"), encoding="ascii") as file:
        for line in file:
            path, _, needs = line.partition(":")
            table[_module_name(path)] = (
                path, [_module_name(n) for n in reversed(needs.split())])
    return table


def closure(table, names):
    """Paths of modules and their dependencies, in load order, without built-ins."""
    ordered = []
    for name in names:
        if name in table:
            for each in table[name][1] + [name]:
                if each not in ordered:
                    ordered.append(each)
    return [table[name][0] for name in ordered]


def read_module(kernel, path):
    with open(os.path.join(kernel.modules, path), "rb") as file:
        data = file.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def _forget_other_kernel(kernel, stage):
    """Clear the stage if it is of another kernel: releases may be equal."""
    stamp = os.path.join(os.path.dirname(stage), "stage.kernel")
    identity = f"{kernel.modules} {os.stat(kernel.image).st_mtime_ns}\n"
    if not os.path.exists(stamp) or _read(stamp).decode() != identity:
        shutil.rmtree(stage, ignore_errors=True)
        os.makedirs(stage)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(identity)


def make_stage(kernel, stage, more=()):
    """Install modules, also those in the files more, and provider in the folder stage."""
    _forget_other_kernel(kernel, stage)
    modules = os.path.join(stage, "usr/lib/modules", kernel.release)
    shutil.rmtree(os.path.join(modules, "updates"), ignore_errors=True)
    os.makedirs(os.path.join(modules, "updates"))
    if not os.path.lexists(os.path.join(stage, "lib")):
        os.symlink("usr/lib", os.path.join(stage, "lib"))
    for path in closure(read_dependencies(kernel), GUEST_MODULES):
        target = os.path.join(modules, path.removesuffix(".xz"))
        if not os.path.exists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _write(target, read_module(kernel, path))
    for path in [*kernel.built_modules, *more]:
        shutil.copy(path, os.path.join(modules, "updates"))
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(os.path.join(kernel.modules, name), modules)
    env = dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    subprocess.run(["depmod", "-b", stage, kernel.release], check=True, env=env)
    if glob.glob(os.path.join(kernel.build, "provider/libornic-rdmav*.so")):
        subprocess.run(["make", "-s", "-C", TREE, "install-provider",
                        "DESTDIR=" + stage, "ARCH=" + kernel.arch], check=True,
                       stdout=subprocess.DEVNULL)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def make_initramfs(kernel, manifest, path):
    """Write the initramfs; its /manifest configures the agent."""
    busybox = os.path.join(kernel.root, "bin/busybox")
    if not kernel.arch:
        raise Missing("the host must be x86_64 or aarch64")
    if not os.path.exists(busybox) or not shutil.which("cpio"):
        raise Missing("apt-get install busybox-static cpio")
    with tempfile.TemporaryDirectory(prefix="ornic-initramfs-") as root:
        for name in ("bin", "dev", "proc", "sys", "modules"):
            os.mkdir(os.path.join(root, name))
        shutil.copy(busybox, os.path.join(root, "bin"))
        shutil.copy(os.path.join(LIB, "init.sh"), os.path.join(root, "init"))
        os.chmod(os.path.join(root, "init"), 0o755)
        order = ""
        for module in closure(read_dependencies(kernel), BOOT_MODULES):
            name = os.path.basename(module).removesuffix(".xz")
            _write(os.path.join(root, "modules", name), read_module(kernel, module))
            order += name + "\n"
        _write(os.path.join(root, "modules/order"), order.encode())
        _write(os.path.join(root, "manifest"), manifest.encode())
        with open(path, "wb") as file:
            subprocess.run(
                "find . | cpio --create --format=newc --owner=0:0 --quiet",
                shell=True, cwd=root, stdout=file, check=True)
