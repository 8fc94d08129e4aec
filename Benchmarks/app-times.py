#!/usr/bin/env python3
"""Measures what one waits for in the collection app, in a browser: the demo's map of trees with the street trees of a CSV file
added, with and without the processor throttled to a quarter, on a telephone's and on a wide window.

    python3 Benchmarks/app-times.py --trees portland_street_trees.csv.gz [--rounds 20] [--data DIR] [--sizes wide,phone]

A time begins with the event that the browser gives the page (a pointer let go, a key pressed) and ends after the frame in
which the answer stands has been drawn. It is that of 95 of 100 rounds. FIELDWORK_EXECUTABLE names the program to measure: a
release build."""
import argparse, base64, csv, gzip, json, math, os, shutil, sys, tempfile, time, urllib.parse, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts"))
from browser import PROGRAM, browse, size, start

SIZES = {"wide": (1280, 800), "phone": (390, 844)}
# What is measured, and the most that the app's design allows: without and with throttling.
LIMITS = {
    "frame, first paint": (200, 400), "map with features usable": (1000, 2500), "tap to call-out": (100, 250),
    "card to pop-up": (100, 250), "card to related rows": (300, 700), "key to validation message": (50, 100),
    "list, first rows": (100, 250), "list, longest frame while it scrolls": (50, 50),
    "area estimate after a move": (1000, 1000), "save without a network": (100, 250),
    "another window's edit to the changed line": (100, 200),
}
TOOLS = """
window.__arm = (type, test) => {
  window.__result = new Promise((done) => setTimeout(() => done(null), 12000) && addEventListener(type, (event) => {
    const look = () => {
      if (!test()) { requestAnimationFrame(look); return; }
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done(performance.now() - event.timeStamp);
      channel.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true }));
  return true;
};
window.__frames = (milliseconds) => {
  window.__result = new Promise((done) => {
    const frames = [], begun = performance.now();
    let last = begun;
    const look = (now) => {
      frames.push(now - last);
      last = now;
      if (now - begun < milliseconds) requestAnimationFrame(look); else done(frames.slice(1));
    };
    requestAnimationFrame(look);
  });
  return true;
};
const ready = () => {
  if (document.documentElement?.dataset.map === 'ready') window.__ready = performance.now(); else requestAnimationFrame(ready);
};
requestAnimationFrame(ready);
"""


def post(address, **values):
    body = urllib.parse.urlencode({"f": "json", **values}).encode()
    with urllib.request.urlopen(address, body) as answer:
        return json.load(answer)


def add_trees(layer, path):
    """Adds the trees of the file to the demo's own, in batches, through the protocol."""
    batch, added = [], 0

    def flush():
        results = post(layer + "/applyEdits", adds=json.dumps(batch))["addResults"]
        if not all(result["success"] for result in results):
            sys.exit(f"The service refused a tree: {results}")
        batch.clear()

    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            diameter = min(float(row["dbh"]), 150) if row["dbh"] else None
            wires = row["wires"] if row["wires"] in ("High voltage", "Low voltage") else "None"
            condition = row["condition"] if row["condition"] in ("Good", "Fair", "Poor", "Dead") else None
            batch.append({
                "attributes": {
                    "SpeciesCode": row["species"][:8], "Address": row["address"][:120], "Condition": condition,
                    "Neighborhood": row["neighborhood"][:60], "DBH": diameter, "WiresOverhead": wires},
                "geometry": {"x": float(row["x_3857"]), "y": float(row["y_3857"])}})
            added += 1
            if len(batch) == 1000:
                flush()
    if batch:
        flush()
    return added


def inspected(root, count):
    """Trees that have inspections: global id and place."""
    rows = post(root + "/3/query", where="1=1", outFields="TreeID", returnDistinctValues="true", returnGeometry="false",
                resultRecordCount=4 * count)["features"]
    ids = [row["attributes"]["TreeID"] for row in rows]
    trees = post(root + "/0/query", where="GlobalID IN (%s)" % ",".join(f"'{id}'" for id in ids), outFields="GlobalID",
                 outSR=4326)["features"]
    return [(tree["attributes"]["GlobalID"].strip("{}").lower(), tree["geometry"]["x"], tree["geometry"]["y"])
            for tree in trees][:count]


