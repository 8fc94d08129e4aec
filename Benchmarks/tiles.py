#!/usr/bin/env python3
"""Measures vector tiles and images of maps beside what others make of the very same rows, and the making of a basemap.

    python3 Benchmarks/tiles.py [--features 1000000] [--rounds 3] [--parts cold,warm,images,basemap] [--osm FILE.osm.pbf] [--data DIR]

Points with eight attributes, and the streets of an extract of OpenStreetMap laid beside each other many times, are published into a
GeoPackage and into a PostgreSQL 15 with PostGIS that the script starts; the peers read the same rows from the same database.

- cold: each tile of level 14 once, by wrk, from a server that has just begun; beside it ST_AsMVT by pgbench (as Martin asks for it, and with
  the features and attributes of our tiles; without HTTP, uncompressed), tipg and MapServer, none of which keeps tiles. --clients ask at a time.
- warm: the same tiles again and again by wrk, beside nginx with the same bytes as files.
- images: 512 by 512 pixels of about 1,000 points, beside MapServer (WMS GetMap, cairo where it has it, else AGG).
- basemap: `fieldwork basemap make` of the extract beside tilemaker, one after the other on one processor.

FIELDWORK_EXECUTABLE names the program to measure: a release build. Needed: the Debian packages postgresql-15-postgis-3, gdal-bin, wrk and
nginx-light; for the peers cgi-mapserver, spawn-fcgi, libfcgi-bin, multiwatch, tilemaker, and the Python package tipg with uvicorn
(--python names the interpreter that has it). What is missing is left out with a word."""
import argparse, gzip, json, math, os, random, re, shutil, signal, statistics, subprocess, sys
import tempfile, time, urllib.error, urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402
from peers import BINARIES, Child, Database, free_port, listens, nginx_settings  # noqa: E402
from postgis import line  # noqa: E402

LEVEL = 14
# Tiles of level 14 across and down: about a thousand points in each where there are a million.
ACROSS = 32
WEST_TILE, NORTH_TILE = 2_500, 5_800


def longitude(x, level=LEVEL):
    return x / 2 ** level * 360 - 180


def latitude(y, level=LEVEL):
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / 2 ** level))))


TILES = [(x, y) for y in range(NORTH_TILE, NORTH_TILE + ACROSS) for x in range(WEST_TILE, WEST_TILE + ACROSS)]
BOX = (longitude(WEST_TILE), latitude(NORTH_TILE + ACROSS), longitude(WEST_TILE + ACROSS), latitude(NORTH_TILE))


# MARK: The rows

