#!/usr/bin/env python3
"""Measures a service in PostgreSQL beside the database alone and beside what others serve from the very same table.

    python3 Benchmarks/postgis.py [--features 1000000] [--rounds 3] [--seconds 5] [--peers tipg,mapserver] [--data DIR]

It starts a PostgreSQL 15 with PostGIS of its own, publishes points with eight attributes into it, and asks for boxes of about 1,000
of them in turn: from the database itself (pgbench, rows of ST_AsGeoJSON: the floor), from `fieldwork serve --store`, and from the
peers that are installed. Then it adds features in batches of 1,000, beside a plain COPY into a copy of the table with the same
indexes. All of it over loopback, with as many clients as --clients says, on the machine that everything runs on.

FIELDWORK_EXECUTABLE names the program to measure: a release build. Needed: the Debian packages postgresql-15-postgis-3 and wrk; for
the peers cgi-mapserver, spawn-fcgi, multiwatch and nginx-light, and the Python package tipg with uvicorn (--python names the interpreter
that has it)."""
import argparse, csv, http.client, json, os, random, re, shutil, signal, statistics, subprocess, sys, tempfile, time
import urllib.parse, urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402
from peers import BINARIES, Child, Database, free_port, listens, nginx_settings  # noqa: E402

# Degrees of the square that the points lie in; from its corner.
SIDE, WEST, SOUTH = 10.0, -125.0, 40.0
IN_A_BOX = 1_000
# The table that Fieldwork makes of the points, and its columns of keys and places.
OWN, KEY, GEOMETRY = 'points."Points"', "OBJECTID", "geom"


def write_points(path, count):
    chance = random.Random(7)
    species = [f"Species {number}" for number in range(40)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "species", "condition", "height", "girth", "stems", "seen", "note", "x", "y"])
        for number in range(count):
            writer.writerow([
                f"Tree {number}", chance.choice(species), chance.choice(["Good", "Fair", "Poor"]),
                round(chance.uniform(1, 40), 1), chance.randint(10, 400), chance.randint(1, 5),
                f"20{chance.randint(10, 25)}-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T12:00:00Z",
                "by the road" if number % 3 else "", round(WEST + chance.random() * SIDE, 7),
                round(SOUTH + chance.random() * SIDE, 7)])


# MARK: Boxes

class Boxes:
    """Asks for boxes by chance, with wrk."""

    def __init__(self, arguments, folder, edge):
        self.arguments, self.folder, self.edge = arguments, folder, edge

    def measure(self, host_and_port, path):
        """- path: with %f for west, south, east and north."""
        script = os.path.join(self.folder, "boxes.lua")
        with open(script, "w") as file:
            file.write(f"""
math.randomseed(os.time())
request = function()
  local west = {WEST} + math.random() * {SIDE - self.edge}
  local south = {SOUTH} + math.random() * {SIDE - self.edge}
  return wrk.format("GET", string.format({json.dumps(path)}, west, south, west + {self.edge}, south + {self.edge}))
end
done = function(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.read + summary.errors.timeout, latency:percentile(99), summary.bytes))
end
""")
        # Connections are opened and statements prepared before the clock runs.
        place = (WEST + 1, SOUTH + 1, WEST + 1 + self.edge, SOUTH + 1 + self.edge)
        urllib.request.urlopen(f"http://{host_and_port}{path % place}", timeout=60).read()
        clients = str(self.arguments.clients)
        text = subprocess.run(["wrk", "-t1", f"-c{clients}", f"-d{self.arguments.seconds}s", "--timeout", "30s", "-s", script,
                               f"http://{host_and_port}/"], check=True, capture_output=True, text=True).stdout
        count, microseconds, errors, last, size = map(int, re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) (\d+)", text).groups())
        if errors or not count:
            raise SystemExit(f"{errors} of {count} answers of {host_and_port} were errors:\n{text}")
        return count / microseconds * 1e6, last / 1_000, size / count

    def floor(self, database, query, mode="prepared"):
        script = os.path.join(self.folder, "boxes.sql")
        units = 1_000_000
        with open(script, "w") as file:
            file.write(f"\\set x random(0, {round((SIDE - self.edge) * units)})\n\\set y random(0, {round((SIDE - self.edge) * units)})\n"
                       + query.format(f"{WEST} + :x / {units}.0", f"{SOUTH} + :y / {units}.0",
                                      f"{WEST + self.edge} + :x / {units}.0", f"{SOUTH + self.edge} + :y / {units}.0") + "\n")
        clients = str(self.arguments.clients)
        text = subprocess.run([BINARIES + "pgbench", "-n", "-M", mode, "-c", clients, "-j", clients,
                               "-T", str(self.arguments.seconds), "-f", script, database.address()],
                              check=True, capture_output=True, text=True).stdout
        return float(re.search(r"tps = ([\d.]+) \(without", text).group(1))


