#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Print what guests have reached of the modules.

  coverage.py build/coverage build/qemu/coverage

The first folder has the modules that `make modules-coverage` built, the second the
reports of guests, with the counters of GCOV in lines "# gcda: PATH BASE64". They are
moved to its folder counters, as the next run of the same cases would replace them.
Counters of sources that were built again since then do not count."""

import base64
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile


def gather(reports):
    """Keep the reports of this run with the others. Returns all of them."""
    kept = os.path.join(reports, "counters")
    os.makedirs(kept, exist_ok=True)
    for report in glob.glob(os.path.join(reports, "*.ktap")):
        name = f"{os.stat(report).st_mtime_ns}-{os.path.basename(report)}"
        os.replace(report, os.path.join(kept, name))
    return sorted(glob.glob(os.path.join(kept, "*.ktap")))


def stamp_of(path):
    """What the notes and the counters of one compilation have in common."""
    with open(path, "rb") as file:
        return file.read(12)[8:]


def write_counters(report, build, folder):
    """Write the counters of one guest. Returns whether it has any."""
    found = False
    with open(report, encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.startswith("# gcda: "):
                continue
            _, _, path, data = line.split()
            data = base64.b64decode(data)
            note = os.path.join(build, path.removesuffix("gcda") + "gcno")
            if not os.path.exists(note) or stamp_of(note) != data[8:12]:
                continue
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as output:
                output.write(data)
            found = True
    return found


def merge(reports, build, work):
    """Add the counters of all guests. Returns the folder of the sums."""
    total = None
    for number, report in enumerate(reports):
        folder = os.path.join(work, f"guest-{number}")
        if not write_counters(report, build, folder):
            continue
        if total:
            merged = os.path.join(work, f"sum-{number}")
            subprocess.run(["gcov-tool", "merge", total, folder, "-o", merged],
                           check=True, stdout=subprocess.DEVNULL)
            folder = merged
        total = folder
    return total


def functions_of(build, total):
    """Yield (source, function) of all files, as gcov describes them."""
    for note in sorted(glob.glob(os.path.join(build, "driver/**/*.gcno"),
                                 recursive=True)):
        path = os.path.relpath(note, build)
        counters = os.path.join(total, path.removesuffix("gcno") + "gcda")
        if not os.path.exists(counters):
            continue
        shutil.copy(note, os.path.splitext(counters)[0] + ".gcno")
        run = subprocess.run(["gcov", "--json-format", "--stdout", "-b", counters],
                             check=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        for source in json.loads(run.stdout)["files"]:
            if "/driver/" in source["file"] and source["file"].endswith(".c"):
                name = source["file"].split("/driver/", 1)[1]
                for function in source["functions"]:
                    yield name, function


def module_of(source):
    return "ornic_soft" if source.startswith(("soft/", "engine/")) else "ornic"


def main():
    build, reports = sys.argv[1:]
    blocks = collections.Counter()
    executed = collections.Counter()
    missed = []
    with tempfile.TemporaryDirectory(prefix="ornic-coverage-") as work:
        total = merge(gather(reports), build, work)
        if not total:
            sys.exit("coverage: no guest has reported counters")
        for source, function in functions_of(build, total):
            for key in (module_of(source), source):
                blocks[key] += function["blocks"]
                executed[key] += function["blocks_executed"]
            left = function["blocks"] - function["blocks_executed"]
            if left:
                missed.append((left, function["blocks"], source,
                               function["name"]))
    for left, count, source, name in sorted(missed, reverse=True):
        print(f"{left:4} of {count:4} blocks missed  {source} {name}")
    for key in sorted(blocks, key=lambda k: ("/" in k or "." in k, k)):
        print(f"{executed[key] * 100 / blocks[key]:5.1f} % of "
              f"{blocks[key]:5} blocks  {key}")


if __name__ == "__main__":
    main()
