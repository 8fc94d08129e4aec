#!/usr/bin/env python3
"""Makes the demo's map of the world: countries and cities of Natural Earth (public domain) as one GeoJSON file.

usage: world-map.py FOLDER-WITH-THE-SHAPEFILES OUT.geojson
"""
import json
import pathlib
import struct
import sys


def rows(path):
    """The rows of a dBASE table."""
    data = path.read_bytes()
    count, start, size = struct.unpack_from("<IHH", data, 4)
    fields, place = [], 32
    while data[place] != 0x0D:
        name = data[place:place + 11].split(b"\0")[0].decode()
        fields.append((name, data[place + 16]))
        place += 32
    for index in range(count):
        at, row = start + index * size + 1, {}
        for name, length in fields:
            row[name] = data[at:at + length].decode("utf-8", "replace").strip("\0 ")
            at += length
        yield row


def shapes(path):
    """The rings of polygons, or a place."""
    data, place = path.read_bytes(), 100
    while place < len(data):
        words = struct.unpack_from(">I", data, place + 4)[0]
        body = data[place + 8:place + 8 + 2 * words]
        place += 8 + 2 * words
        kind = struct.unpack_from("<I", body)[0]
        if kind == 1:
            yield struct.unpack_from("<dd", body, 4)
            continue
        parts, points = struct.unpack_from("<II", body, 36) if kind == 5 else (0, 0)
        starts = list(struct.unpack_from(f"<{parts}I", body, 44)) + [points]
        numbers = struct.unpack_from(f"<{2 * points}d", body, 44 + 4 * parts)
        places = list(zip(numbers[::2], numbers[1::2]))
        yield [places[a:b] for a, b in zip(starts, starts[1:])]


def area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:])) / 2


def middle(ring):
    sums = [0.0, 0.0, 0.0]
    for a, b in zip(ring, ring[1:]):
        cross = a[0] * b[1] - b[0] * a[1]
        sums = [sums[0] + (a[0] + b[0]) * cross, sums[1] + (a[1] + b[1]) * cross, sums[2] + 3 * cross]
    return [sums[0] / sums[2], sums[1] / sums[2]]


def feature(layer, geometry, **properties):
    return {"type": "Feature", "properties": {"layer": layer, **properties}, "geometry": geometry}


def main(folder, target):
    features, sides = [], {}
    countries = folder / "naturalearth_lowres" / "naturalearth_lowres"
    for row, rings in zip(rows(countries.with_suffix(".dbf")), shapes(countries.with_suffix(".shp"))):
        polygons = []
        for ring in rings:
            # Shells run clockwise in a shapefile, holes the other way.
            if area(ring) < 0 or not polygons:
                polygons.append([ring])
            else:
                polygons[-1].append(ring)
            for a, b in zip(ring, ring[1:]):
                sides.setdefault(tuple(sorted((a, b))), []).append(1)
        features.append(feature("earth", {"type": "MultiPolygon", "coordinates": polygons}))
        largest = max((polygon[0] for polygon in polygons), key=lambda ring: abs(area(ring)))
        features.append(feature(
            "place", {"type": "Point", "coordinates": middle(largest)}, name=row["name"], kind="country",
            level=1 if abs(area(largest)) > 300 else 3))
    # Only what two countries share is a border; the rest is coast.
    lines = [list(side) for side, uses in sides.items() if len(uses) > 1]
    features.append(feature("boundary", {"type": "MultiLineString", "coordinates": lines}))
    cities = folder / "naturalearth_cities" / "naturalearth_cities"
    for row, place in zip(rows(cities.with_suffix(".dbf")), shapes(cities.with_suffix(".shp"))):
        features.append(feature(
            "place", {"type": "Point", "coordinates": list(place)}, name=row["name"], kind="city", level=4))
    target.write_text(json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False))


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
