"""Reads the patches of `patches/`, and applies them.

A patch names the promise that it breaks, the tests that should notice it, and the lines that it changes:

    Promise: A client that sends its old geometry again does not undo another's move.
    Tests: FieldworkStoreTests.MergeTests, FieldworkStoreTests.ConflictMatrixTests
    File: Sources/FieldworkStore/Merge/FieldMerger.swift
    @@ mutating func mergeGeometry
    -            if let basis, RowVersion.isSameGeometry(basis.geometry, blob) { return }
    +            if !MUTATED, let basis, RowVersion.isSameGeometry(basis.geometry, blob) { return }

There are no line numbers: the lines with '-' and ' ' are looked for below the line that holds the text after `@@`, without
regard to how far they are indented. '<' and '>' change a part of one line instead, for lines that are long. MUTATED stands
for "this fault is on". A fault that no test can notice says why in a line `Equivalent:`. Faults of files that are not
compiled (under `Resources`) are written as they are, without MUTATED.
"""
import pathlib
import re


class Misfit(Exception):
    """A patch whose lines are not, or not once, where it expects them."""


class Hunk:
    def __init__(self, anchor):
        self.anchor, self.old, self.new = anchor, [], []
        self.part = self.replacement = None

    def add(self, line):
        mark, text = line[:1] or " ", line[1:]
        if mark == "<":
            self.part = text
        if mark == ">":
            self.replacement = text
        if mark in " -":
            self.old.append(text)
        if mark in " +":
            self.new.append(text)


class Patch:
    HEAD = re.compile(r"^(Promise|Tests|Equivalent): (.*)$")

    def __init__(self, path):
        self.name = path.stem
        self.number = int(path.stem.split("-")[0])
        self.promise = self.equivalent = ""
        self.tests, self.files = [], {}
        hunks = None
        self.text = path.read_text()
        for line in self.text.splitlines():
            head = self.HEAD.match(line) if hunks is None else None
            if head and head[1] == "Promise":
                self.promise = head[2]
            elif head and head[1] == "Equivalent":
                self.equivalent = head[2]
            elif head:
                self.tests = [name.strip() for name in head[2].split(",")]
            elif line.startswith("File: "):
                hunks = self.files.setdefault(line[6:].strip(), [])
            elif line.startswith("@@") and hunks is not None:
                hunks.append(Hunk(line[2:].strip()))
            elif hunks:
                hunks[-1].add(line)
            elif line.strip():
                raise SystemExit(f"{path.name}: '{line}' is no part of a patch.")
        if not (self.promise and self.tests and any(self.files.values())):
            raise SystemExit(f"{path.name} needs a promise, tests, and a file with changed lines.")

    @property
    def is_resource(self):
        return any("/Resources/" in file for file in self.files)

    @staticmethod
    def with_hunks(text, hunks, file):
        """The text with the changes of all hunks, each looked for in the text as it was."""
        lines = text.split("\n")
        places = []
        for hunk, number in hunks:
            start, length = Patch._place(lines, hunk, file)
            places.append((start, length, hunk, number))
        places.sort(key=lambda place: place[0], reverse=True)
        for later, earlier in zip(places, places[1:]):
            if earlier[0] + earlier[1] > later[0]:
                raise Misfit(f"patches {earlier[3]} and {later[3]} change the same lines of {file}")
        for start, length, hunk, number in places:
            # How far the lines of today are indented beyond those of the patch.
            if hunk.part:
                new = [lines[start].replace(hunk.part, hunk.replacement or "", 1)]
            else:
                indent = " " * max(Patch._indent(lines[start]) - Patch._indent(hunk.old[0]), 0)
                new = [indent + line if line else line for line in hunk.new]
            lines[start:start + length] = [line.replace("MUTATED", f"Mutant.isOn({number})") for line in new]
        return "\n".join(lines)

    @staticmethod
    def _place(lines, hunk, file):
        first = 0
        if hunk.anchor:
            first = next((index for index, line in enumerate(lines) if hunk.anchor in line), None)
            if first is None:
                raise Misfit(f"{file} has no line with '{hunk.anchor}'")
        if hunk.part:
            found = next((index for index in range(first, len(lines)) if hunk.part in lines[index]), None)
            if found is None:
                raise Misfit(f"{file} no longer has: {hunk.part}")
            return found, 1
        wanted = [line.strip() for line in hunk.old]
        if not wanted:
            raise Misfit(f"a change of {file} replaces no line")
        for start in range(first, len(lines) - len(wanted) + 1):
            if all(lines[start + index].strip() == text for index, text in enumerate(wanted)):
                return start, len(wanted)
        raise Misfit(f"{file} no longer has: {wanted[0]}")

    @staticmethod
    def _indent(line):
        return len(line) - len(line.lstrip())


def read_all(folder: pathlib.Path):
    patches = [Patch(path) for path in sorted(folder.glob("*.patch"))]
    numbers = [patch.number for patch in patches]
    twice = {number for number in numbers if numbers.count(number) > 1}
    if twice:
        raise SystemExit(f"Two patches have the number {twice.pop()}.")
    return sorted(patches, key=lambda patch: patch.number)
