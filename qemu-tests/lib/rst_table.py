# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tables for the documentation."""


def print_table(rows):
    """A simple table in reST; the first row is its head."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = "  ".join("=" * width for width in widths)
    for number, row in enumerate(rows):
        if number < 2:
            print(rule)
        print("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())
    print(rule + "\n")
