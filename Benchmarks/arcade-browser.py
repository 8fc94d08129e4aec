#!/usr/bin/env python3
"""Runs the arithmetic of `bench-arcade` as JavaScript in Chromium without its compilers, and prints both beside each other.

    swift build -c release --product bench-arcade
    python3 Benchmarks/arcade-browser.py [--bench .build/release/bench-arcade] [--chromium chromium]

Both run the same expressions over the same 1,000 features, one after the other on one core: as scripts of Arcade, and as functions of
JavaScript that get the feature as an object. Chromium interprets them: `--jitless` makes no machine code at all, and
`--no-opt --no-sparkplug --no-maglev` leaves out the compilers alone. Each figure is that of the best of many short rounds, so that
what else runs on the machine changes it little.
"""

import argparse
import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = """<!doctype html><title>arithmetic</title><pre id="out"></pre><script>
const features = [];
for (let i = 0; i < 1000; i++) {
  features.push({ species: i % 2 ? "Quercus garryana" : "ACMA", dbh: i / 7, height: i % 40 });
}
const expressions = {
  "label of three functions": (f) => f.species.toUpperCase().slice(0, 3) + " " + Math.round(f.dbh),
  "class of a renderer": (f) => f.dbh < 6 ? "small" : f.dbh < 18 ? "medium" : "large",
  "arithmetic": (f) => Math.sqrt(f.dbh * f.height) / (1 + Math.abs(f.dbh)),
  "a loop of a thousand turns": (f) => { let s = 0; for (let i = 0; i < 1000; i++) { s += i * f.dbh } return s },
  "a loop with branches": (f) => {
    let s = 0;
    for (let i = 1; i <= 1000; i++) {
      if (i % 3 == 0) { s += Math.sqrt(i) }
      else if (s > 5000 && i > 10) { s = s / 2 - f.height }
      else { s += Math.abs(i - f.dbh) }
    }
    return s;
  },
};
const few = [40, features.slice(0, 5)];
const times = { "a loop of a thousand turns": few, "a loop with branches": few };
let sink = 0;
const lines = [];
for (const name in expressions) {
  const body = expressions[name];
  for (const f of features) { sink += String(body(f)).length }
  let best = Infinity;
  // A round takes milliseconds, since the clock of a page shows tenths of one.
  const [most, some] = times[name] ?? [100, features];
  for (let r = 0; r < 50; r++) {
    const start = performance.now();
    for (let t = 0; t < most; t++) { for (const f of some) { if (body(f) === sink) { sink++ } } }
    best = Math.min(best, (performance.now() - start) / most);
  }
  lines.push(name + "\\t" + Math.round(some.length / best * 1000));
}
document.getElementById("out").textContent = lines.join("\\n");
</script>"""

WAYS = ["--jitless", "--no-opt --no-sparkplug --no-maglev"]


def in_browser(chromium: str, flags: str) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        page.write_text(PAGE)
        shown = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
             f"--js-flags={flags}", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=300, check=True).stdout
    found = re.search(r'<pre id="out">(.*?)</pre>', shown, re.S)
    if not found or not found.group(1):
        sys.exit("The browser gave no figures.")
    return read(html.unescape(found.group(1)))


def read(text: str) -> dict[str, int]:
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return {line[0]: int(line[1].split()[0]) for line in lines if line[1].split()[0].isdigit()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=".build/release/bench-arcade")
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    own = read(subprocess.run([options.bench], capture_output=True, text=True, check=True).stdout)
    browser = {flags: in_browser(options.chromium, flags) for flags in WAYS}
    print("features a second\tArcade\t" + "\t".join(f"Chromium {flags}" for flags in WAYS))
    for name in browser[WAYS[0]]:
        row = [own.get(name, 0)] + [browser[flags][name] for flags in WAYS]
        print(name + "\t" + "\t".join(f"{value:,}" for value in row))


if __name__ == "__main__":
    main()