def count_of(address):
    """The features of one answer, and its document."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        return len(json.load(answer)["features"])


# MARK: Adds

class Adds:
    def __init__(self, database, port):
        self.database, self.chance = database, random.Random(9)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.number = 0

    def rows(self, count):
        for _ in range(count):
            self.number += 1
            yield (f"Added {self.number}", "Species 1", "Good", 12.5, 90, 2, "by the road",
                   round(WEST + self.chance.random() * SIDE, 7), round(SOUTH + self.chance.random() * SIDE, 7))

    NAMES = ["name", "species", "condition", "height", "girth", "stems", "note"]

    def service(self, batches):
        bodies = []
        for _ in range(batches):
            adds = [{"attributes": dict(zip(self.NAMES, row)), "geometry": {"x": row[7], "y": row[8]}}
                    for row in self.rows(1_000)]
            bodies.append(urllib.parse.urlencode({"f": "json", "adds": json.dumps(adds, separators=(",", ":"))}))
        begun = time.perf_counter()
        for body in bodies:
            self.connection.request("POST", "/arcgis/rest/services/Points/FeatureServer/0/applyEdits", body,
                                    {"Content-Type": "application/x-www-form-urlencoded"})
            answer = json.loads(self.connection.getresponse().read())
            if not all(result["success"] for result in answer["addResults"]):
                raise SystemExit(f"Adds were refused: {str(answer)[:500]}")
        return batches * 1_000 / (time.perf_counter() - begun)

    def copy(self, batches, first):
        """A COPY and a COMMIT for each thousand, by psql over one connection. - first: the least id that is free."""
        names = ", ".join(f'"{name}"' for name in [KEY] + self.NAMES + [GEOMETRY, "GlobalID"])
        script = os.path.join(self.database.folder, "copy.sql")
        with open(script, "w") as file:
            for batch in range(batches):
                file.write(f"COPY public.copied ({names}) FROM STDIN;\n")
                for index, row in enumerate(self.rows(1_000)):
                    number = first + batch * 1_000 + index
                    values = [number, *row[:7], f"SRID=4326;POINT({row[7]} {row[8]})",
                              "{" + f"{self.chance.getrandbits(128):032X}" + "}"]
                    file.write("\t".join(map(str, values)) + "\n")
                file.write("\\.\n")
        begun = time.perf_counter()
        subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", script, self.database.address()], check=True)
        return batches * 1_000 / (time.perf_counter() - begun)


# MARK: Three servers

def three_servers(arguments, executable, database, folder, log, children, boxes, own):
    """Three servers behind nginx, with a standby that queries go to and COMMITs wait for, beside one server alone."""
    standby, address = database.standby(log)
    children.append(standby)
    ports = [free_port() for _ in range(3)]
    servers = [Child([executable, "serve", "--store", database.address(), "--read-store", address, "--port", str(port),
                      "--data", folder], log, listens(port)) for port in ports]
    children += servers
    front = free_port()
    backends = " ".join(f"server 127.0.0.1:{port};" for port in ports)
    children.append(Child(["nginx", "-c", nginx_settings(folder, "three", f"""
  upstream fieldwork {{ least_conn; {backends} keepalive 16; }}
  server {{
    listen 127.0.0.1:{front};
    client_max_body_size 600m; proxy_request_buffering off; proxy_buffering off; proxy_read_timeout 300s;
    location / {{
      proxy_pass http://fieldwork; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_next_upstream error timeout;
    }}
  }}""")], log, listens(front)))
    print("three servers behind nginx, a standby for the queries, COMMITs that wait for it")
    one, three, adds = [], [], []
    for _ in range(arguments.rounds):
        one.append(boxes.measure(f"127.0.0.1:{ports[0]}", own)[0])
        three.append(boxes.measure(f"127.0.0.1:{front}", own)[0])
        adds.append(Adds(database, front).service(10))
    base = line("boxes from one of them, a second", one)
    print(f"    {line('boxes through nginx, a second', three) / base:.2f} times one of them alone")
    line("applyEdits through nginx, features a second", adds)
    for name, child in [("one server", servers[0]), ("the standby", standby)]:
        print(f"    memory of {name} now: {child.memory():,.0f} MB")


# MARK: The run

def line(title, figures, unit=""):
    middle = statistics.median(figures)
    print(f"  {title:<46} {middle:10,.1f} ({min(figures):,.1f} to {max(figures):,.1f}){unit}", flush=True)
    return middle


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--peers", default="tipg,mapserver", help="which of those that are installed; '' for none")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--three", action="store_true", help="then three servers behind nginx, with a standby")
    parser.add_argument("--data", help="keep the database here, for another run")
    arguments = parser.parse_args()
    executable = os.path.abspath(os.environ.get("FIELDWORK_EXECUTABLE", ".build/release/fieldwork"))
    folder = os.path.abspath(arguments.data) if arguments.data else tempfile.mkdtemp(prefix="fieldwork-postgis-")
    os.makedirs(folder, exist_ok=True)
    children = []
    log = open(os.path.join(folder, "log.txt"), "w")
    try:
        database = Database(folder, log)
        children.append(database.child)
        if database.is_new:
            points = os.path.join(folder, "points.csv")
            write_points(points, arguments.features)
            subprocess.run([executable, "store", "init", "--store", database.address()], check=True)
            begun = time.perf_counter()
            subprocess.run([executable, "publish", points, "--service", "Points", "--x", "x", "--y", "y",
                            "--store", database.address()], check=True, stdout=log)
            seconds = time.perf_counter() - begun
            print(f"published {arguments.features:,} points in {seconds:.1f} s: {arguments.features / seconds:,.0f} a second")
            os.remove(points)
            # The same features as anybody else would keep them, in the same order; a second service leaves them where they are.
            database.sql(f"""
                CREATE TABLE trees (id bigint PRIMARY KEY, name text, species text, condition text, height float8, girth bigint,
                    stems bigint, seen timestamptz, note text, geom geometry(Point, 4326));
                INSERT INTO trees SELECT "OBJECTID", name, species, condition, height, girth, stems, seen, note,
                    ST_SetSRID("{GEOMETRY}", 4326) FROM {OWN} ORDER BY ctid;
                CREATE INDEX ON trees USING gist (geom)""")
            subprocess.run([executable, "publish", database.address(), "--table", "trees", "--service", "Trees"],
                           check=True, stdout=log)
        database.sql(f"VACUUM ANALYZE {OWN}")
        database.sql("VACUUM ANALYZE trees")
        def serve():
            port = free_port()
            children.append(Child([executable, "serve", "--store", database.address(), "--port", str(port), "--data", folder],
                                  log, listens(port)))
            return children[-1], port

        server, port = serve()

        total = int(database.sql("SELECT count(*) FROM trees"))
        boxes = Boxes(arguments, folder, SIDE * (IN_A_BOX / total) ** 0.5)
        middle = [WEST + 3, SOUTH + 3, WEST + 3 + boxes.edge, SOUTH + 3 + boxes.edge]
        # What nobody can be faster than who asks PostgreSQL for these columns: in its own binary form, to nobody, in no order.
        rows = ("COPY (SELECT * FROM trees WHERE geom && ST_MakeEnvelope({}, {}, {}, {}, 4326)) TO '/dev/null' (FORMAT binary);")
        query = ("SELECT ST_AsGeoJSON(t.*) FROM (SELECT * FROM trees WHERE geom && ST_MakeEnvelope({}, {}, {}, {}, 4326)) AS t;")
        expected = int(database.sql(f"SELECT count(*) FROM trees WHERE geom && ST_MakeEnvelope({', '.join(map(str, middle))}, 4326)"))
        host = f"127.0.0.1:{port}"
        own = ("/arcgis/rest/services/{}/FeatureServer/0/query?where=1%%3D1&outFields=*&geometry=%f,%f,%f,%f"
               "&geometryType=esriGeometryEnvelope&inSR=4326&f={}")
        asked = {f"Fieldwork, {name}": (host, own.format("Points", format))
                 for name, format in [("GeoJSON", "geojson"), ("Esri JSON", "json"), ("PBF", "pbf")]}
        asked["Fieldwork, GeoJSON of the table in its place"] = (host, own.format("Trees", "geojson"))
        memory = {"Fieldwork": server}
        for peer in filter(None, arguments.peers.split(",")):
            if peer == "tipg":
                if not peers.has_tipg(arguments.python):
                    print("  tipg is not installed: left out")
                    continue
                child, host, path = peers.start_tipg(arguments.python, arguments.clients, database, folder, log)
                started = [child]
            elif peer == "mapserver":
                if absent := peers.absent_of_mapserver():
                    print(f"  {', '.join(absent)} not installed: MapServer is left out")
                    continue
                started, host = peers.start_mapserver(peers.wfs_map(
                    f'CONNECTIONTYPE POSTGIS CONNECTION "host=127.0.0.1 port={database.port} dbname=field user=bench" '
                    'DATA "geom from trees using unique id using srid=4326"', '"gml_featureid" "id"'), arguments.clients, folder, log)
                path = peers.WFS_PATH
            else:
                sys.exit(f"{peer} is no peer: tipg or mapserver")
            children += started
            asked[peer], memory[peer] = (host, path), started[0]

        # Each gives the same features, or the comparison would mean nothing.
        for name, (host, path) in asked.items():
            if not name.endswith("PBF"):
                found = count_of(f"http://{host}{path % tuple(middle)}")
                if found != expected:
                    sys.exit(f"{name} gives {found} features where the database has {expected}.")

        print(f"boxes of {expected} of {total:,} points, {arguments.clients} clients, load {os.getloadavg()[0]:.1f} at the start")
        rates, lasts, sizes, floor, binary = {name: [] for name in asked}, {name: [] for name in asked}, {}, [], []
        for _ in range(arguments.rounds):
            floor.append(boxes.floor(database, query))
            binary.append(boxes.floor(database, rows, "simple"))
            for name, (host, path) in asked.items():
                rate, last, size = boxes.measure(host, path)
                rates[name].append(rate)
                lasts[name].append(last)
                sizes[name] = size
        base = line("the database alone, a second", floor)
        line("the same rows in binary, sent to nobody", binary)
        for name in asked:
            rate = line(f"{name}, a second", rates[name])
            print(f"    {rate / base:.2f} times the floor; p99 {statistics.median(lasts[name]):.1f} ms; {sizes[name] / 1_024:,.0f} KB each")
        others = [statistics.median(rates[name]) for name in asked if not name.startswith("Fieldwork")]
        if others:
            for name in asked:
                if name.startswith("Fieldwork"):
                    print(f"    {name}: {statistics.median(rates[name]) / max(others):.1f} times the better peer")
        for name, child in memory.items():
            print(f"    memory of {name} now: {child.memory():,.0f} MB")

        for child in children[1:]:
            child.stop()
        database.work_on_copy()
        server, port = serve()
        print("adds in batches of 1,000, one client")
        database.sql(f"DROP TABLE IF EXISTS public.copied; CREATE TABLE public.copied (LIKE {OWN} INCLUDING ALL); "
                     f"INSERT INTO public.copied SELECT * FROM {OWN}; VACUUM ANALYZE public.copied; CHECKPOINT")
        adds, batches = Adds(database, port), 20
        served, copied, first = [], [], int(database.sql(f'SELECT max("{KEY}") + 1 FROM public.copied'))
        for _ in range(arguments.rounds):
            copied.append(adds.copy(batches, first))
            first += batches * 1_000
            served.append(adds.service(batches))
        base = line("plain COPY, rows a second", copied)
        rate = line("applyEdits, features a second", served)
        print(f"    {rate / base:.2f} times COPY; load {os.getloadavg()[0]:.1f} at the end")
        if arguments.three:
            three_servers(arguments, executable, database, folder, log, children, boxes, own.format("Points", "json"))
    finally:
        for child in reversed(children):
            if child is children[0]:
                # A primary that waits for a standby which has gone would wait for ever.
                child.process.send_signal(signal.SIGQUIT)
                child.process.wait(60)
            else:
                child.stop()
        log.close()
        if not arguments.data:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
