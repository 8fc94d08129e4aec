#!/usr/bin/env python3
"""Measures locators: making one, its size, searches, suggestions, addresses of places and batches; then how many texts lead to
the right place, over data that others made.

    python3 Benchmarks/locators.py --osm FILE.osm.pbf [--places .fieldwork/places] [--queries FOLDER] [--most 20000]

`--places` is where `make vendor` puts places of GeoNames and addresses of the United States, `--queries` a folder of geocoder-tester's
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


def labels(file, most):
    """Labels and places of a locator's addresses, from its tables: it is a GeoPackage."""
    rows = sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute(
        """SELECT a.number || coalesce(CASE WHEN a.suffix LIKE '%/%' THEN ' ' ELSE '' END || a.suffix, ''), n.full, z.city, z.region,
        z.postal, a.geom FROM gc_address a JOIN gc_road r ON r.id = a.road_id JOIN gc_name n ON n.id = r.name_id
        JOIN gc_zone z ON z.id = a.zone_id WHERE a.unit IS NULL""").fetchall()
    random.Random(7).shuffle(rows)
    import struct
    found = []
    for number, street, city, region, postal, geometry in rows[:most]:
        x, y = struct.unpack_from("<dd", geometry, 13)
        found.append((", ".join(part for part in (f"{number} {street}", city, region, postal) if part), (y, x)))
    return found


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
    matched = sum(one["attributes"]["Status"] != "U" for one in answer["locations"])
    print(f"  batch: {1000 / took:.0f} a second, {matched} of 1000 found (goal 2,000)")


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
        asked = right = near = answerable = 0
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
                answer, _ = server.ask("Places", "findAddressCandidates", SingleLine=row["query"], maxLocations=max(1, int(row.get("limit") or 1)))
                far = min((metres((lat, lon), (c["location"]["y"], c["location"]["x"])) for c in answer["candidates"]), default=math.inf)
                asked += 1
                answerable += any(metres((lat, lon), place) <= tolerance for place in known.get(row["query"].casefold(), ()))
                right += far <= tolerance
                near += far <= 5000
                if far > 5000: misses.append(f"{row['query']} → {[c['address'] for c in answer['candidates']][:1]} {far / 1000:.0f} km")
        if asked:
            possible = f", of {answerable} that the data has there" if answerable else ""
            print(f"  {name}: {right} of {asked} within the tolerance ({100 * right / asked:.1f} %){possible}; {near} within 5 km; {misses[:6]}")
        if answerable:
            total[0] += right
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
            count = sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute("SELECT count(*) FROM gc_address").fetchone()[0]
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
                writer.writerow(["name", "othernames", "region", "country", "population", "lon", "lat"])
                for one in json.load(opened).values():
                    others = "|".join(name for name in one["alternatenames"] if name)
                    region = one["admin1code"] if one["countrycode"] == "US" else ""
                    writer.writerow([one["name"], others, region, one["countrycode"], one["population"], one["longitude"], one["latitude"]])
            make("Places", table)
        server = Server(data)
        try:
            print("City:")
            speed(server, "City", rows)
            floors(rows)
            if chosen.queries and os.path.exists(os.path.join(data, "Places.locator")):
                print("Places:")
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


main()