def fill(database, arguments, folder, executable, log):
    """The two tables, and the same rows as services in a GeoPackage."""
    chance = random.Random(7)
    west, south, east, north = BOX
    rows = os.path.join(folder, "points.tsv")
    with open(rows, "w", encoding="utf-8") as file:
        for number in range(arguments.features):
            x, y = west + chance.random() * (east - west), south + chance.random() * (north - south)
            file.write("\t".join(map(str, [
                number + 1, f"Tree {number}", f"Species {chance.randrange(40)}", chance.choice(["Good", "Fair", "Poor"]),
                round(chance.uniform(1, 40), 1), chance.randint(10, 400), chance.randint(1, 5), "by the road" if number % 3 else "",
                f"SRID=4326;POINT({x:.7f} {y:.7f})"])) + "\n")
    columns = "name text, species text, condition text, height float8, girth bigint, stems bigint, note text, geom geometry(Point, 4326)"
    database.sql(f"CREATE TABLE trees (id bigint PRIMARY KEY, {columns})")
    copied = "trees" if arguments.scattered else "unsorted"
    if not arguments.scattered:
        database.sql(f"CREATE TABLE unsorted (id bigint, {columns})")
    subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", f"\\copy {copied} FROM '{rows}'", database.address()], check=True)
    if not arguments.scattered:
        # PostGIS puts geometries in order along a Hilbert curve, as a layer does that is published from a table.
        database.sql("INSERT INTO trees SELECT row_number() OVER (ORDER BY geom), name, species, condition, height, girth, stems, note, geom "
                     "FROM unsorted; DROP TABLE unsorted")
    os.remove(rows)
    source = os.path.join(folder, "streets.gpkg")
    subprocess.run(["ogr2ogr", "-q", "-f", "GPKG", source, arguments.osm, "lines", "-nln", "source", "-select", "name,highway",
                    "-where", "highway IS NOT NULL"], check=True, stdout=log, stderr=log)
    subprocess.run(["ogr2ogr", "-q", "-f", "PostgreSQL", f"PG:host=127.0.0.1 port={database.port} dbname=field user=bench", source,
                    "source", "-lco", "GEOMETRY_NAME=geom"], check=True, stdout=log, stderr=log)
    # The extract's streets again and again, until they cover the tiles.
    database.sql(f"""
        CREATE TABLE streets AS
            WITH size AS (SELECT ST_XMax(e) - ST_XMin(e) AS w, ST_YMax(e) - ST_YMin(e) AS h, ST_XMin(e) AS x, ST_YMin(e) AS y
                FROM (SELECT ST_Extent(geom) AS e FROM source WHERE ST_Length(geom) < 0.02) AS all_of_them)
            SELECT row_number() OVER ()::bigint AS id, name::text, highway::text,
                ST_Translate(geom, {west} - x + w * i, {south} - y + h * j)::geometry(LineString, 4326) AS geom
            FROM source, size, generate_series(0, floor(({east} - {west}) / w)::int - 1) AS i,
                generate_series(0, floor(({north} - {south}) / h)::int - 1) AS j
            WHERE ST_Length(geom) < 0.02""")
    database.sql("ALTER TABLE streets ADD PRIMARY KEY (id)")
    for table in ["trees", "streets"]:
        database.sql(f"CREATE INDEX ON {table} USING gist (geom); ANALYZE {table}")
        # Rows near each other lie near each other, as a service has them after it was published.
        database.sql(f"CLUSTER {table} USING {table}_geom_idx")
        database.sql(f"VACUUM ANALYZE {table}")
        file = os.path.join(folder, f"{table}.gpkg")
        subprocess.run(["ogr2ogr", "-q", "-f", "GPKG", file, f"PG:host=127.0.0.1 port={database.port} dbname=field user=bench", table],
                       check=True, stdout=log, stderr=log)
        for store in [["--data", os.path.join(folder, "data")], ["--store", database.address()]]:
            if store[0] == "--store" and table == "trees":
                subprocess.run([executable, "store", "init", *store], check=True, stdout=log)
            subprocess.run([executable, "publish", file, "--service", table.title(), *store], check=True, stdout=log)
        os.remove(file)


# MARK: Asking

def each_once(host, paths, clients, folder):
    """Asks for each of some paths once, by wrk: a client in C, which takes little of the processors that the server needs.

    - Returns: answers a second, and the bytes of one on the wire."""
    script = os.path.join(folder, "once.lua")
    with open(script, "w") as file:
        listed = ",".join(json.dumps(path) for path in paths)
        # wrk runs for a time, not for a number of requests: after the last answer it is interrupted as by a key, and tells what it has. What
        # its other connections ask for meanwhile is not waited for.
        file.write(f"""
local paths = {{{listed}}}
local ffi = require("ffi")
ffi.cdef[[
  typedef struct {{ long seconds; long nanoseconds; }} moment;
  int clock_gettime(int clock, moment *now);
  int getpid(void);
  int kill(int process, int signal);
]]
local function now()
  local moment = ffi.new("moment")
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end
local asked, answered, bytes, failed, began = 0, 0, 0, 0, nil
wrk.headers["Accept-Encoding"] = "gzip"
request = function()
  began = began or now()
  asked = asked + 1
  return wrk.format("GET", paths[math.min(asked, #paths)])
end
response = function(status, headers, body)
  if answered == #paths then return end
  answered = answered + 1
  bytes = bytes + #body
  -- A tile without features is not there, or empty.
  if status ~= 200 and status ~= 204 and status ~= 404 then failed = failed + 1 end
  if answered == #paths then
    io.write(string.format("RESULT %.6f %d %d\\n", now() - began, bytes, failed))
    io.flush()
    ffi.C.kill(ffi.C.getpid(), 2)
  end
end
""")
    text = subprocess.run(["wrk", "-t1", f"-c{clients}", "-d600s", "--timeout", "120s", "-s", script, f"http://{host}/"],
                          check=True, capture_output=True, text=True).stdout
    found = re.search(r"RESULT ([\d.]+) (\d+) (\d+)", text)
    if not found or int(found.group(3)):
        raise SystemExit(f"Answers of {host} were missing or errors:\n{text}")
    return len(paths) / float(found.group(1)), int(found.group(2)) / len(paths)


