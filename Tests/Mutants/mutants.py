#!/usr/bin/env python3
"""Puts small faults into a copy of the product, one at a time, and says which of them the tests notice.

Each file of `patches` is one fault. All of them stand in one build of the copy, behind the environment variable
FIELDWORK_MUTANT: a fault is on where the variable has its number. First the tests that should notice each fault run. With
--all, what went by or was noticed by one test alone goes on to the other suites that reach its place, the quickest first,
until two tests have noticed it or the time for one fault is over. Which suite reaches which place is found out once, by a
run of every suite without a fault, and kept beside the results.

    mutants.py --check                        says which patches no longer fit the sources
    mutants.py                                builds the copy and runs every fault
    mutants.py --only 10,32,200-219 --all     runs some of them, and further suites where one test or none noticed
    mutants.py --copy DIR --no-build          runs what was built before
    mutants.py --results FILE                 keeps what was found in a file, and goes on where an earlier run was ended
    mutants.py --results FILE --table         prints what the file has as the table of RESULTS.md

The exit code is 0 where every patch fits and every fault was noticed, else 1.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from patches import Misfit, Patch, read_all

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VARIABLE = "FIELDWORK_MUTANT"
# A folder in which each place of a fault that is reached leaves a file with its number.
REACHED = "FIELDWORK_MUTANT_REACHED"
# The modules of tests that --all goes through: those that take minutes are left to the names in the patches.
WHOLE = [
    "FieldworkGeometryTests", "FieldworkRESTTests", "FieldworkStoreTests", "FieldworkPostGISTests", "FieldworkServerTests",
    "FieldworkTests", "FieldworkPortalTests", "FieldworkLocatorTests", "FieldworkTilesTests", "FieldworkArcadeTests",
    "FieldworkCommandTests", "FieldworkDrawingTests", "FieldworkOSMTests", "SeedCompatibilityTests", "FieldworkCollectTests",
]
# These start programs and browsers, which would starve each other.
ALONE = ("FieldworkCollectTests", "EndToEndTests")
SWITCH = """\
import Foundation
import Synchronization

/// Which fault is on: put into the copy of the sources that is tested with faults.
enum Mutant {
    private static let isOn: [Bool] = {
        var isOn = [Bool](repeating: false, count: 1_000)
        for text in (ProcessInfo.processInfo.environment["%s"] ?? "").split(separator: ",") {
            if let number = Int(text), isOn.indices.contains(number) { isOn[number] = true }
        }
        return isOn
    }()

    private static let folder = ProcessInfo.processInfo.environment["%s"]
    private static let reached = Mutex<Set<Int>>([])

