#!/usr/bin/env python3
"""Puts small faults into a copy of the product, one at a time, and says which of them the tests notice.

Each file of `patches` is one fault. All of them stand in one build of the copy, behind the environment variable
FIELDWORK_MUTANT: a fault is on where the variable has its number. First the tests that should notice each fault run, then,
with --all, the whole of the suites for what went by or was noticed by one test alone.

    mutants.py --check                        says which patches no longer fit the sources
    mutants.py                                builds the copy and runs every fault
    mutants.py --only 10,32,200-219 --all     runs some of them, and whole suites where one test or none noticed
    mutants.py --copy DIR --no-build          runs what was built before

The exit code is 0 where every patch fits and every fault was noticed, else 1.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from patches import Misfit, Patch, read_all

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VARIABLE = "FIELDWORK_MUTANT"
# The suites that a whole run goes through: those that take minutes are left to the names in the patches.
WHOLE = [
    "FieldworkGeometryTests", "FieldworkRESTTests", "FieldworkStoreTests", "FieldworkPostGISTests", "FieldworkServerTests",
    "FieldworkTests", "FieldworkCommandTests", "SeedCompatibilityTests", "SimulationTests.SimulationTests",
    "FieldworkCollectTests",
]
# These start programs and browsers, which would starve each other.
ALONE = ("FieldworkCollectTests", "EndToEndTests")
SWITCH = """\
import Foundation

/// Which fault is on: put into the copy of the sources that is tested with faults.
enum Mutant {
    private static let isOn: [Bool] = {
        var isOn = [Bool](repeating: false, count: 1_000)
        for text in (ProcessInfo.processInfo.environment["%s"] ?? "").split(separator: ",") {
            if let number = Int(text), isOn.indices.contains(number) { isOn[number] = true }
        }
        return isOn
    }()

    static func isOn(_ number: Int) -> Bool { isOn[number] }
}
""" % VARIABLE


class Copy:
    """A copy of the sources with every fault in it, and its build."""

    def __init__(self, folder):
        self.folder = folder
        self.products = folder / ".build/debug"

    def write(self, patches):
        """Brings the copy up to date; what has not changed keeps its date, so that little is built again."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        contents = {
            name: (ROOT / name).read_bytes() for name in listed.splitlines()
            if not name.startswith(".") and (ROOT / name).is_file()}
        resolved = ROOT / "Package.resolved"
        if resolved.is_file():
            contents["Package.resolved"] = resolved.read_bytes()
        changed = {}
        for patch in patches:
            if not patch.is_resource:
                for file, hunks in patch.files.items():
                    changed.setdefault(file, []).extend((hunk, patch.number) for hunk in hunks)
        for file, hunks in changed.items():
            contents[file] = Patch.with_hunks(contents[file].decode(), hunks, file).encode()
        for module in {file.split("/")[1] for file in changed}:
            contents[f"Sources/{module}/Mutant.swift"] = SWITCH.encode()
        for name, content in contents.items():
            path = self.folder / name
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            path.chmod((ROOT / name).stat().st_mode if (ROOT / name).exists() else 0o644)
        for part in ("Sources", "Tests"):
            for path in (self.folder / part).rglob("*"):
                if path.is_file() and str(path.relative_to(self.folder)) not in contents and "__pycache__" not in path.parts:
                    path.unlink()
        kept = ROOT / ".fieldwork"
        if kept.is_dir() and not (self.folder / ".fieldwork").exists():
            (self.folder / ".fieldwork").symlink_to(kept)

    def build(self):
        """Builds what the tests need; the first time takes as long as a first build of the project."""
        subprocess.run(["swift", "build", "--build-tests"], cwd=self.folder, check=True)

    def resource(self, file):
        """Where the build keeps a file of `Sources/MODULE/Resources`."""
        _, module, *rest = file.split("/")
        return self.products / f"fieldwork_{module}.resources" / "/".join(rest)


class Outcome:
    def __init__(self, noticed, seconds, text):
        self.noticed, self.seconds, self.text = noticed, seconds, text


class Runner:
    COLOUR = re.compile(r"\x1b\[[0-9;]*m")
    FAILED = re.compile(r'^✘ Test (?!run with )(.+?)(?: with \d+ test cases?)? failed after', re.M)
    PASSED = re.compile(r'^✔ Test (?!run with )(.+?)(?: with \d+ test cases?)? passed after', re.M)

    def __init__(self, copy, seconds, before):
        self.copy, self.seconds, self.before = copy, seconds, before
        self.bundle = next(copy.products.glob("*PackageTests.xctest"))
        self.resources = threading.Lock()

    def run(self, number, tests, patch=None):
        """Runs tests with a fault on: the names of those that failed."""
        alone = [name for name in tests if name.startswith(ALONE)]
        noticed, text, started = set(), "", time.monotonic()
        for group in (alone, [name for name in tests if name not in alone]):
            if group:
                failed, output = self._run(number, group, group is alone)
                noticed |= failed
                text += output
        return Outcome(noticed, time.monotonic() - started, text)

    def _run(self, number, tests, alone):
        command = self.before + [str(self.bundle), "--testing-library", "swift-testing"]
        for name in tests:
            command += ["--filter", name.replace(".", r"\.") + r"(/|\b)"]
        if alone:
            command.append("--no-parallel")
        environment = dict(os.environ, NO_COLOR="1", **{VARIABLE: str(number)})
        with subprocess.Popen(
            command, cwd=self.copy.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True) as process:
            try:
                output = self.COLOUR.sub("", process.communicate(timeout=self.seconds)[0].decode(errors="replace"))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output = self.COLOUR.sub("", process.communicate()[0].decode(errors="replace"))
                return set(self.FAILED.findall(output)) | {"the end of the run, which did not come"}, output
        failed = set(self.FAILED.findall(output))
        if process.returncode < 0 or process.returncode not in (0, 1):
            failed.add(f"the process, which ended with {process.returncode}")
        if not failed and not self.PASSED.search(output):
            raise SystemExit(f"No test has run for: {' '.join(tests)}\n{output[-2_000:]}")
        return failed, output

    def try_patch(self, patch, tests):
        if not patch.is_resource:
            return self.run(patch.number, tests)
        # The file of the build is changed while this fault is tried, and no other.
        kept = {self.copy.resource(file): None for file in patch.files}
        with self.resources:
            try:
                for file, hunks in patch.files.items():
                    path = self.copy.resource(file)
                    kept[path] = path.read_text()
                    path.write_text(Patch.with_hunks(kept[path], [(hunk, patch.number) for hunk in hunks], file))
                return self.run(0, tests)
            finally:
                for path, text in kept.items():
                    if text is not None:
                        path.write_text(text)


