# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Counts of instructions against those that a file has from before."""

import os
import sys


class Baseline:
    """The file PATH, that COMMAND makes if UPDATE=1 is in its environment. Its counts are
    those with TOOLS, a text; they may rise by the share LIMIT."""

    def __init__(self, path, command, tools, limit):
        self.path = path
        self.command = command
        self.tools = tools
        self.limit = limit

    def _read(self):
        """The tools of the file, and its counts by name."""
        if not self.path.exists():
            return None, {}
        lines = self.path.read_text(encoding="utf-8").splitlines()
        tools = lines[1].partition(", with ")[2]
        rows = [line.rsplit(None, 2) for line in lines if not line.startswith("#")]
        return tools, {name: float(number) for name, number, _unit in rows}

    def _write(self, rows):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause\n")
            file.write(f"# {self.command} UPDATE=1, with {self.tools}\n")
            for name, number, unit in rows:
                file.write(f"{name:<30} {number:>9.1f}  {unit}\n")

    def _compare(self, rows, before):
        """Print the table. Returns the lines that rose too much."""
        risen = []
        print(f"{'instructions of':<30} {'now':>9} {'before':>9} {'change':>8}")
        for name, number, unit in rows:
            was = before.get(name)
            change = "new" if was is None else f"{number / was - 1:+.1%}"
            shown = "" if was is None else f"{was:.1f}"
            print(f"{name:<30} {number:>9.1f} {shown:>9} {change:>8}  per {unit}")
            if was is not None and number > was * (1 + self.limit):
                risen.append(f"{name}: {was:.1f} to {number:.1f} per {unit} ({change})")
        return risen

    def judge(self, rows):
        """Compare or keep ROWS of (name, count, unit), and end with what came of it."""
        tools, before = self._read()
        lost = sorted(before.keys() - {name for name, _number, _unit in rows})
        risen = self._compare(rows, before)
        if lost and not os.environ.get("UPDATE"):
            sys.exit(f"count: FAILED: not counted: {' '.join(lost)}")
        if os.environ.get("UPDATE"):
            self._write(rows)
            print(f"count: {self.path.name} is what was counted now")
        elif tools != self.tools:
            print(f"count: the baseline is of {tools}, this is {self.tools}: not compared")
        elif risen:
            for line in risen:
                print(f"count: FAILED: {line}, {self.limit:.0%} allowed")
            sys.exit(1)
        else:
            print(f"count: {len(rows)} passed, 0 failed")
