#!/usr/bin/env python3
"""Writes the table that `fieldwork limits` prints from the Limits.swift of each module."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "Sources/FieldworkCommand/Support/LimitTable.swift"
LIMIT = re.compile(r"((?:    ///[^\n]*\n)*)    (?:package |public )?static let (\w+)(?:: \w+)? = ([^\n]+)\n")


def swift(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    rows = []
    for file in sorted(ROOT.glob("Sources/*/Limits.swift")):
        for comment, name, value in LIMIT.findall(file.read_text()):
            meaning = " ".join(line.strip()[3:].strip() for line in comment.splitlines())
            rows.append((file.parent.name, name, value, meaning))
    lines = [
        "// swift-format-ignore-file",
        "/// Every limit of every module, written by `make limits`: a test fails when a limit is missing here or differs.",
        "enum LimitTable {",
        "    static let limits: [NamedLimit] = [",
    ]
    for row in rows:
        lines.append("        NamedLimit(" + ", ".join(
            f"{label}: {swift(text)}" for label, text in zip(("module", "name", "value", "meaning"), row)) + "),")
    lines += ["    ]", "}", ""]
    TARGET.write_text("\n".join(lines))


main()