def wrk(host, paths, arguments, folder, headers=""):
    script = os.path.join(folder, "paths.lua")
    with open(script, "w") as file:
        listed = ",".join(json.dumps(path) for path in paths)
        file.write(f"""
local paths = {{{listed}}}
math.randomseed(os.time())
wrk.headers["Accept-Encoding"] = "gzip"
{headers}
request = function() return wrk.format("GET", paths[math.random(#paths)]) end
done = function(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.read + summary.errors.timeout, latency:percentile(99)))
end
""")
    text = subprocess.run(["wrk", "-t1", f"-c{arguments.clients}", f"-d{arguments.seconds}s", "-s", script, f"http://{host}/"],
                          check=True, capture_output=True, text=True).stdout
    count, microseconds, errors, last = map(int, re.search(r"RESULT (\d+) (\d+) (\d+) (\d+)", text).groups())
    if errors or not count:
        raise SystemExit(f"{errors} of {count} answers of {host} were errors:\n{text}")
    return count / microseconds * 1e6, last / 1_000


# MARK: Peers

MAPFILE = """
MAP
  NAME "bench"
  SIZE 512 512
  IMAGETYPE "png32"
  EXTENT -20037508 -20037508 20037508 20037508
  PROJECTION "init=epsg:3857" END
  OUTPUTFORMAT NAME "png32" DRIVER "{driver}" MIMETYPE "image/png" IMAGEMODE RGBA EXTENSION "png" TRANSPARENT ON END
  WEB METADATA "wms_title" "bench" "wms_onlineresource" "http://127.0.0.1/?" "wms_srs" "EPSG:3857 EPSG:4326"
    "wms_enable_request" "*" "ows_enable_request" "*" END END
  SYMBOL NAME "circle" TYPE ELLIPSE FILLED TRUE POINTS 1 1 END END
  LAYER
    NAME "trees" TYPE POINT STATUS ON CONNECTIONTYPE POSTGIS PROCESSING "CLOSE_CONNECTION=DEFER"
    CONNECTION "host=127.0.0.1 port={port} dbname=field user=bench"
    DATA "geom from (select id, name, geom from trees) as t using unique id using srid=4326"
    PROJECTION "init=epsg:4326" END
    METADATA "wms_title" "trees" "gml_include_items" "id,name" "gml_types" "auto" END
    CLASS STYLE SYMBOL "circle" SIZE 8 COLOR 30 140 60 OUTLINECOLOR 255 255 255 OUTLINEWIDTH 1 END END
  END
  LAYER
    NAME "streets" TYPE LINE STATUS ON CONNECTIONTYPE POSTGIS PROCESSING "CLOSE_CONNECTION=DEFER"
    CONNECTION "host=127.0.0.1 port={port} dbname=field user=bench"
    DATA "geom from (select id, name, geom from streets) as t using unique id using srid=4326"
    PROJECTION "init=epsg:4326" END
    METADATA "wms_title" "streets" "gml_include_items" "id,name" END
    CLASS STYLE COLOR 90 90 90 WIDTH 2 END END
  END
END
"""


def start_mapserver(arguments, database, folder, log):
    features = subprocess.run([peers.MAPSERVER, "-v"], capture_output=True, text=True).stdout
    text = (MAPFILE.replace("{port}", str(database.port))
            .replace("{driver}", "CAIRO/PNG" if "SUPPORTS=CAIRO" in features else "AGG/PNG"))
    return peers.start_mapserver(text, arguments.clients, folder, log)


def serve(executable, store, folder, log):
    port = free_port()
    child = Child([executable, "serve", *store, "--port", str(port)]
                  + (["--data", os.path.join(folder, "data")] if store[0] == "--store" else []), log, listens(port))
    return child, f"127.0.0.1:{port}"


# MARK: Parts

