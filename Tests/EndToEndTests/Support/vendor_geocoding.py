"""Searches for addresses as a person does who has the vendor's Python client. Each step says what went wrong; the program ends with how
many did.

    vendor_geocoding.py ADDRESS-OF-THE-SERVER

The server has no people and the locator Town, with the houses 12 and 14 of Oak Street in Alderton, Oregon.
"""

import sys
import traceback
import warnings

warnings.filterwarnings("ignore")

from arcgis.geocoding import Geocoder, batch_geocode, geocode, reverse_geocode, suggest
from arcgis.gis import GIS

address = sys.argv[1]
failures = 0


def step(name, body, expect):
    """Runs a step; `expect` says whether its result is right."""
    global failures
    try:
        result = body()
        if not expect(result):
            raise AssertionError(f"not as expected: {result!r}")
        return result
    except Exception as error:
        failures += 1
        print(f"{name}: {type(error).__name__}: {error}")
        traceback.print_exc(limit=-2)
        return None


gis = GIS(address)
town = Geocoder(f"{address}/rest/services/Town/GeocodeServer", gis)


def near(place, x, y):
    return abs(place["x"] - x) < 1e-6 and abs(place["y"] - y) < 1e-6


step(
    "geocode", lambda: geocode("12 oak street, alderton", geocoder=town),
    lambda found: found[0]["score"] == 100 and near(found[0]["location"], -122.5, 45.5)
    and found[0]["attributes"]["Addr_type"] == "PointAddress")
step(
    "geocode by parts", lambda: geocode({"Address": "14 Oak St", "City": "Alderton"}, geocoder=town, max_locations=1),
    lambda found: len(found) == 1 and found[0]["address"].startswith("14 Oak Street"))
step("geocode nothing", lambda: geocode("Zyxwvut 99", geocoder=town), lambda found: found == [])
step(
    "geocode as features", lambda: geocode("12 Oak Street", geocoder=town, as_featureset=True, out_sr=3857),
    lambda found: len(found.features) >= 1 and abs(found.features[0].geometry["x"] + 13636638) < 10)
step(
    "batch", lambda: batch_geocode(["14 Oak St, Alderton", "Zyxwvut 99", {"Address": "12 Oak St", "City": "Alderton"}], geocoder=town),
    lambda found: [one["score"] for one in found] == [100, 0, 100] and near(found[2]["location"], -122.5, 45.5))
step(
    "reverse", lambda: reverse_geocode([-122.50001, 45.5], geocoder=town, for_storage=True),
    lambda found: found["address"]["Address"] == "12 Oak Street" and found["address"]["City"] == "Alderton")
step(
    "suggest", lambda: suggest("14 oak", geocoder=town)["suggestions"],
    lambda found: found[0]["text"].startswith("14 Oak Street") and found[0]["magicKey"])
step(
    "geocode a suggestion",
    lambda: geocode("14 oak", geocoder=town, magic_key=suggest("14 oak", geocoder=town)["suggestions"][0]["magicKey"]),
    lambda found: found[0]["address"].startswith("14 Oak Street"))
sys.exit(min(failures, 100))
