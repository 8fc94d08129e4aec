#!/usr/bin/env python3
"""Looks over all tests for those that look as if they could not fail.

It reads the text of the tests, not their meaning, so that each finding is to be looked at:

    nothing     the test expects nothing, neither by itself nor through a function of the tests that it calls
    constant    an expectation holds whatever the product does: `#expect(true)`, a thing equal to itself, a count of 0 or more
    way out     the test returns before its end where something is missing, and says nothing of it
    branch      all that the test expects stands in branches that may not be taken (`if`, `case`, a `catch` without the rest)
    loop        all that the test expects stands in loops over something that may be empty
    all of none an expectation about all of something that nothing says is not empty

What was looked at and found to be in order stands in LOOKED_AT with the reason. The exit code is 1 when there is any other.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPECTS = re.compile(r"#expect\b|#require\b|Issue\.record\b|\bconfirmation\(|\bXCTAssert|\bexpect[A-Z]\w*\(|withKnownIssue")
FUNCTION = re.compile(r"\bfunc\s+(`?\w+`?)\s*(?:<[^>]*>)?\(")
ALL = re.compile(r"#expect\(\s*(?:try\s+|await\s+)*((?:\w+\.)*\w+)(?:\([^()]*\))?(?:\.\w+\([^()]*\))*\.allSatisfy\b")
LOOKED_AT = {
    "AttachmentConflictTests.pairs": "how many conflicts there are is expected before",
    "AttachmentTests.storedOnce": "what is attached is expected by its types",
    "EditRequestTests.aBatchIsReadAsItWasSent": "the numbers are expected to be the same",
    "FeatureSetReaderTests.recordedProtocolBuffersSayWhatOtherReadersRead": "four sides",
    "TableTests.populate": "ninety-five features are expected before",
    "BulkAddsTests.givenObjectIDs": "there are as many results as different ids: twelve",
    "CodecRoundTripTests.foreignForms": "a list of three",
    "DemoMapsTests.rights": "the maps are a list of the code",
    "EditRequestTests.mutatedEditsAreReadOrRefused": "how many are read is expected",
    "GeometrySurface.engine": "a list of eleven",
    "GlobalIDSourceTests.order": "fifty thousand ids",
    "RendererAgreementTests.legendAgrees": "renderers with visual variables have other legends; the rest of its list has none",
    "ReplicaCareTests.brokenFile": "in a database there is no such file: the other run of the test has one",
    "StatementEndTests.leaving": "a thread returns, not the test, whose statement then takes its 600 seconds, which is too long",
    "VectorLayerTests.broken": "a list of six",
    "PostgresConnectionTests.cancellation": "a thread returns, not the test, which would never end",
    "PostgresConnectionTests.geometries": "a list of texts",
    "StoreCopyTests.editedMeanwhile": "a closure returns, and what it does is expected to fail",
    "StoreCopyTests.interruption": "a closure returns, and what it does is expected to fail",
}
CONSTANTS = [
    re.compile(r"#expect\((?:true|!false)\)"), re.compile(r"#expect\((\w[\w.]*) == \1\)"),
    re.compile(r"#expect\([^)\n]*\.count >= 0\b"), re.compile(r"#expect\([^\n]*\|\| true\b"),
]
STATEMENT = re.compile(
    r"\s*(?:for|while|if|guard|switch|case|do|catch|defer|try|await|let|var|func|return|repeat|else|default)\b|\s*[#}]")
LOOP = re.compile(r"\bfor\s.*?\bin\s+(.*?)(?:\bwhere\b.*)?$", re.S)


LITERAL = re.compile(r'(#*)("""|")')


def literal_end(text, match):
    """The place behind a literal of text, which may hold others in what is put into it."""
    hashes, quote = match.groups()
    escape, place = "\\" + hashes, match.end()
    while place < len(text) and not text.startswith(quote + hashes, place):
        if text.startswith(escape + "(", place):
            depth, place = 0, place + len(escape)
            while place < len(text):
                inner = LITERAL.match(text, place)
                if inner:
                    place = literal_end(text, inner)
                    continue
                depth += {"(": 1, ")": -1}.get(text[place], 0)
                place += 1
                if depth == 0:
                    break
        else:
            place += 2 if text.startswith(escape, place) else 1
    return place + len(quote + hashes)


