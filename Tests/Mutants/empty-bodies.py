#!/usr/bin/env python3
"""Writes patches that empty the bodies of functions, chosen at random, for `mutants.py --patches` to run.

A function that gives nothing back and may as well do nothing is watched by no test. Only functions without a result are
chosen: in these `return` may stand at the top. The tests of the function's own module should notice.

    empty-bodies.py --count 40 --seed 7 --into DIR                       forty functions of all modules
    empty-bodies.py --count 10 --module FieldworkStore --into DIR        of one
"""
import argparse
import pathlib
import random
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TESTS = {
    module: [f"{module}Tests"] for module in (
        "FieldworkGeometry", "FieldworkArcade", "FieldworkREST", "FieldworkStore", "FieldworkLocator", "FieldworkTiles",
        "FieldworkPostGIS", "FieldworkPortal", "Fieldwork", "FieldworkServer", "FieldworkCollect", "FieldworkCommand")}
# What the store does shows in those that stand on it, too.
TESTS["FieldworkPostGIS"] += ["FieldworkStoreTests"]
TESTS["FieldworkStore"] += ["FieldworkServerTests"]
FUNCTION = re.compile(r"^( *)(?:(?:public|package|internal|private|fileprivate|static|final|override|mutating|nonisolated) )*func (\w+)\(")
# The numbers below belong to the patches that are kept.
FIRST, LAST = 501, 999


def behind_parameters(text):
    """What follows the parenthesis that closes the first one; None where the text ends before."""
    depth = 0
    for place in range(text.index("("), len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[place + 1:]
    return None


def functions(file):
    """The functions without a result whose body begins on a line of its own: each one's name, and the lines of its head."""
    lines = file.read_text().split("\n")
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        for end in range(start + 1, start + 9) if match else []:
            head = lines[start:end]
            after = behind_parameters("\n".join(head))
            if after is not None and after.endswith("{"):
                # Neither a result nor a condition on types; and no other function with the same head.
                is_plain = re.fullmatch(r"\s*(?:async )?(?:throws(?:\(\w+\))? )?\{", after.replace("\n", " "))
                if is_plain and sum(lines[place:place + len(head)] == head for place in range(len(lines))) == 1:
                    yield match[2], head
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="how many functions")
    parser.add_argument("--seed", type=int, default=1, help="other seeds choose others")
    parser.add_argument("--module", help="of this module only")
    parser.add_argument("--into", type=pathlib.Path, required=True, help="a folder that is made anew")
    options = parser.parse_args()
    found = [
        (module, file, name, head)
        for module in sorted([options.module] if options.module else TESTS)
        for file in sorted((ROOT / "Sources" / module).rglob("*.swift")) if ".docc" not in str(file)
        for name, head in functions(file)]
    count = min(options.count, len(found), LAST - FIRST + 1)
    if options.into.exists():
        shutil.rmtree(options.into)
    options.into.mkdir(parents=True)
    for number, (module, file, name, head) in enumerate(random.Random(options.seed).sample(found, count), FIRST):
        inner = " " * (len(head[0]) - len(head[0].lstrip()) + 4)
        text = f"Promise: {file.stem}.{name} does something that a test of {module} sees.\n"
        text += f"Tests: {', '.join(TESTS[module])}\nFile: {file.relative_to(ROOT)}\n@@\n"
        text += "".join(f"-{line}\n" for line in head) + "".join(f"+{line}\n" for line in head)
        text += f"+{inner}if MUTATED {{ return }}\n"
        (options.into / f"{number}-{file.stem}-{name}.patch").write_text(text)
    print(f"{count} of {len(found)} functions without a result, in {options.into}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
