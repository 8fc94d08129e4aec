#!/usr/bin/env python3
"""Measures how long a person waits for the app, as its design (8.2) lists it: in a browser without a window, once as the
machine is and once with its processor slowed down four times. Prints the 95th percentile of each, in milliseconds.

    Benchmarks/app-times.py                  the demo's trees
    Benchmarks/app-times.py --map ADDRESS    another service or web map; its first layer is used
"""
import argparse, os, shutil, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts"))
from browser import browse, size, start

THROTTLE = 4
CALLOUT_ABOVE = 22
# Before any page: when the map is ready and still, when something was pressed or told, and when it was answered.
WATCH = """
window.times = {};
new MutationObserver(() => {
  const root = document.documentElement;
  if (root?.dataset.map === 'ready') window.times.ready ??= performance.now();
  if (root?.dataset.mapIdle) window.times.usable ??= performance.now();
}).observe(document, { attributes: true, subtree: true, childList: true, attributeFilter: ['data-map', 'data-map-idle'] });
// From what is called until a condition holds and was painted; the condition is looked at whenever the page changes.
window.until = (begin, holds) => new Promise((done, fail) => {
  const first = performance.now();
  const timer = setTimeout(() => { watcher.disconnect(); fail(new Error('never')); }, 60000);
  let isDone = false;
  const look = () => {
    if (isDone || !holds()) return;
    isDone = true;
    watcher.disconnect();
    clearTimeout(timer);
    const held = performance.now();
    requestAnimationFrame(() => setTimeout(() => done({ changed: held - first, painted: performance.now() - first }), 0));
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document, { attributes: true, subtree: true, childList: true, characterData: true });
  begin();
  look();
});
"""
PRESS = """const target = document.elementFromPoint(...window.place);
for (const type of ['mousedown', 'mouseup', 'click'])
  target.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, view: window, clientX: window.place[0], clientY: window.place[1], detail: 1 }));"""
FRAMES = """new Promise((done) => {
  const frames = []; let last = performance.now(), step = 0;
  const next = (now) => { frames.push(now - last); last = now; if (++step > 120) done(frames.slice(1)); else { MOVE; requestAnimationFrame(next); } };
  requestAnimationFrame(next); })"""