    static func isOn(_ number: Int) -> Bool {
        if let folder, reached.withLock({ $0.insert(number).inserted }) {
            FileManager.default.createFile(atPath: "\\(folder)/\\(number)", contents: nil)
        }
        return isOn[number]
    }
}
""" % (VARIABLE, REACHED)


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
    """What a run of tests has found: the ids of the tests that failed, with their names, and how long it took."""

    def __init__(self, noticed, seconds, text):
        self.noticed, self.seconds, self.text = noticed, seconds, text

    @property
    def is_cut_off(self):
        """Whether the process ended before its tests: the others might have noticed something as well."""
        return any(" " in name for name in self.noticed)


class Runner:
    COLOUR = re.compile(r"\x1b\[[0-9;]*m")

    def __init__(self, copy, seconds, before):
        self.copy, self.seconds, self.before = copy, seconds, before
        self.bundle = next(copy.products.glob("*PackageTests.xctest"))
        self.resources = threading.Lock()

    def run(self, numbers, tests, reached=None):
        """Runs tests, named by their suites or by their ids, with faults on."""
        alone = [name for name in tests if name.startswith(ALONE)]
        noticed, text, started = {}, "", time.monotonic()
        for group in (alone, [name for name in tests if name not in alone]):
            if group:
                failed, output = self._run(numbers, group, group is alone, reached)
                noticed |= failed
                text += output
        return Outcome(noticed, time.monotonic() - started, text)

    def suites(self, modules):
        """The suites of modules of tests."""
        command = [str(self.bundle), "--testing-library", "swift-testing", "--list-tests"]
        listed = subprocess.run(command, cwd=self.copy.folder, check=True, capture_output=True, text=True).stdout
        return sorted({line.split("/")[0] for line in listed.splitlines() if "/" in line and line.split(".")[0] in modules})

    def reach(self, suite):
        """Which places of faults a suite reaches, how long it takes, and which of its tests fail without a fault."""
        with tempfile.TemporaryDirectory(prefix="reached-") as folder:
            outcome = self.run(0, [suite], reached=folder)  # A suite that is skipped here reaches nothing.
            return {
                "places": sorted(int(name) for name in os.listdir(folder)), "seconds": outcome.seconds,
                "fails": sorted(outcome.noticed)}

    def further(self, patch, noticed, reach, budget):
        """Which other tests notice a fault: two are enough."""
        found, spent = dict(noticed), 0
        suites = sorted(
            (suite for suite, what in reach.items() if patch.number in what["places"] and suite not in patch.tests),
            key=lambda suite: reach[suite]["seconds"])
        for suite in suites:
            if len(found) > 1 or spent + reach[suite]["seconds"] > budget:
                break
            outcome = self.run(patch.number, [suite])
            spent += outcome.seconds
            found |= {name: text for name, text in outcome.noticed.items() if name not in reach[suite]["fails"]}
        return found

    def _run(self, numbers, tests, alone, reached):
        command = self.before + [str(self.bundle), "--testing-library", "swift-testing"]
        for name in tests:
            # An id is whole; a suite or a module goes on.
            command += ["--filter", "^" + re.escape(name) + ("$" if ".swift:" in name else r"(/|\.|$)")]
        if alone:
            command.append("--no-parallel")
        environment = dict(os.environ, NO_COLOR="1", **{VARIABLE: str(numbers)})
        if reached:
            environment[REACHED] = reached
        cut_off = None
        with tempfile.NamedTemporaryFile(prefix="mutants-", suffix=".jsonl") as events:
            command += ["--event-stream-output-path", events.name, "--event-stream-version", "0"]
            with subprocess.Popen(
                command, cwd=self.copy.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True) as process:
                try:
                    output = process.communicate(timeout=self.seconds)[0]
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    output = process.communicate()[0]
                    cut_off = "the end of the run, which did not come"
            failed, count = self._failures(pathlib.Path(events.name).read_text(errors="replace"))
        output = self.COLOUR.sub("", output.decode(errors="replace"))
        if cut_off is None and process.returncode not in (0, 1):
            cut_off = f"the process, which ended with {process.returncode}"
        if cut_off:
            failed[cut_off] = cut_off
        if not failed and not count and not reached:
            raise SystemExit(f"No test has run for: {' '.join(tests)}\n{output[-2_000:]}")
        return failed, output

    @staticmethod
    def _failures(text):
        """The ids of the tests that failed, each with its name, and how many ended."""
        names, failed, count = {}, {}, 0
        for line in text.splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue  # The process ended in the midst of the line.
            payload = record.get("payload", {})
            if record.get("kind") == "test":
                suite = payload["id"].split("/")[0].split(".")[-1]
                names[payload["id"]] = f"{suite}: {payload.get('displayName') or payload['name']}"
            elif payload.get("kind") == "testEnded" and ".swift:" in payload.get("testID", ""):
                count += 1
            elif payload.get("kind") == "issueRecorded" and not payload.get("issue", {}).get("isKnown"):
                test = payload.get("testID", "")
                failed[test or "none"] = names.get(test, test or "an issue that belongs to no test")
        return failed, count

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
    for name in sorted(outcome.noticed.values())[:3]:
        print(f"{'':30} {name}")
    sys.stdout.flush()


class Results:
    """What was found, in a file that a run which is ended leaves whole."""

    def __init__(self, file):
        self.file = file
        self.found = json.loads(file.read_text()) if file and file.is_file() else {}

    def __getitem__(self, patch):
        kept = self.found.get(str(patch.number))
        # A patch that was changed since, or names other tests, is tried again.
        if kept and kept["text"] == patch.text:
            return Outcome(kept["noticed"], kept["seconds"], ""), kept["whole"]
        return None

    def keep(self, patch, outcome, whole):
        self.found[str(patch.number)] = {
            "text": patch.text, "noticed": outcome.noticed, "seconds": outcome.seconds, "whole": whole}
        if self.file:
            new = self.file.with_suffix(".new")
            new.write_text(json.dumps(self.found, indent=1))
            new.replace(self.file)


def table(patches, results):
    """The results as a page."""
    rows, tried = [], []
    for patch in patches:
        kept = results[patch]
        if kept is None:
            rows.append(f"| {patch.number} | {patch.promise} | not run | |")
            continue
        outcome, whole = kept
        tried.append((patch, outcome))
        names = sorted(outcome.noticed.values())
        shown = "; ".join(name.replace("|", "\\|") for name in names[:2]) + (f"; and {len(names) - 2} more" if names[2:] else "")
        if not names:
            shown = f"explained: {patch.equivalent}" if patch.equivalent else "**gone by**"
        rows.append(f"| {patch.number} | {patch.promise} | {len(names)}{' (whole)' if whole else ''} | {shown} |")
    noticed = [patch for patch, outcome in tried if outcome.noticed]
    many = [patch for patch, outcome in tried if len(outcome.noticed) > 1]
    explained = [patch for patch, outcome in tried if not outcome.noticed and patch.equivalent]
    share = lambda part: f"{len(part)} ({100 * len(part) / max(len(tried), 1):.0f} %)"
    print(f"Of {len(patches)} faults {len(tried)} were run. Noticed: {share(noticed)}; by more than one test: {share(many)}. "
          f"Gone by: {len(tried) - len(noticed)}, of which {len(explained)} are explained.\n")
    print("| number | promise | noticed by | tests |\n|---|---|---|---|")
    print("\n".join(rows))


def control(runner, names):
    """Runs all without a fault: what fails then, and fails again alone, says nothing about faults."""
    first = runner.run(0, names)
    print(f"Without any fault, {len(first.noticed)} tests fail at first ({first.seconds:.0f} s).")
    if first.is_cut_off:
        return set(first.noticed), first
    again = runner.run(0, sorted(first.noticed)) if first.noticed else first
    return set(again.noticed), first


def reach_of(runner, modules, options):
    """Which suite reaches which place: from the file that keeps it, and by a run of each suite that it does not have."""
    kept = json.loads(options.reach.read_text()) if options.reach and options.reach.is_file() else {}
    left = [suite for suite in runner.suites(modules) if suite not in kept]
    if left:
        print(f"Which places {len(left)} suites reach is found out first.", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for suite, found in zip(left, pool.map(runner.reach, left)):
            kept[suite] = found
            if options.reach:
                options.reach.write_text(json.dumps(kept, indent=1))
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say which patches no longer fit")
    parser.add_argument(
        "--patches", type=pathlib.Path, default=ROOT / "Tests/Mutants/patches", help="another folder of patches")
    parser.add_argument("--only", help="numbers and ranges of the faults to run")
    parser.add_argument("--copy", type=pathlib.Path, default=ROOT / ".build/mutants", help="where the copy is built")
    parser.add_argument("--no-build", action="store_true", help="the copy is written and built already")
    parser.add_argument("--write-only", action="store_true", help="write the copy, for a build by hand")
    parser.add_argument("--all", action="store_true", help="further suites for what went by or was noticed by one test")
    parser.add_argument("--whole", default=",".join(WHOLE), help="the modules of tests that --all goes through")
    parser.add_argument("--reach", type=pathlib.Path, help="a file that keeps which suite reaches which place")
    parser.add_argument("--budget", type=int, default=120, help="the seconds that --all takes for one fault")
    parser.add_argument("--tests", help="run these tests instead of those that the patches name")
    parser.add_argument("--jobs", type=int, default=1, help="how many faults to run at the same time")
    parser.add_argument("--seconds", type=int, default=900, help="how long one run of tests may take")
    parser.add_argument("--before", default="", help="a command that runs the tests, such as nice")
    parser.add_argument("--results", type=pathlib.Path, help="a file that keeps what was found")
    parser.add_argument("--table", action="store_true", help="print what --results has, and run nothing")
    options = parser.parse_args()
    every = read_all(options.patches)
    results = Results(options.results)
    if options.table:
        table(every, results)
        return 0
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
    left = [patch for patch in patches if options.tests or results[patch] is None]
    outcomes = {patch: results[patch][0] for patch in patches if patch not in left}
    weak, first = control(runner, sorted({name for patch in left for name in wanted(patch)})) if left else (set(), None)
    if weak:
        # Without a fault all must pass, or nothing that follows says anything.
        print("Without any fault these tests fail, twice:", *sorted(weak), sep="\n  ")
        return 1
    shaky = set(first.noticed) if first else set()
    for name in sorted(shaky):
        print(f"      failed once and then passed, and is not counted: {first.noticed[name]}")

    def counted(outcome):
        outcome.noticed = {name: text for name, text in outcome.noticed.items() if name not in shaky}
        return outcome

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kind in (False, True):
            group = [patch for patch in left if patch.is_resource == kind]
            for patch, outcome in zip(group, pool.map(lambda patch: runner.try_patch(patch, wanted(patch)), group)):
                outcomes[patch] = counted(outcome)
                results.keep(patch, outcome, False)
                report(patch, outcome)
    if options.all:
        few = [
            patch for patch in patches
            if len(outcomes[patch].noticed) < 2 and not (results[patch] or (None, False))[1]]
        modules = options.whole.split(",")
        if not any(name.startswith("Sources/FieldworkCollect/") for patch in few for name in patch.files):
            modules = [module for module in modules if module != "FieldworkCollectTests"]
        reach = reach_of(runner, modules, options)
        print(f"Further suites for {len(few)}:")
        resources = [patch for patch in few if patch.is_resource]
        compiled = [patch for patch in few if not patch.is_resource]

        def keep(patch, noticed):
            outcomes[patch].noticed |= noticed
            results.keep(patch, counted(outcomes[patch]), True)
            report(patch, outcomes[patch])

        # Only the app has such files.
        for patch in resources:
            keep(patch, runner.try_patch(patch, ["FieldworkCollectTests"]).noticed)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            more = pool.map(lambda patch: runner.further(patch, outcomes[patch].noticed, reach, options.budget), compiled)
            for patch, noticed in zip(compiled, more):
                keep(patch, noticed)
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
