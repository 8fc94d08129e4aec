#!/usr/bin/env python3
"""Sets a locator beside addok, the search engine for addresses that France's register runs on: the same addresses, each question to
the one and then to the other, over HTTP on loopback; then the ratios.

    apt-get install redis-server && python3 -m venv peers && peers/bin/pip install addok gunicorn
    python3 Benchmarks/geocoders.py --osm FILE.osm.pbf --python peers/bin/python [--rounds 3] [--most 2000]

FIELDWORK_EXECUTABLE names the program to measure: a release build. addok runs as its documentation says for production (gunicorn, as
many workers as processors) with an empty Redis of its own that writes no file. It gets the houses of the locator itself, each street
with its house numbers, and is asked for labels without the state, which it has no field for."""
import argparse, collections, http.client, json, os, random, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, time, urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from locators import Server, houses, metres, percentile, run  # noqa: E402


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def streets(file):
    """Each street of a locator file: name, town, postal code, and its houses by their numbers."""
    base = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    roads = {row[0]: row[1:] for row in base.execute(
        "SELECT r.id, n.full, z.city FROM gc_road r JOIN gc_name n ON n.id = r.name_id JOIN gc_zone z ON z.id = r.zone_id")}
    postals = dict(base.execute("SELECT id, postal FROM gc_zone"))
    found = collections.defaultdict(lambda: {"houses": {}, "postals": collections.Counter()})
    for row, data in base.execute("SELECT id, houses FROM gc_house"):
        for number, suffix, unit, zone, x, y in houses(data):
            if not unit and "/" not in suffix:
                street = found[roads[row >> 32]]
                street["houses"][f"{number}{suffix}"] = (y, x)
                street["postals"][postals[zone]] += 1
    return [(name, city, one["postals"].most_common(1)[0][0], one["houses"]) for (name, city), one in sorted(found.items())]