def percentile(values, part=0.95):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class Visit:
    """One app in one browser."""

    def __init__(self, page, app, rounds):
        self.page, self.app, self.rounds = page, app, rounds
        self.found = {}

    def note(self, name, value):
        self.found.setdefault(name, []).append(value)

    def open(self, path):
        self.page.go(self.app + path)
        self.page.wait("window.times.usable")

    def wait(self, begin, holds):
        answer = self.page.value(f"until(() => {{ {begin} }}, () => {holds})")
        if answer is None:
            sys.exit(f"Never seen: {holds}")
        return answer["painted"]

    def places(self, count):
        """Where some features of the list stand on the map, one after the other."""
        self.open("list")
        links = self.page.value(
            "[...document.querySelectorAll('a[href^=\"/f/\"]')].map(e => e.getAttribute('href')).filter(e => /^.f.[^/]+.[^/?]+$/.test(e))")
        return list(dict.fromkeys(links))[:count]

    def frame(self):
        for _ in range(self.rounds):
            self.open("map")
            paint = self.page.value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
            if paint is not None:
                self.note("first paint of the frame", paint)
            self.note("map with features usable", self.page.value("window.times.usable"))

    def callouts(self, features):
        for feature in features:
            self.open("map" + feature)
            self.page.wait("document.querySelector('.marker .callout')")
            time.sleep(0.5)
            # The call-out stands so much above its feature; closed, the feature is pressed there.
            self.page.value(
                f"(() => {{ const box = document.querySelector('.marker').getBoundingClientRect();"
                f"window.place = [(box.left + box.right) / 2, box.bottom + {CALLOUT_ABOVE}]; }})()")
            self.wait(
                "document.activeElement.blur(); document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))",
                "document.querySelector('.marker') === null")
            self.note("tap to call-out", self.wait(PRESS, "document.querySelector('.marker .callout') !== null"))

    def popups(self, features):
        for feature in features:
            self.open("map" + feature)
            self.page.wait("document.querySelector('#selection .mini .open a.left')")
            self.note("card to pop-up", self.wait(
                "document.querySelector('#selection .mini .open a.left').click()",
                "document.querySelector('#panel[data-kind=\"side\"] h1') !== null"))
            related = self.page.value(
                "document.querySelector('#panel .rel') === null ? null"
                " : until(() => {}, () => document.querySelector('#panel .rel a.item .m') !== null)")
            if related:
                self.note("related rows after it", related["painted"])

    def forms(self, features):
        for feature in features:
            self.open(feature[1:] + "/edit")
            number = self.page.value("document.querySelector('#panel input[data-check=\"number\"], #panel input.num[data-check]')?.id ?? null")
            if number is None:
                sys.exit("The form has no number.")
            self.note("key to message", self.wait(
                f"const e = document.getElementById('{number}'); e.closest('details')?.setAttribute('open', ''); e.focus(); e.value = '1x';"
                "e.dispatchEvent(new InputEvent('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); e.blur();",
                f"document.getElementById('{number}').getAttribute('aria-invalid') === 'true'"))

    def lists(self):
        for _ in range(self.rounds):
            self.open("map")
            self.note("list: first rows", self.wait(
                "document.querySelector('a[data-tab=\"list\"]').click()", "document.querySelector('#panel[data-list] a[href^=\"/f/\"]') !== null"))
        frames = self.page.value(FRAMES.replace("MOVE", "(document.getElementById('list-rows') ?? document.scrollingElement).scrollBy(0, 40)"))
        self.note("list: longest frame while it scrolls", max(frames))

    def weight(self):
        self.open("map")
        entries = self.page.value(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((e) => [new URL(e.name).pathname, e.encodedBodySize])")
        own = [(name, size) for name, size in entries if "maplibre" not in name and "/tiles/" not in name]
        kinds = [(name, size) for name, size in own if name.endswith((".js", ".css", ".svg")) or not name.startswith(("/data", "/assets"))]
        return sum(size for _, size in kinds) / 1000, sum(size for name, size in own if name.endswith(".js")) / 1000

    def saves(self, features):
        """With the service out of reach: durable on the disk is what is waited for."""
        for index, feature in enumerate(features):
            self.open(feature[1:] + "/edit")
            self.page.value(
                "(() => { const e = document.querySelector('#panel textarea') ?? document.querySelector('#panel input[type=text]');"
                f"e.closest('details')?.setAttribute('open', ''); e.focus(); e.value = 'measured {index} {time.time()}'; e.dispatchEvent(new InputEvent('input', {{ bubbles: true }})); }})()")
            time.sleep(0.5)
            self.note("Save to feedback, without a network", self.wait(
                "document.querySelector('#panel button[type=submit].main').click()", "document.querySelector('#over [data-toast]') !== null"))


def measure(arguments, folder, processes):
    def run(name, parts, pattern):
        with open(os.path.join(folder, name + ".txt"), "w+b") as output:
            process, address = start(parts, output, pattern)
        processes.append(process)
        return process, address

    services = None
    web_map = arguments.map
    if web_map is None:
        demo = os.path.join(folder, "demo")
        services, _ = run("demo", ["demo", "--data", demo, "--port", "0"], r"services (http://\S+)")
        web_map = os.path.join(demo, "maps", "TreesOfPortland.webmap.json")
    _, app = run("app", ["collect", "--map", web_map, "--data", os.path.join(folder, "crew"), "--port", "0"], r"app (http://\S+/)")
    process, page = browse(folder)
    processes.append(process)
    for domain in ["Page", "Runtime"]:
        page.command(domain + ".enable")
    page.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    size(page, 1280, 800)
    # The first page gives the browser its key.
    page.go(app)
    results = []
    for rate in [1, THROTTLE]:
        visit = Visit(page, app, arguments.rounds)
        visit.open("map")
        features = visit.places(arguments.rounds)
        page.command("Emulation.setCPUThrottlingRate", rate=rate)
        visit.frame()
        visit.callouts(features)
        visit.popups(features)
        visit.forms(features)
        visit.lists()
        page.command("Emulation.setCPUThrottlingRate", rate=1)
        results.append(visit)
    weight = visit.weight()
    if services is not None:
        services.kill()
        services.wait()
        for rate, visit in zip([1, THROTTLE], results):
            page.command("Emulation.setCPUThrottlingRate", rate=rate)
            visit.saves(features)
    return results, weight


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--map", help="the address of a service or a web map's file")
    parser.add_argument("--rounds", type=int, default=10, help="how often each is done (10)")
    arguments = parser.parse_args()
    folder, processes = tempfile.mkdtemp(), []
    try:
        (plain, slow), weight = measure(arguments, folder, processes)
        print(f"95th percentile of {arguments.rounds}, milliseconds: as it is / processor slowed down {THROTTLE} times")
        for name, values in plain.found.items():
            print(f"  {name}: {percentile(values):.0f} / {percentile(slow.found.get(name, [0])):.0f}")
        print(f"  page without the map library: {weight[0]:.0f} KB, of it script: {weight[1]:.0f} KB, compressed")
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
