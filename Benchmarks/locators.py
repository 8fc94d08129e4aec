#!/usr/bin/env python3
"""Measures locators: making one, its size, searches, suggestions, addresses of places and batches; then how many texts lead to
the right place, over data that others made.

    python3 Benchmarks/locators.py --osm FILE.osm.pbf [--places .fieldwork/places] [--queries FOLDER] [--most 20000]

`--places` is where `make test` puts places of GeoNames and addresses of the United States, `--queries` a folder of geocoder-tester's
CSV files. FIELDWORK_EXECUTABLE names the program to measure: a release build. Beside the figures stand those of two peers on the
same rows in one process: SQLite's FTS5 alone (the words of each label, nothing understood) and Python's dictionary of labels (nothing
but equality): what a search may cost at least. A figure says what it is of; times are of this machine, with its load."""
import argparse, bisect, csv, glob, http.client, json, math, os, random, re, sqlite3, subprocess, sys, tempfile, time, urllib.parse

PROGRAM = os.environ.get("FIELDWORK_EXECUTABLE", ".build/release/fieldwork")


def run(*arguments):
    begun = time.perf_counter()
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
    return done.stdout, time.perf_counter() - begun


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(share * len(times)))] * 1000


def metres(a, b):
    (lat1, lon1), (lat2, lon2) = a, b
    x = math.radians(lon2 - lon1) * math.cos(math.radians((lat1 + lat2) / 2))
    return 6_371_008.8 * math.hypot(x, math.radians(lat2 - lat1))