def chosen(patches, text):
    if not text:
        return patches
    numbers = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return [patch for patch in patches if patch.number in numbers]


def misfits(patches):
    """What no longer fits the sources of today, or changes the same lines as another one."""
    found, together = [], {}
    for patch in patches:
        try:
            for file, hunks in patch.files.items():
                all_hunks = together.get(file, []) + [(hunk, patch.number) for hunk in hunks]
                Patch.with_hunks((ROOT / file).read_text(), all_hunks, file)
                together[file] = all_hunks
        except (Misfit, OSError) as error:
            found.append((patch, str(error)))
        for name in patch.tests:
            module, _, suite = name.partition(".")
            if suite and not any(
                    re.search(rf"\b(?:struct|class|enum|actor) {suite}\b", file.read_text())
                    for file in (ROOT / "Tests" / module).rglob("*.swift")):
                found.append((patch, f"there is no suite {name}"))
    return found


def report(patch, outcome):
    count = len(outcome.noticed)
    word = "noticed by %d" % count if count else "GONE BY"
    print(f"{patch.number:4}  {word:14} {outcome.seconds:6.0f} s  {patch.promise}")
    for name in sorted(outcome.noticed)[:3]:
        print(f"{'':30} {name}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say which patches no longer fit")
    parser.add_argument("--only", help="numbers and ranges of the faults to run")
    parser.add_argument("--copy", type=pathlib.Path, default=ROOT / ".build/mutants", help="where the copy is built")
    parser.add_argument("--no-build", action="store_true", help="the copy is written and built already")
    parser.add_argument("--write-only", action="store_true", help="write the copy, for a build by hand")
    parser.add_argument("--all", action="store_true", help="whole suites for what went by or was noticed by one test")
    parser.add_argument("--tests", help="run these tests instead of those that the patches name")
    parser.add_argument("--jobs", type=int, default=1, help="how many faults to run at the same time")
    parser.add_argument("--seconds", type=int, default=900, help="how long one run of tests may take")
    parser.add_argument("--before", default="", help="a command that runs the tests, such as nice")
    options = parser.parse_args()
    every = read_all(ROOT / "Tests/Mutants/patches")
    broken = misfits(every)
    for patch, why in broken:
        print(f"{patch.number:4}  DOES NOT FIT   {patch.name}: {why}")
    if options.check:
        print(f"{len(every)} patches, of which {len(broken)} no longer fit.")
        return 1 if broken else 0
    fitting = [patch for patch in every if patch not in {patch for patch, _ in broken}]
    copy = Copy(options.copy.resolve())
    if not options.no_build:
        copy.write(fitting)
        if options.write_only:
            return 1 if broken else 0
        copy.build()
    patches = chosen(fitting, options.only)
    runner = Runner(copy, options.seconds, options.before.split())
    wanted = (lambda patch: options.tests.split(",")) if options.tests else (lambda patch: patch.tests)
    # Without a fault all must pass, or nothing that follows says anything.
    control = runner.run(0, sorted({name for patch in patches for name in wanted(patch)}))
    if control.noticed:
        print("Without any fault these tests fail:", *sorted(control.noticed), sep="\n  ")
        return 1
    print(f"Without any fault all tests pass ({control.seconds:.0f} s).")
    outcomes = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kind in (False, True):
            group = [patch for patch in patches if patch.is_resource == kind]
            for patch, outcome in zip(group, pool.map(lambda patch: runner.try_patch(patch, wanted(patch)), group)):
                outcomes[patch] = outcome
                report(patch, outcome)
    if options.all:
        few = [patch for patch in patches if len(outcomes[patch].noticed) < 2]
        print(f"The whole suites for {len(few)}:")
        for patch in few:
            outcomes[patch].noticed |= runner.try_patch(patch, WHOLE).noticed
            report(patch, outcomes[patch])
    gone = [patch for patch in patches if not outcomes[patch].noticed]
    explained = [patch for patch in gone if patch.equivalent]
    many = [patch for patch in patches if len(outcomes[patch].noticed) > 1]
    print(f"{len(patches)} faults: {len(patches) - len(gone)} noticed, {len(many)} by more than one test; "
          f"{len(gone)} went by, of which {len(explained)} are explained; {len(broken)} patches do not fit.")
    for patch in gone:
        print(f"{patch.number:4}  {patch.name}: {patch.equivalent or patch.promise}")
    return 1 if broken or len(gone) > len(explained) else 0


if __name__ == "__main__":
    sys.exit(main())