class NoAnswer(Exception):
    """What was pressed did nothing for twelve seconds."""


class Session:
    """One window of one size, at one speed."""

    def __init__(self, page, app, trees, name, throttling, keeps=None):
        self.page, self.app, self.trees, self.name, self.throttling = page, app, trees, name, throttling
        self.width, self.height = SIZES[name]
        self.isPhone = name == "phone"
        self.times = {}
        self.missed = []
        self.keeps = keeps
        size(page, self.width, self.height)
        page.command("Emulation.setTouchEmulationEnabled", enabled=self.isPhone)
        page.command("Emulation.setCPUThrottlingRate", rate=throttling)

    def note(self, what, value):
        self.times.setdefault(what, []).append(value)

    def arm(self, event, test):
        self.page.value(f"window.__arm('{event}', () => {test})")

    def result(self):
        found = self.page.value("window.__result")
        if found is None:
            raise NoAnswer
        return found

    def run(self, label, step, *arguments):
        """A step without an answer is told, and is no time."""
        try:
            step(*arguments)
        except NoAnswer:
            self.missed.append(label)
            print(f"    no answer: {label}", file=sys.stderr, flush=True)
            if self.keeps:
                picture = base64.b64decode(self.page.command("Page.captureScreenshot", format="png")["data"])
                with open(os.path.join(self.keeps, f"missed-{self.name}-{self.throttling}-{len(self.missed)}.png"), "wb") as file:
                    file.write(picture)

    def press(self, x, y):
        if self.isPhone:
            self.page.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            self.page.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"]:
            self.page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press_on(self, selector):
        x, y = self.page.value(
            f"(() => {{ const one = [...document.querySelectorAll({json.dumps(selector)})].find((e) => e.offsetWidth > 0);"
            " one.scrollIntoView({ block: 'nearest' }); const box = one.getBoundingClientRect();"
            " return [box.left + box.width / 2, box.top + box.height / 2]; })()")
        self.press(x, y)

    def key(self, key, code=None, number=0, text=None):
        extra = {"text": text} if text else {}
        for kind in ["keyDown", "keyUp"]:
            self.page.command(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number, **extra)

    def look_at(self, longitude, latitude, zoom=19):
        """The map's next page has this place where no panel covers it: in the middle, at three tenths of the height."""
        turn = math.radians(latitude)
        y = math.log(math.tan(math.pi / 4 + turn / 2)) - 0.2 * self.height * 2 * math.pi / (512 * 2 ** zoom)
        centre = math.degrees(2 * math.atan(math.exp(y)) - math.pi / 2)
        values = {"west": longitude - 0.01, "east": longitude + 0.01, "south": centre - 0.01, "north": centre + 0.01,
                  "lon": longitude, "lat": centre, "zoom": zoom}
        # On a page without a map: one with it tells its own view when it is left.
        self.page.go(self.app + "settings")
        self.page.value(
            "fetch('/data/view', { method: 'POST', body: new URLSearchParams(%s) }).then((a) => a.ok)" % json.dumps(values))
        self.page.go(self.app + "map")
        self.settled()

    def settled(self):
        self.page.wait("document.documentElement.dataset.map === 'ready' && document.getElementById('busy').hidden")
        # The map's own timers are over, and what they asked for is there.
        time.sleep(0.6 * self.throttling ** 0.5)

    # MARK: What is measured

    def frame(self):
        self.page.go(self.app + "map")
        self.page.wait("window.__ready > 0")
        self.note("frame, first paint", self.page.value(
            "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        self.note("map with features usable", self.page.value("window.__ready"))

    def tap(self, tree):
        _, longitude, latitude = tree
        self.look_at(longitude, latitude)
        left, top = self.page.value(
            "(() => { const box = document.getElementById('map').getBoundingClientRect();"
            " return [box.left + box.width / 2, box.top + box.height / 2]; })()")
        self.arm("pointerup", "document.querySelector('.marker .callout[data-feature]')")
        self.press(left, top - 0.2 * self.height)
        self.note("tap to call-out", self.result())
        self.settled()
        self.arm("pointerup", "document.querySelector('#panel dl.facts')")
        self.press_on("#selection .mini .left")
        self.note("card to pop-up", self.result())

    def related(self, tree):
        self.page.go(self.app + "map/f/0/" + tree[0])
        self.settled()
        self.arm("pointerup", "document.querySelector('#panel .rel a.item')")
        self.press_on("#selection .mini .left")
        self.note("card to related rows", self.result())

    def validate(self, tree):
        self.page.go(self.app + "f/0/" + tree[0] + "/edit")
        self.settled()
        self.page.value("document.getElementById('field-DBH').focus(), document.getElementById('field-DBH').select(), 1")
        self.page.command("Input.insertText", text="999")
        self.arm("keydown", "!document.getElementById('message-DBH').hidden")
        self.key("Tab", number=9)
        self.note("key to validation message", self.result())
        self.page.value("document.querySelector('#cancel-form').requestSubmit(), 1")
        self.page.wait("!document.querySelector('form[data-form]')")

    def list(self, tree):
        self.look_at(tree[1], tree[2])
        self.page.value("document.activeElement.blur(), 1")
        self.arm("keydown", "[...document.querySelectorAll('#list-rows tbody tr, #list-rows li')].some((e) => e.offsetHeight > 0)")
        self.key("l", code="KeyL", number=76, text="l")
        self.note("list, first rows", self.result())
        self.settled()
        box = self.page.value(
            "(() => { const box = document.getElementById('list-rows').getBoundingClientRect(); return [box.left + 60, box.top + 200]; })()")
        self.page.value("window.__frames(1500)")
        for turn in range(30):
            self.page.command("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0,
                              deltaY=240 if turn < 20 else -240)
            time.sleep(0.03)
        self.note("list, longest frame while it scrolls", max(self.result()))

    def estimate(self):
        self.page.go(self.app + "offline/new")
        self.settled()
        self.page.wait("document.querySelector('.area-figure')")
        time.sleep(1)
        self.page.value("document.getElementById('map').focus(), document.querySelector('.area-figure').dataset.old = '1'")
        self.arm("keydown", "document.querySelector('.area-figure:not([data-old])')")
        self.key("ArrowRight", number=39)
        self.note("area estimate after a move", self.result())

    def pan(self, tree):
        """Frames a second while the map is dragged to and fro, and while it is zoomed, where many trees stand; and the same with
        nothing on it, which is what the map library and the browser can do here."""
        for kind in ["", " of an empty map"]:
            self.look_at(tree[1], tree[2], zoom=16)
            if kind:
                self.page.value(
                    "import(document.querySelector('script[src$=\"/app.js\"]').src.replace('app.js', 'map.js')).then((module) => {"
                    " const map = module.instance(); for (const id of map.getLayersOrder())"
                    " if (id !== 'paper') map.setLayoutProperty(id, 'visibility', 'none'); })")
                time.sleep(1)
            self.note(f"pan{kind}, frames a second", self.frames_of(self.drag))
            self.note(f"zoom{kind}, frames a second", self.frames_of(self.wheel))

    def frames_of(self, movement):
        self.page.value("window.__frames(2000)")
        movement(self.width * 0.6, self.height * 0.3)
        frames = self.result()
        return 1000 * len(frames) / sum(frames)

    def drag(self, x, y):
        self.page.command("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        begun = time.time()
        while time.time() - begun < 2:
            phase = (time.time() - begun) * math.pi
            self.page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x + 150 * math.sin(phase),
                              y=y + 80 * math.sin(phase), button="left", buttons=1)
        self.page.command("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)

    def wheel(self, x, y):
        for turn in range(40):
            self.page.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=60 if turn < 20 else -60)
            time.sleep(0.04)

    def save(self, tree):
        self.page.go(self.app + "f/0/" + tree[0] + "/edit")
        self.settled()
        self.page.value(
            "(() => { const all = [...document.querySelectorAll('input[type=radio][name=\"field.Condition\"]')];"
            " all.find((one) => !one.checked && one.value !== '').click(); return 1; })()")
        time.sleep(0.6 * self.throttling ** 0.5)
        self.arm("pointerup", "document.querySelector('#over .toast')")
        self.press_on("form[data-form] .ph button[type=submit]:not([data-close])")
        self.note("save without a network", self.result())

    def event(self, tree):
        self.page.go(self.app + "map")
        self.settled()
        found = self.page.value(
            """new Promise((done) => {
              const unsent = () => document.querySelector('#state .u')?.innerText ?? '';
              const old = unsent(), begun = performance.now();
              const condition = ['Good', 'Fair', 'Poor', 'Dead'][Math.floor(Math.random() * 4)];
              const look = () => {
                if (unsent() === old) { requestAnimationFrame(look); return; }
                const channel = new MessageChannel();
                channel.port1.onmessage = () => done(performance.now() - begun);
                channel.port2.postMessage(0);
              };
              setTimeout(() => done(null), 12000);
              fetch('/f/0/TREE/edit', { method: 'POST', headers: { 'Fieldwork-Window': 'another' },
                body: new URLSearchParams({ session: crypto.randomUUID(), 'field.Condition': condition, 'field.Address': String(begun) }) });
              look();
            })""".replace("TREE", tree[0]))
        if found is None:
            raise NoAnswer
        self.note("another window's edit to the changed line", found)


def work_offline(page, app):
    """Takes the whole map along and goes on without the service."""
    page.go(app + "offline/new")
    page.wait("document.querySelector('.area-figure') && document.querySelector('[data-area-all]')?.offsetWidth > 0")
    page.value("document.querySelector('[data-area-all]').click(), 1")
    time.sleep(3)
    page.value("document.getElementById('area-form').requestSubmit(), 1")
    page.wait("document.body.innerText.includes('is on this device')")
    page.go(app + "offline")
    page.value("[...document.querySelectorAll('form[action=\"/offline/mode\"] button')].at(-1).click(), 1")
    page.wait("document.getElementById('state')?.innerText.includes('Offline')")


def weight(page, app):
    """What a first visit of the map transfers, without the map library, compressed: all, and the app's own script."""
    page.go(app + "map")
    names = page.value(
        "[location.href, ...performance.getEntriesByType('resource').map((entry) => entry.name)"
        ".filter((name) => /[.](js|css|svg)$/.test(name) && !name.includes('maplibre'))]")
    whole, script = 0, 0
    for name in names:
        bytes_ = page.value("fetch(%s).then((answer) => answer.text())" % json.dumps(name)).encode()
        packed = len(gzip.compress(bytes_, 6))
        whole += packed
        script += packed if name.endswith(".js") else 0
    return whole / 1024, script / 1024


def of_95(values):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(0.95 * len(ordered)) - 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", required=True, help="the street trees, gzipped CSV")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--data", help="keeps the filled service between runs, and pictures of what gave no answer")
    parser.add_argument("--sizes", default="wide,phone")
    parser.add_argument("--parts", default="online,offline", help="offline: what is saved without a network alone")
    options = parser.parse_args()
    folder, processes = tempfile.mkdtemp(), []
    try:
        data = options.data or os.path.join(folder, "demo")
        with open(os.path.join(folder, "demo.txt"), "w+b") as output:
            process, services = start(["demo", "--data", data, "--port", "0"], output, r"services (http://\S+)")
            processes.append(process)
        root = services + "/TreesOfPortland/FeatureServer"
        count = lambda: post(root + "/0/query", where="1=1", returnCountOnly="true")["count"]
        if count() < 200_000:
            print(f"adding {add_trees(root + '/0', options.trees):,} trees", flush=True)
        trees = inspected(root, options.rounds)
        print(f"{count():,} trees; {options.rounds} rounds; load {os.getloadavg()[0]:.1f}; {PROGRAM}", flush=True)
        with open(os.path.join(folder, "app.txt"), "w+b") as output:
            process, door = start(
                ["collect", "--map", os.path.join(data, "maps", "TreesOfPortland.webmap.json"), "--data",
                 os.path.join(folder, "crew"), "--port", "0"], output, r"app (http://\S+)")
            processes.append(process)
        process, page = browse(folder)
        processes.append(process)
        for domain in ["Page", "Runtime"]:
            page.command(domain + ".enable")
        page.command("Page.addScriptToEvaluateOnNewDocument", source=TOOLS)
        size(page, *SIZES["wide"])
        # The printed address has the key; the browser keeps the cookie that it gives.
        page.go(door)
        app = door.split("?")[0]
        sessions = []
        steps = [
            ("frame", lambda one, tree: one.frame()), ("tap", Session.tap), ("related", Session.related),
            ("validate", Session.validate), ("list", Session.list), ("estimate", lambda one, tree: one.estimate()),
        ]
        for name in options.sizes.split(","):
            for throttling in [1, 4]:
                one = Session(page, app, trees, name, throttling, options.data)
                for label, step in steps if "online" in options.parts else []:
                    print(f"  {name}, {'slow' if throttling > 1 else 'full speed'}: {label}", file=sys.stderr, flush=True)
                    for tree in trees:
                        one.run(label, step, one, tree)
                if not one.isPhone and "online" in options.parts:
                    for tree in trees[:3]:
                        one.pan(tree)
                print(f"  {name}, {throttling} times slower, of 95 of 100: " + "; ".join(
                    f"{what} {of_95(values):.0f}" for what, values in one.times.items()), file=sys.stderr, flush=True)
                sessions.append(one)
        page.command("Emulation.setCPUThrottlingRate", rate=1)
        size(page, *SIZES["wide"])
        whole, script = weight(page, app)
        if "offline" in options.parts:
            work_offline(page, app)
        # Each of these edits is of another tree: the line tells how many are not sent.
        others = iter(inspected(root, 9 * options.rounds)[options.rounds:])
        for one in sessions:
            again = Session(page, app, trees, one.name, one.throttling, options.data)
            for label, step in [("save", again.save), ("event", again.event)] if "offline" in options.parts else []:
                for _ in trees:
                    again.run(label, step, next(others))
            one.times.update(again.times)
            one.missed += again.missed
        print(f"page without the map library {whole:.0f} KB (60), own script {script:.0f} KB (40), compressed")
        print("milliseconds of 95 of 100 (the most that the design allows):")
        for what, limits in LIMITS.items():
            cells = [f"{one.name}{' slow' if one.throttling > 1 else ''} {of_95(one.times[what]):.0f} ({limits[one.throttling > 1]})"
                     for one in sessions if what in one.times]
            if cells:
                print(f"  {what}: {', '.join(cells)}")
        for what in ["pan", "zoom"]:
            cells = [
                f"{one.name}{' slow' if one.throttling > 1 else ''} {min(one.times[what + ', frames a second']):.0f}"
                f" ({30 if one.throttling > 1 else 60}; an empty map {min(one.times[what + ' of an empty map, frames a second']):.0f})"
                for one in sessions if what + ", frames a second" in one.times]
            if cells:
                print(f"  {what}, frames a second, least of three: {', '.join(cells)}")
        for one in sessions:
            if one.missed:
                print(f"  no answer, {one.name}{' slow' if one.throttling > 1 else ''}: {', '.join(one.missed)}")
        print(f"load at the end {os.getloadavg()[0]:.1f}")
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