class Addok:
    def __init__(self, python, folder, rows):
        self.python, self.folder = os.path.abspath(python), folder
        port, self.port = free_port(), free_port()
        self.redis = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder],
            stdout=subprocess.DEVNULL)
        self.environment = dict(os.environ, REDIS_PORT=str(port), ADDOK_CONFIG_MODULE=os.path.join(folder, "addok.conf"))
        with open(os.path.join(folder, "addok.conf"), "w") as out:
            out.write("LOG_DIR = %r\n" % folder)
        self.wait(port)
        table = os.path.join(folder, "streets.ndjson")
        with open(table, "w") as out:
            for index, (name, city, postal, numbers) in enumerate(rows):
                (lat, lon) = next(iter(numbers.values()))
                out.write(json.dumps({
                    "id": f"s{index}", "type": "street", "name": name, "city": city, "postcode": postal, "lat": lat, "lon": lon,
                    "importance": min(1, len(numbers) / 500),
                    "housenumbers": {number: {"lat": y, "lon": x} for number, (y, x) in numbers.items()}}) + "\n")
        begun = time.perf_counter()
        self.call("batch", table)
        self.call("ngrams")
        self.took = time.perf_counter() - begun
        self.server = subprocess.Popen(
            [os.path.join(os.path.dirname(self.python), "gunicorn"), "addok.http.wsgi", "--bind", f"127.0.0.1:{self.port}", "--workers",
             str(os.cpu_count()), "--worker-class", "gthread", "--threads", "2", "--keep-alive", "60"],
            env=self.environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait(self.port)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def call(self, *arguments):
        addok = os.path.join(os.path.dirname(self.python), "addok")
        done = subprocess.run([addok, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"addok {arguments[0]}: {done.stderr[-1500:]}")

    @staticmethod
    def wait(port):
        for _ in range(200):
            try:
                return socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.05)
        sys.exit(f"nothing listens on port {port}")

    def memory(self):
        """Bytes that Redis holds."""
        with socket.create_connection(("127.0.0.1", int(self.environment["REDIS_PORT"]))) as one:
            one.sendall(b"INFO memory\r\n")
            return int(one.recv(65536).decode().split("used_memory:")[1].split()[0])

    def ask(self, operation, **parameters):
        begun = time.perf_counter()
        self.connection.request("GET", f"/{operation}/?" + urllib.parse.urlencode(parameters))
        answer = self.connection.getresponse().read()
        return json.loads(answer), time.perf_counter() - begun

    def stop(self):
        for one in ("server", "redis"):
            if hasattr(self, one):
                getattr(self, one).send_signal(signal.SIGTERM)
                getattr(self, one).wait()


def near(place, other):
    return other is not None and metres(place, other) < 5


def ours(server, operation, text, place):
    if operation == "forward":
        answer, took = server.ask("City", "findAddressCandidates", SingleLine=text, maxLocations=1)
        first = (answer.get("candidates") or [None])[0]
        return took, near(place, first and (first["location"]["y"], first["location"]["x"]))
    if operation == "suggest":
        answer, took = server.ask("City", "suggest", text=text, maxSuggestions=5)
        return took, bool(answer.get("suggestions"))
    # Of houses alone, as addok has nothing else: a shop at the door would be nearer.
    answer, took = server.ask("City", "reverseGeocode", location=f"{place[1]},{place[0]}", featureTypes="PointAddress,Subaddress")
    spot = answer.get("location")
    return took, near(place, spot and (spot["y"], spot["x"]))


def theirs(addok, operation, text, place):
    if operation == "reverse":
        answer, took = addok.ask("reverse", lat=place[0], lon=place[1], limit=1)
    else:
        answer, took = addok.ask("search", q=text, limit=1 if operation == "forward" else 5, autocomplete=int(operation == "suggest"))
    features = answer.get("features") or []
    if operation == "suggest":
        return took, bool(features)
    spot = features[0]["geometry"]["coordinates"] if features else None
    return took, near(place, spot and (spot[1], spot[0]))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--osm", required=True)
    options.add_argument("--python", required=True)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--most", type=int, default=2000)
    chosen = options.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    folder = tempfile.mkdtemp()
    server = addok = None
    try:
        _, took = run("locator", "make", chosen.osm, "--name", "City", "--data", folder)
        file = os.path.join(folder, "City.locator")
        rows = streets(file)
        addok = Addok(chosen.python, folder, rows)
        print(f"built: {took:.2f} s, {os.path.getsize(file) / 1e6:.2f} MB in a file; addok {addok.took:.2f} s, {addok.memory() / 1e6:.2f} MB of memory")
        server = Server(folder)
        questions = [
            (f"{number} {name}, {city} {postal}".strip(), place)
            for name, city, postal, numbers in rows for number, place in numbers.items()]
        random.Random(7).shuffle(questions)
        questions = questions[:chosen.most]
        for operation, share in [("forward", 0.99), ("suggest", 0.95), ("reverse", 0.99)]:
            times, right = {"ours": [], "theirs": []}, collections.Counter()
            for _ in range(chosen.rounds):
                for index, (text, place) in enumerate(questions):
                    if operation == "suggest":
                        # As many letters as people have typed when they look up: the number, and some of the name.
                        text = text[:6 + index % 8]
                    # Whatever else the machine does falls on both.
                    for who, ask, of in (("ours", ours, server), ("theirs", theirs, addok)):
                        spent, hit = ask(of, operation, text, place)
                        times[who].append(spent)
                        right[who] += hit
            a, b = (percentile(times[who], 0.5) for who in ("ours", "theirs"))
            p, q = (percentile(times[who], share) for who in ("ours", "theirs"))
            total = len(questions) * chosen.rounds
            print(
                f"{operation}: median {a:.2f} ms, addok {b:.2f} ms ({b / a:.1f} times); p{share * 100:.0f} {p:.2f} ms, addok {q:.2f} ms "
                f"({q / p:.1f} times); answered rightly {100 * right['ours'] / total:.1f} %, addok {100 * right['theirs'] / total:.1f} %")
    finally:
        for one in (server, addok):
            if one:
                one.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