class Server:
    """One server over loopback, asked over one connection."""

    def __init__(self, data):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--data", data, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)", line.split("http://")[-1]).group(1))
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def ask(self, locator, operation, **parameters):
        body = urllib.parse.urlencode({"f": "json", **parameters})
        begun = time.perf_counter()
        self.connection.request(
            "POST", f"/arcgis/rest/services/{locator}/GeocodeServer/{operation}", body,
            {"Content-Type": "application/x-www-form-urlencoded"})
        answer = self.connection.getresponse().read()
        return json.loads(answer), time.perf_counter() - begun

    def stop(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def numbers(data):
    """The numbers of packed bytes, and the texts where the reader asks for one: as PackedReader in Sources/FieldworkLocator."""
    position = 0

    def number():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed():
        value = number()
        return -(value + 1 >> 1) if value & 1 else value >> 1

    def text():
        nonlocal position
        count = number()
        position += count
        return data[position - count:position].decode()

    return number, signed, text, lambda: position < len(data)


def houses(data):
    """Number, suffix, unit, zone, longitude and latitude of the houses in one row."""
    number, signed, text, has_more = numbers(data)
    value = zone = x = y = 0
    while has_more():
        head = number()
        value += head >> 3
        suffix = text() if head & 1 else ""
        unit = text() if head & 2 else ""
        zone = number() if head & 4 else zone
        x, y = x + signed(), y + signed()
        yield value, suffix, unit, zone, x / 1e7, y / 1e7


def labels(file, most):
    """Labels and places of a locator's addresses, from its tables."""
    base = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    streets = dict(base.execute("SELECT r.id, n.full FROM gc_road r JOIN gc_name n ON n.id = r.name_id"))
    zones = {row[0]: row[1:] for row in base.execute("SELECT id, city, region, postal FROM gc_zone")}
    found = []
    for row, data in base.execute("SELECT id, houses FROM gc_house"):
        for number, suffix, unit, zone, x, y in houses(data):
            if unit:
                continue
            first = f"{number}{' ' if '/' in suffix else ''}{suffix} {streets[row >> 32]}"
            found.append((", ".join(part for part in (first, *zones[zone]) if part), (y, x)))
    random.Random(7).shuffle(found)
    return found[:most]


def speed(server, name, rows):
    times, right = [], 0
    for label, place in rows:
        answer, took = server.ask(name, "findAddressCandidates", SingleLine=label, maxLocations=1)
        times.append(took)
        first = (answer.get("candidates") or [None])[0]
        right += first is not None and metres(place, (first["location"]["y"], first["location"]["x"])) < 1
    print(f"  forward: {right} of {len(rows)} at their place; over HTTP p50 {percentile(times, .5):.1f}, p99 {percentile(times, .99):.1f} ms (goal 30)")
    times = [server.ask(name, "suggest", text=label[:3 + index % 12])[1] for index, (label, _) in enumerate(rows[:2000])]
    print(f"  suggest: over HTTP p50 {percentile(times, .5):.1f}, p95 {percentile(times, .95):.1f} ms (goal 5)")
    begun = time.perf_counter()
    for _, (y, x) in rows[:5000]:
        server.ask(name, "reverseGeocode", location=f"{x},{y}")
    took = time.perf_counter() - begun
    print(f"  reverse: {min(5000, len(rows)) / took:.0f} a second over one connection, one after the other")
    records = {"records": [{"attributes": {"OBJECTID": i, "SingleLine": rows[i % len(rows)][0]}} for i in range(1000)]}
    answer, took = server.ask(name, "geocodeAddresses", addresses=json.dumps(records))
    if "locations" not in answer:
        sys.exit(f"geocodeAddresses: {answer.get('error')}")
    matched = sum(one["attributes"]["Status"] != "U" for one in answer["locations"])
    print(f"  batch: {1000 / took:.0f} a second, {matched} of 1000 found (goal 2,000)")


def hostile(server, name):
    """What people and programs send by mistake or on purpose: each must be answered, or refused with a reason, at once."""
    scripts = "".join(chr(start + i) for start in range(0x20, 0x3000, 0x40) for i in range(3) if (chr(start + i)).isprintable())
    texts = ["", " ", "\0\1\x7f", "12345", "1 2 3 4 5 6 7 8 9", "a" * 400, "x" * 10_000, "st " * 40, "a & b " * 20, "&" * 400, scripts[:400],
             "улица Ленина 5", "東京都千代田区千代田1-1", "🌲" * 200, "' OR 1=1 --", "\"*\" NEAR(a b)", "e\u0301" * 200, "12 " * 40, "Market " * 40,
             "of the san francisco ca us usa" * 12, "zzzzzzzz yyyyyyyy xxxxxxxx wwwwwwww vvvvvvvv uuuuuuuu"]
    slowest, refused = (0, ""), 0
    for text in texts:
        for operation, parameter in [("findAddressCandidates", "SingleLine"), ("suggest", "text")]:
            answer, took = server.ask(name, operation, **{parameter: text})
            error = answer.get("error")
            if error and error["code"] != 400:
                sys.exit(f"{operation} of {text[:40]!r}: {error}")
            refused += error is not None
            slowest = max(slowest, (took * 1000, f"{operation} {text[:30]!r}"))
    print(f"  bad input: {len(texts)} texts, {refused} refusals with a reason; the slowest took {slowest[0]:.0f} ms ({slowest[1]}; goal 200)")


def floors(rows):
    """What the same texts cost where nothing of an address is understood."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(label)")
    database.executemany("INSERT INTO t VALUES (?)", ((label,) for label, _ in rows))
    times = []
    for label, _ in rows[:2000]:
        words = " ".join(f'"{word}"' for word in re.findall(r"\w+", label))
        begun = time.perf_counter()
        database.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 1", (words,)).fetchone()
        times.append(time.perf_counter() - begun)
    print(f"  floor, FTS5 in one process: p50 {percentile(times, .5):.2f}, p99 {percentile(times, .99):.2f} ms")


def known_places(file):
    """Where the data has places of each name: a query for a place that it lacks, or has elsewhere, can't be answered from it."""
    known = {}
    with open(file) as opened:
        for one in json.load(opened).values():
            for name in {one["name"], *one["alternatenames"]}:
                known.setdefault(name.casefold(), []).append((one["latitude"], one["longitude"]))
    return known


def place_queries(server, folder, known):
    total = [0, 0]
    for file in sorted(glob.glob(os.path.join(folder, "*.csv"))):
        with open(file, newline="") as opened:
            rows = list(csv.DictReader(opened, delimiter=";"))
        name = os.path.basename(file)
        asked = right = near = answerable = of_these = 0
        misses = []
        if "reverse" in name and rows and "lat" in rows[0]:
            for row in rows:
                answer, _ = server.ask("Places", "reverseGeocode", location=f"{row['lon']},{row['lat']}", featureTypes="Locality")
                city = answer.get("address", {}).get("City", "")
                asked += 1
                hit = row["expected_city"].casefold() in (city.casefold(), answer.get("address", {}).get("PlaceName", "").casefold())
                right += hit
                if not hit: misses.append(f"{row['expected_city']} → {answer.get('address', {}).get('PlaceName', 'nothing')}")
        elif re.search(r"test_(cities|towns|villages)", name):
            for row in rows:
                lat, lon, tolerance = (float(part) for part in row["expected_coordinate"].split(","))
                answer, _ = server.ask(
                    "Places", "findAddressCandidates", SingleLine=row["query"], sourceCountry=row.get("country") or "",
                    maxLocations=max(1, int(row.get("limit") or 1)))
                far = min((metres((lat, lon), (c["location"]["y"], c["location"]["x"])) for c in answer["candidates"]), default=math.inf)
                asked += 1
                can = any(metres((lat, lon), place) <= tolerance for place in known.get(row["query"].casefold(), ()))
                answerable += can
                right += far <= tolerance
                of_these += can and far <= tolerance
                near += far <= 5000
                if far > 5000: misses.append(f"{row['query']} → {[c['address'] for c in answer['candidates']][:1]} {far / 1000:.0f} km")
        if asked:
            possible = f", {of_these} of the {answerable} that the data has there" if answerable else ""
            print(f"  {name}: {right} of {asked} within the tolerance ({100 * right / asked:.1f} %){possible}; {near} within 5 km; {misses[:6]}")
        if answerable:
            total[0] += of_these
            total[1] += answerable
    print(f"  all places by name: {total[0]} right, of {total[1]} that the data has within the tolerance ({100 * total[0] / max(1, total[1]):.1f} %)")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--osm", required=True)
    options.add_argument("--places", default=".fieldwork/places")
    options.add_argument("--queries")
    options.add_argument("--most", type=int, default=20000)
    chosen = options.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as data:
        def make(name, *arguments):
            told, took = run("locator", "make", *arguments, "--name", name, "--data", data)
            file = os.path.join(data, f"{name}.locator")
            meta = sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute("SELECT value FROM gc_meta WHERE key = 'addresses'")
            count = int(meta.fetchone()[0])
            print(f"{told.strip()}; the command took {took:.2f} s; {os.path.getsize(file) / max(1, count):.0f} bytes an address with its streets and places")
            return file

        city = make("City", chosen.osm)
        print(run("locator", "test", "City", "--data", data)[0].strip())
        rows = labels(city, chosen.most)
        helsinki = os.path.join(chosen.places, "helsinki.osm.pbf")
        if os.path.exists(helsinki):
            make("Helsinki", helsinki)
            print(run("locator", "test", "Helsinki", "--data", data)[0].strip())
        states = os.path.join(chosen.places, "addresses-us.jsonl")
        if os.path.exists(states):
            table = os.path.join(data, "us.csv")
            with open(states) as opened, open(table, "w", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(["address", "unit", "city", "state", "zip", "country", "lon", "lat"])
                for line in opened:
                    one = json.loads(line)
                    writer.writerow([one["address1"], one["address2"], one["city"], one["state"], one["postal_code"], "US",
                                     one["coordinates"]["lng"], one["coordinates"]["lat"]])
            make("States", table)
            print(run("locator", "test", "States", "--data", data)[0].strip())
        geonames = os.path.join(chosen.places, "cities500.json")
        if os.path.exists(geonames):
            table = os.path.join(data, "places.csv")
            with open(geonames) as opened, open(table, "w", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(["name", "alternatenames", "admin1code", "countrycode", "population", "longitude", "latitude"])
                for one in json.load(opened).values():
                    others = "|".join(name for name in one["alternatenames"] if name)
                    writer.writerow([
                        one["name"], others, one["admin1code"], one["countrycode"], one["population"], one["longitude"],
                        one["latitude"]])
            make("Places", table)
        server = Server(data)
        try:
            print("City:")
            speed(server, "City", rows)
            hostile(server, "City")
            floors(rows)
            if chosen.queries and os.path.exists(os.path.join(data, "Places.locator")):
                print("Places:")
                hostile(server, "Places")
                place_queries(server, chosen.queries, known_places(geonames))
                with open(geonames) as opened:
                    places = random.Random(7).sample(list(json.load(opened).values()), 3000)
                right = 0
                for one in places:
                    answer, _ = server.ask(
                        "Places", "findAddressCandidates", SingleLine=f"{one['name']}, {one['countrycode']}", maxLocations=20)
                    at = (one["latitude"], one["longitude"])
                    right += any(metres(at, (c["location"]["y"], c["location"]["x"])) < 10 for c in answer["candidates"])
                print(f"  3,000 places by name and country: {right} are among the first twenty answers at their place")
        finally:
            server.stop()
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
