"""Reads a secured service as QGIS does, with a token in its EsriToken authentication.

    qgis_secured.py BASE NAME    (the password comes on standard input)
"""
import json, os, sys, urllib.parse, urllib.request

os.environ["QT_QPA_PLATFORM"] = "offscreen"
from qgis.core import QgsApplication, QgsAuthMethodConfig, QgsFeatureRequest, QgsRasterLayer, QgsRectangle, QgsVectorLayer

base, name = sys.argv[1:3]
form = {"username": name, "password": sys.stdin.readline().rstrip("\n"), "client": "requestip", "f": "json"}
answer = urllib.request.urlopen(f"{base}/sharing/rest/generateToken", urllib.parse.urlencode(form).encode())
token = json.load(answer)["token"]

app = QgsApplication([], False)
app.initQgis()
manager = QgsApplication.authManager()
assert manager.setMasterPassword("only of this test", True)
config = QgsAuthMethodConfig("EsriToken")
config.setName("portal")
config.setConfig("token", token)
assert manager.storeAuthenticationConfig(config)[0]

url = f"{base}/rest/services/Trees/FeatureServer/0"
closed = QgsVectorLayer(f"crs='EPSG:4326' url='{url}'", "closed", "arcgisfeatureserver")
assert not closed.isValid(), "the layer opens without a token"

layer = QgsVectorLayer(f"crs='EPSG:4326' url='{url}' authcfg='{config.id()}'", "trees", "arcgisfeatureserver")
assert layer.isValid(), layer.error().message()
assert layer.featureCount() == 2, layer.featureCount()
names = sorted(feature["name"] for feature in layer.getFeatures())
assert names == ["One", "Two"], names
box = QgsFeatureRequest().setFilterRect(QgsRectangle(-122.505, 45.4, -122.4, 45.6))
assert [feature["name"] for feature in layer.getFeatures(box)] == ["One"]

place = f"crs='EPSG:3857' format='PNG32' layer='0' url='{base}/rest/services/Trees/MapServer' authcfg='{config.id()}'"
image = QgsRasterLayer(place, "map", "arcgismapserver")
assert image.isValid(), image.error().message()
print("read", *names)
sys.stdout.flush()
# The application's own end is not part of the test: it crashes with some versions of Qt when the program ends.
os._exit(0)