def processor(child):
    """Seconds of the processor that a program has taken by now."""
    with open(f"/proc/{child.process.pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def as_mvt(database, arguments, folder, table, margin):
    """Tiles by ST_AsMVT over a connection for each client, with the attributes that our tiles have: what a server that only passes them on,
    without HTTP and uncompressed, could reach.

    - margin: units around the tile that it reaches into, of 4,096."""
    script = os.path.join(folder, "mvt.sql")
    query = (f"SELECT ST_AsMVT(t, '{table}') FROM (SELECT id, name, ST_AsMVTGeom(ST_Transform(geom, 3857), "
             f"ST_TileEnvelope({LEVEL}, :x, :y), 4096, {margin}, true) AS geom FROM {table} "
             f"WHERE geom && ST_Transform(ST_TileEnvelope({LEVEL}, :x, :y, margin => {margin / 4_096}), 4326)) AS t;")
    with open(script, "w") as file:
        file.write(f"\\set x random({WEST_TILE}, {WEST_TILE + ACROSS - 1})\n\\set y random({NORTH_TILE}, {NORTH_TILE + ACROSS - 1})\n"
                   + query + "\n")
    text = subprocess.run([BINARIES + "pgbench", "-n", "-M", "prepared", "-c", str(arguments.clients), "-j", str(arguments.clients),
                           "-T", str(arguments.seconds), "-f", script, database.address()],
                          check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tps = ([\d.]+) \(without", text).group(1))


def cold(arguments, executable, database, folder, log, hosts):
    chance = random.Random(3)
    for table, title in [("trees", "points"), ("streets", "streets")]:
        # Ours reach half a large marker or a wide line over their edge: with 1,000 points within, 560 more. Martin's reach 64 units.
        mvt_margins = {"ST_AsMVT by pgbench, as Martin asks": 64,
                       "ST_AsMVT by pgbench, what our tiles have": 512 if table == "trees" else 64}
        order = TILES[:]
        chance.shuffle(order)
        few = order[:arguments.few]
        own = [f"/arcgis/rest/services/{table.title()}/VectorTileServer/tile/{LEVEL}/{y}/{x}.pbf" for x, y in order]
        rates, sizes, works = {}, {}, {}
        for _ in range(arguments.rounds):
            for name, store in [("Fieldwork, GeoPackage", ["--data", os.path.join(folder, "data")]),
                                ("Fieldwork, PostgreSQL", ["--store", database.address()])]:
                # A server that has just begun has no tiles.
                child, host = serve(executable, store, folder, log)
                urllib.request.urlopen(f"http://{host}/arcgis/rest/services/{table.title()}/VectorTileServer?f=json").read()
                before = processor(child)
                rate, size = each_once(host, own, arguments.clients, folder)
                works.setdefault(name, []).append((processor(child) - before) / len(own) * 1e3)
                child.stop()
                rates.setdefault(name, []).append(rate)
                sizes[name] = size
            for name, margin in mvt_margins.items():
                rates.setdefault(name, []).append(as_mvt(database, arguments, folder, table, margin))
            if "tipg" in hosts:
                paths = [f"/collections/public.{table}/tiles/WebMercatorQuad/{LEVEL}/{x}/{y}" for x, y in few]
                rate, sizes["tipg"] = each_once(hosts["tipg"], paths, arguments.clients, folder)
                rates.setdefault("tipg", []).append(rate)
            if "mapserver" in hosts:
                paths = [f"/?mode=tile&tilemode=gmap&tile={x}+{y}+{LEVEL}&layers={table}&map.imagetype=mvt" for x, y in few]
                rate, sizes["MapServer"] = each_once(hosts["mapserver"], paths, arguments.clients, folder)
                rates.setdefault("MapServer", []).append(rate)
        print(f"tiles of level {LEVEL} with {title}, each once, {arguments.clients} clients, load {os.getloadavg()[0]:.1f}")
        middles = {name: line(f"{name}, a second", figures) for name, figures in rates.items()}
        for name, size in sizes.items():
            print(f"    {name}: {size / 1_024:,.1f} KB each on the wire")
        for name, figures in works.items():
            line(f"{name}, ms of the server's processor", figures)
        best = max((rate, name) for name, rate in middles.items() if not name.startswith("Fieldwork"))
        for name, rate in middles.items():
            if name.startswith("Fieldwork"):
                print(f"    {name}: {rate / best[0]:.2f} times the best of the others ({best[1]})")


def warm(arguments, executable, database, folder, log):
    child, host = serve(executable, ["--data", os.path.join(folder, "data")], folder, log)
    files = os.path.join(folder, "files")
    shutil.rmtree(files, ignore_errors=True)
    chance, port = random.Random(5), free_port()
    paths = []
    for x, y in chance.sample(TILES, 256):
        path = f"/arcgis/rest/services/Streets/VectorTileServer/tile/{LEVEL}/{y}/{x}.pbf"
        request = urllib.request.Request(f"http://{host}{path}", headers={"Accept-Encoding": "gzip"})
        try:
            with urllib.request.urlopen(request) as answer:
                body, coding = answer.read(), answer.headers.get("Content-Encoding")
        except urllib.error.HTTPError as error:
            # The copies of the extract leave a margin: a tile without streets is not there.
            if error.code == 404:
                continue
            raise
        paths.append(path)
        name = files + path
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(body if coding == "gzip" else gzip.compress(body))
    front = Child(["nginx", "-c", nginx_settings(folder, "files", f"""
  sendfile on; tcp_nopush on; open_file_cache max=2000;
  server {{ listen 127.0.0.1:{port}; root {files};
    location / {{ types {{ }} default_type application/x-protobuf; add_header Content-Encoding gzip; etag on; }} }}""")], log,
                  listens(port))
    # Files are read by the user that nginx works as.
    for at, _, names in os.walk(files):
        os.chmod(at, 0o755)
        for name in names:
            os.chmod(os.path.join(at, name), 0o644)
    os.chmod(folder, 0o755)
    own, theirs = [], []
    for _ in range(arguments.rounds):
        own.append(wrk(host, paths, arguments, folder)[0])
        theirs.append(wrk(f"127.0.0.1:{port}", paths, arguments, folder)[0])
    print(f"ready tiles, {arguments.clients} connections, load {os.getloadavg()[0]:.1f}")
    rate = line("Fieldwork, a second", own)
    base = line("nginx with the same bytes as files, a second", theirs)
    print(f"    {rate / base:.2f} times nginx")
    child.stop()
    front.stop()


def images(arguments, executable, database, folder, log, hosts):
    total = int(database.sql("SELECT count(*) FROM trees"))
    west, south, east, north = BOX
    radius = 6_378_137
    x0, x1 = math.radians(west) * radius, math.radians(east) * radius
    y0, y1 = (math.asinh(math.tan(math.radians(angle))) * radius for angle in (south, north))
    side = math.sqrt((x1 - x0) * (y1 - y0) * 1_000 / total)
    chance = random.Random(11)
    corners = [(x0 + chance.random() * (x1 - x0 - side), y0 + chance.random() * (y1 - y0 - side)) for _ in range(200)]
    boxes = [f"{x:.2f},{y:.2f},{x + side:.2f},{y + side:.2f}" for x, y in corners]
    asked = {}
    started = []
    for name, store in [("Fieldwork, GeoPackage", ["--data", os.path.join(folder, "data")]),
                        ("Fieldwork, PostgreSQL", ["--store", database.address()])]:
        child, host = serve(executable, store, folder, log)
        started.append(child)
        asked[name] = (host, [f"/arcgis/rest/services/Trees/MapServer/export?bbox={box}&bboxSR=3857&imageSR=3857&size=512,512"
                              f"&format=png32&transparent=true&f=image" for box in boxes])
    if "mapserver" in hosts:
        asked["MapServer"] = (hosts["mapserver"], [
            f"/?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=trees&STYLES=&SRS=EPSG:3857&BBOX={box}&WIDTH=512&HEIGHT=512"
            f"&FORMAT=image/png&TRANSPARENT=true" for box in boxes])
    rates, lasts, sizes = {}, {}, {}
    for _ in range(arguments.rounds):
        for name, (host, paths) in asked.items():
            with urllib.request.urlopen(f"http://{host}{paths[0]}") as answer:
                body = answer.read()
                if answer.headers.get_content_type() != "image/png":
                    raise SystemExit(f"{name} gives no image: {body[:500]}")
            sizes[name] = len(body)
            rate, last = wrk(host, paths, arguments, folder)
            rates.setdefault(name, []).append(rate)
            lasts.setdefault(name, []).append(last)
    print(f"images of 512 by 512 pixels with about 1,000 of {total:,} points, {arguments.clients} clients, load {os.getloadavg()[0]:.1f}")
    middles = {name: line(f"{name}, a second", figures) for name, figures in rates.items()}
    for name in middles:
        print(f"    {name}: p99 {statistics.median(lasts[name]):.1f} ms; {sizes[name] / 1_024:,.0f} KB"
              + (f"; {middles[name] / middles['MapServer']:.2f} times MapServer" if "MapServer" in middles else ""))
    for child in started:
        child.stop()


def basemap(arguments, executable, folder, log):
    """Both on one processor, one after the other."""
    seconds, sizes = {}, {}
    for index in range(arguments.rounds):
        name, data = f"City{index}", os.path.join(folder, "basemaps")
        words = {"fieldwork basemap make": [executable, "basemap", "make", arguments.osm, "--name", name, "--data", data]}
        tiles = os.path.join(folder, "tilemaker.mbtiles")
        examples = "/usr/share/doc/tilemaker/examples"
        if shutil.which("tilemaker"):
            if os.path.exists(tiles):
                os.remove(tiles)
            words["tilemaker"] = ["tilemaker", "--input", arguments.osm, "--output", tiles,
                                  "--config", f"{examples}/config-openmaptiles.json",
                                  "--process", f"{examples}/process-openmaptiles.lua"]
        for tool, command in words.items():
            begun = time.perf_counter()
            subprocess.run(["taskset", "-c", "1", *command], check=True, stdout=log, stderr=log, cwd=folder)
            seconds.setdefault(tool, []).append(time.perf_counter() - begun)
        made = [os.path.join(at, file) for at, _, files in os.walk(data) for file in files if name in os.path.join(at, file)]
        sizes["fieldwork basemap make"] = sum(os.path.getsize(file) for file in made if not file.endswith((".json", ".log")))
        if os.path.exists(tiles):
            sizes["tilemaker"] = os.path.getsize(tiles)
    print(f"a basemap of {os.path.basename(arguments.osm)} on one processor, load {os.getloadavg()[0]:.1f}")
    for tool in seconds:
        middle = statistics.median(seconds[tool])
        print(f"  {tool:<46} {middle:10.2f} s ({min(seconds[tool]):.2f} to {max(seconds[tool]):.2f}); {sizes[tool] / 1_000:,.0f} KB")
    if "tilemaker" in seconds:
        print(f"    {statistics.median(seconds['tilemaker']) / statistics.median(seconds['fieldwork basemap make']):.2f} times as fast")


# MARK: The run

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--few", type=int, default=200, help="how many tiles the slower peers are asked for in a round")
    parser.add_argument("--parts", default="cold,warm,images,basemap")
    parser.add_argument("--osm", required=True, help="an extract of OpenStreetMap (.osm.pbf)")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--scattered", action="store_true",
                        help="number the points as they come, so that a GeoPackage has each point of a tile in a page of its own")
    parser.add_argument("--data", help="keep the rows here, for another run")
    arguments = parser.parse_args()
    arguments.osm = os.path.abspath(arguments.osm)
    executable = os.path.abspath(os.environ.get("FIELDWORK_EXECUTABLE", ".build/release/fieldwork"))
    folder = os.path.abspath(arguments.data) if arguments.data else tempfile.mkdtemp(prefix="fieldwork-tiles-")
    os.makedirs(folder, exist_ok=True)
    parts, children, hosts = arguments.parts.split(","), [], {}
    log = open(os.path.join(folder, "log.txt"), "w")
    try:
        if parts != ["basemap"]:
            database = Database(folder, log)
            children.append(database.child)
            if database.is_new:
                fill(database, arguments, folder, executable, log)
            absent = peers.absent_of_mapserver()
            if not absent:
                started, hosts["mapserver"] = start_mapserver(arguments, database, folder, log)
                children += started
            else:
                print(f"  {', '.join(absent)} not installed: MapServer is left out")
            if not peers.has_tipg(arguments.python):
                print("  tipg is not installed: left out")
            elif "cold" in parts:
                child, hosts["tipg"], _ = peers.start_tipg(arguments.python, arguments.clients, database, folder, log)
                children.append(child)
        if "cold" in parts:
            cold(arguments, executable, database, folder, log, hosts)
        if "warm" in parts:
            warm(arguments, executable, database, folder, log)
        if "images" in parts:
            images(arguments, executable, database, folder, log, hosts)
        if "basemap" in parts:
            basemap(arguments, executable, folder, log)
    finally:
        for child in reversed(children):
            child.stop()
        log.close()
        if not arguments.data:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
