# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tables of structs and enums from the headers, by the kernel's directive:
``.. kernel-doc:: FILE`` with ``:identifiers: NAME...``. The text of a field is its
line of kernel-doc or the remark beside it. Offsets follow from the types;
ornic-layout.h asserts that compilers agree."""

import os
import re

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = {"__u8": 1, "__le16": 2, "__be16": 2, "__le32": 4, "__be32": 4, "__le64": 8}
COMMENT = r"/\*(?:(?!\*/).)*\*/"
DEFINITION = re.compile(rf"({COMMENT}\s*\n)?^(struct|enum) (\w+) \{{(.*?)^\}};", re.S | re.M)
FIELD = re.compile(r"(?:struct )?(\w+) (\w+)(?:\[(\d+)\])?;")
VALUE = re.compile(r"(ORNIC_\w+)\s*= ([^,]+),")
COUNTER = re.compile(rf"(ALWAYS|OPTIONAL)\((\w+), (\w+)\)\s*({COMMENT})")
NAME = r"(?<!`)\b((?:ORNIC|__)\w+|(?:struct|enum|union) \w+|\w+\.\w+_\w+)\b(?!`)"


def plain(comment):
    """The text of a comment."""
    text = re.sub(r"^/\*+|\*+/\s*$", "", comment or "")
    return re.sub(r"\n[ \t]*\* ?", "\n", text).strip()


def markup(text):
    """RST of @text: names as literals, what RST would take for markup escaped."""
    text = re.sub(r"@(\w+)", r"``\1``", " ".join(text.split()))
    text = re.sub(NAME, r"``\1``", text)
    return re.sub(r"(?<=\w)_(?=[^\w`]|$)|\*|\|", r"\\\g<0>", text)


def items(body, pattern):
    """Yield (match of @pattern, remark); a remark alone on a line is about the next."""
    above = ""
    for line in re.finditer(rf"({pattern.pattern})?[ \t]*({COMMENT})?\n", body, re.S):
        remark = plain(line[line.lastindex]) if line[0].endswith("*/\n") else ""
        code = pattern.match(line[1] or "")
        if code:
            yield code, f"{above} {remark}".strip()
        above = "" if code else remark


class Header:
    """The definitions of a header and of those that it includes."""

    def __init__(self, path):
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            self.text = file.read()
        self.found = {m[3]: m for m in DEFINITION.finditer(self.text)}
        for name in re.findall(r"#include <(rdma/ornic-hw[\w-]*\.h)>", self.text):
            self.found = {**Header("uapi/" + name).found, **self.found}

    def fields(self, name):
        """[offset, bytes, field, remark] of each field; size; alignment."""
        rows, at, widest = [], 0, 1
        for code, remark in items(self.found[name][4], FIELD):
            size = align = SIZES.get(code[1])
            if not size:
                _, size, align = self.fields(code[1])
            at, size = -(-at // align) * align, size * int(code[3] or 1)
            rows.append([at, size, code[2], remark])
            at, widest = at + size, max(widest, align)
        return rows, -(-at // widest) * widest, widest

    def struct(self, name):
        """Text, widths of the columns, rows with their head."""
        text, listed = plain(self.found[name][1]), {}
        match = re.match(rf"struct {name} - (.*?)\n(@.*?)(\n\n.*|)\Z", text, re.S)
        if match:
            listed = dict(re.findall(r"@(\w+): (.*?)(?=\n@|\Z)", match[2], re.S))
            text = match[1] + match[3]
        rows = [[at, size, f"``{field}``", markup(listed.get(field, remark))]
                for at, size, field, remark in self.fields(name)[0]]
        return text, "8 8 24 60", [["offset", "bytes", "field", "meaning"], *rows]

    def enum(self, name):
        """Likewise."""
        rows = [[f"``{code[1]}``", code[2], markup(remark)]
                for code, remark in items(self.found[name][4], VALUE)]
        if rows:
            return plain(self.found[name][1]), "36 12 52", [["name", "value", "meaning"], *rows]
        rows = [[f"``{counter}``", kind.lower(), markup(plain(text))]
                for kind, _, counter, text in COUNTER.findall(self.text)]
        return "", "26 12 62", [["counter", "counts", "meaning"], *rows]


class KernelDoc(Directive):
    """One table for each identifier, below its description."""

    required_arguments = 1
    option_spec = {"identifiers": directives.unchanged_required}

    def run(self):
        self.state.document.settings.env.note_dependency(os.path.join(TOP, self.arguments[0]))
        header, lines = Header(self.arguments[0]), []
        for name in self.options["identifiers"].split():
            kind = header.found[name][2]
            text, widths, rows = getattr(header, kind)(name)
            lines += [f"**{kind} {name}**", ""]
            for part in re.split(r"\n\s*\n", text):
                if "\n  " in f"\n{part}":  # drawn
                    lines += ["::", "", *(f"   {line}" for line in part.splitlines()), ""]
                else:
                    lines += [markup(part), ""]
            lines += [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
            lines += [f"   {' ' if i else '*'} - {cell}" for row in rows
                      for i, cell in enumerate(row)] + [""]
        node = nodes.section()
        self.state.nested_parse(StringList(lines, self.arguments[0]), 0, node)
        return node.children


def setup(app):
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