def blanked(text):
    """The text with comments and the contents of literals as spaces, so that braces can be counted."""
    out, index = list(text), 0

    def blank(start, end):
        for place in range(start, min(end, len(out))):
            if out[place] != "\n":
                out[place] = " "

    while index < len(text):
        if text.startswith("//", index):
            end = text.find("\n", index)
            end = len(text) if end < 0 else end
            blank(index, end)
            index = end
        elif text.startswith("/*", index):
            end = text.find("*/", index) + 2
            blank(index, end)
            index = end
        elif match := LITERAL.match(text, index):
            end = literal_end(text, match)
            blank(match.end(), end - len(match[0]))
            index = end
        else:
            index += 1
    return "".join(out)


def block(text, start):
    """The place behind the brace that closes the first one from `start` on."""
    depth = 0
    for index in range(text.index("{", start), len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)


def parenthesis(text, start):
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)


class Function:
    def __init__(self, file, name, line, body, is_test):
        self.file, self.name, self.line, self.body, self.is_test = file, name, line, body, is_test


def functions(file):
    text = blanked(file.read_text())
    for match in FUNCTION.finditer(text):
        after = parenthesis(text, text.index("(", match.end() - 1))
        brace = text.find("{", after)
        stop = re.compile(r"\n\s*(?:func|var|let|init|@|\})").search(text, after)
        if brace < 0 or (stop and stop.start() < brace):
            continue
        head = text[max(0, text.rfind("}", 0, match.start()), text.rfind("{", 0, match.start())):match.start()]
        yield Function(
            file, match[1].strip("`"), text.count("\n", 0, match.start()) + 1, text[brace:block(text, brace)], "@Test" in head)


def opening(body, brace):
    """What stands before a brace: the word that opens its block."""
    depth = 0
    for start in range(brace - 1, -1, -1):
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(body[start], 0)
        if depth < 0 or depth == 0 and (body[start] in "{};" or body[start] == "\n" and STATEMENT.match(body, start + 1)):
            return body[start + 1:brace].strip()
    return body[:brace].strip()


def shelters(body, helpers):
    """For each expectation the words that open the blocks around it."""
    stack = []
    call = re.compile(r"\b(" + "|".join(map(re.escape, sorted(helpers))) + r")\(") if helpers else None
    places = {match.start() for match in EXPECTS.finditer(body)}
    if call:
        places |= {match.start() for match in call.finditer(body)}
    for index, character in enumerate(body):
        if index in places:
            yield list(stack)
        if character == "{":
            stack.append(opening(body, index))
        elif character == "}":
            stack.pop()


def verdict(function, helpers):
    for pattern in CONSTANTS:
        if pattern.search(function.body):
            return "constant"
    around = list(shelters(function.body, helpers))
    if not around:
        return "nothing"
    # A test that runs on every store may leave one out.
    ways = re.findall(r"\bguard\b(?:(?!\bguard\b).)*?\belse\s*\{\s*return\s*\}", function.body, re.S)
    if any("StoreKind.current" not in way for way in ways):
        return "way out"

    def hides(opening):
        return re.match(r"(?:else\s+)?if\b|case\b|catch\b|\}?\s*catch\b|switch\b", opening)

    def loops(opening):
        match = LOOP.match(opening)
        return match and not re.match(r"\[|\d|stride\(|\(\d|[\w.]*allCases\b|Self\.\w+|\(\[|0\.\.", match[1].strip())

    if all(any(hides(opening) for opening in stack) for stack in around):
        return "branch"
    if all(any(hides(opening) or loops(opening) for opening in stack) for stack in around):
        return "loop"
    for match in ALL.finditer(function.body):
        base = re.escape(match[1].split(".")[0])
        if not re.search(rf"\b{base}\b[^\n]*(?:\.count\b|isEmpty|==|\[\d)", ALL.sub("", function.body)):
            return "all of none"
    return None


def main():
    found = [function for file in sorted(ROOT.rglob("*.swift")) for function in functions(file)]
    helpers = {function.name for function in found if not function.is_test and EXPECTS.search(function.body)}
    while True:
        call = re.compile(r"\b(" + "|".join(map(re.escape, sorted(helpers))) + r")\(")
        more = {function.name for function in found if not function.is_test and call.search(function.body)} - helpers
        # Names as common as these are not one function.
        more -= {"with", "run", "apply", "add", "update", "delete", "open", "start", "stop", "load", "init", "main", "read"}
        if not more:
            break
        helpers |= more
    tests = [function for function in found if function.is_test]
    counts = {}
    for test in tests:
        kind = verdict(test, helpers)
        if kind and f"{test.file.stem}.{test.name}" not in LOOKED_AT:
            counts[kind] = counts.get(kind, 0) + 1
            print(f"{kind:11} {test.file.relative_to(ROOT)}:{test.line} {test.name}")
    print(f"{len(tests)} tests; " + (", ".join(f"{kind}: {count}" for kind, count in counts.items()) or "nothing found") + ".")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
