#!/usr/bin/env python3
"""What areas of a whole map cost the server and a device: each figure beside another one of the same run.

    FIELDWORK_EXECUTABLE=.build/release/fieldwork python3 Benchmarks/areas.py [--features 100000] [--photos 1000] [--tiles 20000]

A portal with one web map of points with eight attributes, some of which have a photo of 100 KB, on a port of this machine:

- an area that is made for one crew, beside the time that its parts take alone: GDAL's copy of the same rows, curl of the same photos and
  tiles, of 5 KB each;
- the processor that the server spends for that crew, and for a crew that takes the prepared area;
- the same for the first and the second device that takes a package of changes over;
- a synchronisation of 100 edits: its time, which has the start of the command in it, and the bytes on the line both ways.

FIELDWORK_EXECUTABLE names the program to measure: a release build. Needed: the Debian packages gdal-bin and curl.
"""
import argparse
import gzip
import json
import math
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

PROGRAM = os.path.abspath(os.environ.get("FIELDWORK_EXECUTABLE", ".build/release/fieldwork"))
AREA = "-122.70,45.50,-122.60,45.60"


class Measure:
    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.server = None

    def run(self, *arguments, user="ana", entry=""):
        """Runs a verb as somebody whose sign-ins are no other's."""
        environment = dict(os.environ, XDG_DATA_HOME=str(self.folder / f"home-{user}"), DBUS_SESSION_BUS_ADDRESS="")
        done = subprocess.run([PROGRAM, *arguments], input=entry, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"fieldwork {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def start(self):
        self.server = subprocess.Popen(
            [PROGRAM, "serve", "--data", str(self.data), "--port", "0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        address = self.server.stdout.readline().split()[-1]
        self.portal = address.replace("/rest/services", "")
        for user in ["ana", "ben"]:
            self.run("sign-in", self.portal, "--user", user, user=user, entry="correct horse\n")

    def processor(self):
        """Seconds of the processor that the server has spent."""
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def timed(self, body):
        """Seconds by the clock, and of the server's processor."""
        spent, began = self.processor(), time.monotonic()
        body()
        return time.monotonic() - began, self.processor() - spent

    def token(self):
        form = urllib.parse.urlencode({
            "username": "ana", "password": "correct horse", "client": "requestip", "f": "json"}).encode()
        with urllib.request.urlopen(f"{self.portal}/sharing/rest/generateToken", form) as answer:
            return json.load(answer)["token"]


def make_points(path, count):
    chance = random.Random(7)
    with open(path, "w") as file:
        file.write("name,kind,height,diameter,year,crew,state,note,x,y\n")
        for index in range(count):
            x, y = chance.uniform(-122.70, -122.60), chance.uniform(45.50, 45.60)
            file.write(
                f"Tree {index},kind {index % 40},{index % 300 / 10},{index % 120},{1900 + index % 120},"
                f"{index % 9},ok,note of tree {index},{x:.7f},{y:.7f}\n")


def tiles_of_area(count):
    """Addresses of tiles of the area: level, row, column, the coarse ones first."""
    west, south, east, north = map(float, AREA.split(","))

    def row(latitude, level):
        angle = math.radians(latitude)
        return int((1 - math.asinh(math.tan(angle)) / math.pi) / 2 * 2**level)

    found = []
    for level in range(23):
        columns = [int((longitude + 180) / 360 * 2**level) for longitude in (west, east)]
        for y in range(row(north, level), row(south, level) + 1):
            found += [(level, y, x) for x in range(columns[0], columns[1] + 1)]
        if len(found) >= count:
            return found[:count]
    return found


def make_basemap(path, tiles):
    """Vector tiles that can't be made smaller; nobody draws them."""
    chance = random.Random(11)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
    database.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
    database.execute("CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
    layers = {"vector_layers": [{"id": "streets", "fields": {}}]}
    database.executemany("INSERT INTO metadata VALUES (?, ?)", {
        "name": "City", "format": "pbf", "bounds": AREA, "minzoom": str(tiles[0][0]), "maxzoom": str(tiles[-1][0]),
        "json": json.dumps(layers)}.items())
    database.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", (
        (level, column, 2**level - 1 - row, gzip.compress(chance.randbytes(5_000), 1)) for level, row, column in tiles))
    database.commit()
    database.close()


def add_photos(measure, count, token):
    """A photo for each of the first features; what is in them can't be compressed."""
    bytes_ = random.Random(3).randbytes(100_000)
    service = f"{measure.portal}/rest/services/Trees/FeatureServer/0"
    for feature in range(1, count + 1):
        boundary = "----photo"
        body = b"".join([
            f"--{boundary}\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\njson\r\n".encode(),
            f"--{boundary}\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{token}\r\n".encode(),
            (f"--{boundary}\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"{feature}.jpg\"\r\n"
             "Content-Type: image/jpeg\r\n\r\n").encode(), b"\xff\xd8\xff\xe0" + feature.to_bytes(4, "big") + bytes_,
            f"\r\n--{boundary}--\r\n".encode()])
        request = urllib.request.Request(
            f"{service}/{feature}/addAttachment", body,
            {"Content-Type": f"multipart/form-data; boundary={boundary}"})
        with urllib.request.urlopen(request) as answer:
            done = json.load(answer)
            if not done.get("addAttachmentResult", {}).get("success"):
                raise SystemExit(f"addAttachment: {done}")


def served(measure, token):
    """How many of the edits the server has."""
    asked = urllib.parse.urlencode({
        "where": "note LIKE '% seen'", "returnCountOnly": "true", "f": "json", "token": token})
    with urllib.request.urlopen(f"{measure.portal}/rest/services/Trees/FeatureServer/0/query?{asked}") as answer:
        return json.load(answer)["count"]


def loopback_bytes():
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split(":")[1].split()[0])
    return 0


def parts_alone(measure, package, photos, tiles, token):
    """The copy of the same rows, and of the same photos and tiles."""
    rows = measure.folder / "rows.gpkg"
    began = time.monotonic()
    subprocess.run(["ogr2ogr", "-f", "GPKG", str(rows), str(package / "data.gpkg"), "Trees"], check=True)
    copied = time.monotonic() - began
    service = f"{measure.portal}/rest/services/Trees/FeatureServer/0"
    asked = measure.folder / "photos.txt"
    folder = measure.folder / "photos"
    folder.mkdir()
    asked.write_text("".join(
        f'url = "{service}/{feature}/attachments/{feature}?token={token}"\noutput = "{folder}/{feature}.jpg"\n'
        for feature in range(1, photos + 1)))
    with open(asked, "a") as file:
        for level, row, column in tiles:
            file.write(f'url = "{measure.portal}/rest/services/City/VectorTileServer/tile/{level}/{row}/{column}.pbf"\n'
                       f'output = "{folder}/{level}-{row}-{column}.pbf"\n')
    began = time.monotonic()
    if photos or tiles:
        subprocess.run(["curl", "--silent", "--fail", "--config", str(asked)], check=True)
    return copied, time.monotonic() - began


def edit(package, count):
    """What another program changes in the file."""
    file = str(package / "data.gpkg")
    subprocess.run(
        ["ogr2ogr", "-update", "-sql", f"UPDATE Trees SET note = note || ' seen' WHERE name IN (SELECT name FROM Trees LIMIT {count})",
         file, file], check=True, stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("--photos", type=int, default=1_000)
    parser.add_argument("--tiles", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fieldwork-areas-"))
    measure = Measure(folder)
    try:
        for name, role in [("ana", "administrator"), ("ben", "editor")]:
            measure.run("users", "add", name, "--role", role, "--data", str(measure.data), entry="correct horse\n")
        make_points(folder / "trees.csv", chosen.features)
        measure.run(
            "publish", str(folder / "trees.csv"), "--service", "Trees", "--x", "x", "--y", "y", "--sync", "--data",
            str(measure.data))
        measure.run(
            "service", "edit", "Trees", "--merge", "--data", str(measure.data),
            entry='{"layers":[{"id":0,"hasAttachments":true}]}')
        tiles = tiles_of_area(chosen.tiles) if chosen.tiles else []
        if tiles:
            make_basemap(folder / "city.mbtiles", tiles)
            measure.run("basemap", "add", str(folder / "city.mbtiles"), "--name", "City", "--data", str(measure.data))
        measure.start()
        basemap = ["--basemap", f"{measure.portal}/rest/services/City/VectorTileServer"] if tiles else []
        service = f"{measure.portal}/rest/services/Trees/FeatureServer"
        document = folder / "trees.webmap.json"
        document.write_text(json.dumps({
            "operationalLayers": [{"id": "t", "title": "Trees", "url": f"{service}/0"}], "version": "2.31"}))
        measure.run("items", "add", str(document), "--title", "Town", "--owner", "ana", "--data", str(measure.data))
        measure.run("share", "Town", "--organisation", "--data", str(measure.data))
        token = measure.token()
        add_photos(measure, chosen.photos, token)
        to = ["--to", measure.portal]
        print(f"{chosen.features} features, {chosen.photos} photos of 100 KB, {len(tiles)} tiles; seconds by the clock, of the server's "
              "processor")
        for number in range(chosen.rounds):
            own = folder / f"own-{number}"
            alone = measure.timed(lambda: measure.run(
                "offline", "create", service, "--area", AREA, *basemap, "--out", str(own), user="ben"))
            rows, files = parts_alone(measure, own, chosen.photos, tiles, token)
            shutil.rmtree(folder / "photos")
            (folder / "rows.gpkg").unlink()
            print(f"an area for one crew: {alone[0]:.2f} s, {alone[1]:.2f} s; its rows by ogr2ogr {rows:.2f} s and its "
                  f"photos and tiles by curl {files:.2f} s: {alone[0] / (rows + files):.2f} times both; "
                  f"{sum(file.stat().st_size for file in own.rglob('*')) / 1e6:.0f} MB")
            title = f"Area {number}"
            made = measure.timed(lambda: measure.run(
                "areas", "create", "Town", "--area", AREA, "--title", title, *to))
            crews = [measure.timed(lambda: measure.run(
                "areas", "download", title, "--out", str(folder / f"crew-{number}-{crew}"), *to, user="ben"))
                for crew in range(2)]
            print(f"prepared for all: {made[0]:.2f} s, {made[1]:.2f} s; a crew that takes it: "
                  + ", ".join(f"{wall:.2f} s, {spent:.3f} s ({100 * spent / alone[1]:.1f} %)" for wall, spent in crews))
            devices = [folder / f"look-{number}-{device}" for device in range(2)]
            for device in devices:
                measure.run("areas", "download", title, "--out", str(device), "--scheduled-updates", *to, user="ben")
            measure.run(
                "calculate", f"{service}/0", "height", f"{number} + 1", "--where", "OBJECTID <= 5000")
            measure.run("areas", "update", title, *to)
            taken = [measure.timed(lambda: measure.run("offline", "update", str(device), user="ben"))
                     for device in devices]
            print("5,000 changes as a package: " + ", ".join(f"{wall:.2f} s, {spent:.3f} s" for wall, spent in taken))
            crew = folder / f"crew-{number}-0"
            measure.run("offline", "update", str(crew), user="ben")
            edit(crew, 100)
            sent = loopback_bytes()
            synced = measure.timed(lambda: measure.run("offline", "update", str(crew), user="ben"))
            if served(measure, token) < 100:
                raise SystemExit("the 100 edits are not at the server")
            print(f"100 edits: {1_000 * synced[0]:.0f} ms, {(loopback_bytes() - sent) / 1_024:.1f} KB on the line")
    finally:
        if measure.server is not None:
            measure.server.send_signal(signal.SIGINT)
            measure.server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
