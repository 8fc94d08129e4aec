"""Works with a portal as a person does who has the vendor's Python client: signs in, makes people, groups and maps, shares them,
reads, edits and takes replicas of a secured service. Each step says what went wrong; the program ends with how many did.

    vendor_portal.py PORTAL-ADDRESS FOLDER

The portal has the administrator ana, the viewer vic and the editor edi, and the service Trees with two features.
"""

import json
import os
import sys
import traceback
import warnings

warnings.filterwarnings("ignore")

from arcgis.features import FeatureLayer, FeatureLayerCollection
from arcgis.gis import GIS

address, folder = sys.argv[1:3]
failures = 0


def step(name, body, expect=None):
    """Runs a step; `expect` says whether its result is right. A step without one has only to come through."""
    global failures
    try:
        result = body()
        if expect is not None and not expect(result):
            raise AssertionError(f"not as expected: {result!r}")
        return result
    except Exception as error:
        failures += 1
        print(f"{name}: {type(error).__name__}: {error}")
        traceback.print_exc(limit=-2)
        return None


def refused(name, body):
    global failures
    try:
        result = body()
    except Exception:
        return
    failures += 1
    print(f"{name}: was not refused: {result!r}")


ana = GIS(address, "ana", "correct horse 1")
step("who am I", lambda: ana.users.me.username, lambda name: name == "ana")
item = step(
    "search", lambda: [i for i in ana.content.search("Trees") if "Feature" in i.type][0], lambda i: i.owner == "ana")
layer = item.layers[0]
step("query", lambda: len(layer.query().features), lambda count: count == 2)
step("data frame", lambda: len(layer.query(as_df=True)), lambda count: count == 2)
point = {"x": -122.4, "y": 45.4, "spatialReference": {"wkid": 4326}}
step(
    "edit", lambda: layer.edit_features(adds=[{"attributes": {"name": "New"}, "geometry": point}]),
    lambda answer: answer["addResults"][0]["success"])

# People and groups.
step("users", lambda: sorted(u.username for u in ana.users.search()), lambda names: names == ["ana", "edi", "vic"])
step("make a user", lambda: ana.users.create("bob", "correct horse 4", "Bob", "B", "bob@example.org", role="org_user"))
step("read a user", lambda: ana.users.get("bob").fullName, lambda name: name == "Bob B")
step("change a user", lambda: ana.users.get("bob").update(description="x"), bool)
step("give a role", lambda: ana.users.get("bob").update_role("org_publisher"), bool)
group = step("make a group", lambda: ana.groups.create("Crew", "field", description="d"))
step("add members", lambda: group.add_users(["bob", "vic"]), lambda answer: answer == {"notAdded": []})
step("members", lambda: sorted(group.get_members()["users"]), lambda names: names == ["bob", "vic"])
step("find a group", lambda: [g.title for g in ana.groups.search("Crew")], lambda titles: titles == ["Crew"])

# Maps and other items.
webmap = json.dumps({
    "operationalLayers": [
        {"id": "a", "title": "Trees", "url": item.url + "/0", "layerType": "ArcGISFeatureLayer"}],
    "baseMap": {"baseMapLayers": [], "title": "none"}, "spatialReference": {"wkid": 102100}, "version": "2.31"})
root = ana.content.folders.get()
made = step("add a map", lambda: root.add({"title": "My map", "type": "Web Map", "tags": ["a"], "text": webmap}).result())
step("read its data", lambda: made.get_data()["version"], lambda version: version == "2.31")
step("change it", lambda: made.update({"snippet": "s"}), bool)
step("share it", lambda: made.share(groups=[group.id]), lambda answer: answer["notSharedWith"] == [])
step("the group's content", lambda: [i.title for i in group.content()], lambda titles: titles == ["My map"])
step("make a folder", lambda: ana.content.folders.create("Work"))
step("move it", lambda: made.move("Work"), lambda answer: answer["success"])
resource = os.path.join(folder, "note.csv")
with open(resource, "w") as file:
    file.write("a,b\n1,2\n")
step("add a resource", lambda: made.resources.add(file=resource, file_name="n.csv"))
step("resources", lambda: [r["resource"] for r in made.resources.list()], lambda names: names == ["n.csv"])
large = os.path.join(folder, "large.csv")
with open(large, "w") as file:
    file.write("a,b\n" + "1,2\n" * 3_000_000)
table = step(
    "add a large file", lambda: root.add({"title": "large", "type": "CSV", "tags": ["c"]}, file=large).result())
step(
    "read it back", lambda: os.path.getsize(table.get_data()),
    lambda size: size == os.path.getsize(large))
step("protect", lambda: made.protect(True))
refused("delete what is protected", made.delete)
step("unprotect", lambda: made.protect(False))
picture = os.path.join(folder, "picture.png")
with open(picture, "wb") as file:
    file.write(bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"))
step("give it a picture", lambda: made.update(thumbnail=picture), bool)
step("the picture", lambda: made.get_thumbnail()[:4], lambda start: start == b"\x89PNG")
step("relate it", lambda: made.add_relationship(item, "Map2Service"), bool)
step("related", lambda: [i.id for i in made.related_items("Map2Service")], lambda ids: ids == [item.id])
step(
    "related the other way", lambda: [i.id for i in item.related_items("Map2Service", "reverse")],
    lambda ids: ids == [made.id])
step("unrelate it", lambda: made.delete_relationship(item, "Map2Service"), bool)
step("related no more", lambda: made.related_items("Map2Service"), lambda items: items == [])
with open(resource, "w") as file:
    file.write("a,b\n3,4\n")
step("change a resource", lambda: made.resources.update(file=resource, file_name="n.csv"))
step(
    "read a resource", lambda: open(made.resources.get("n.csv", try_json=False)).read(), lambda text: "3,4" in text)
step("remove a resource", lambda: made.resources.remove("n.csv"), bool)
step("resources are gone", lambda: made.resources.list(), lambda found: found == [])
step("delete", made.delete, bool)

# Services of files, and files of services.
table = os.path.join(folder, "more.csv")
with open(table, "w") as file:
    file.write("name,height,lon,lat\nOne,3.5,-122.5,45.5\nTwo,4,-122.51,45.51\n")
data = step("add a table", lambda: root.add({"title": "More trees", "type": "CSV", "tags": ["t"]}, file=table).result())
service = step("publish it", lambda: data.publish(), lambda made: made.type == "Feature Service")
step("query it", lambda: len(service.layers[0].query().features), lambda count: count == 2)
step("its file", lambda: [i.id for i in service.related_items("Service2Data")], lambda ids: ids == [data.id])
copies = {}
for form in ["CSV", "GeoJson", "GeoPackage"]:
    copies[form] = step(
        f"export {form}", lambda: service.export(f"Copy {form}", form),
        lambda copy: copy.type == form and ana.content.get(copy.id).size > 50)
for form in ["GeoJson", "GeoPackage"]:
    again = step(f"publish {form}", lambda: copies[form].publish(), lambda made: made.type == "Feature Service")
    step(f"query {form}", lambda: len(again.layers[0].query().features), lambda count: count == 2)
empty = step("make a service", lambda: ana.content.create_service("Empty", service_type="featureService"))
step("find it", lambda: ana.content.get(empty.id).type, lambda kind: kind == "Feature Service")
refused("publish under a name that is taken", lambda: data.publish({"name": "More_trees"}))

# A secured service offline.
collection = FeatureLayerCollection.fromitem(item)
step("no replicas yet", lambda: collection.replicas.get_list(), lambda found: found == [])
for model, form in [("perLayer", "sqlite"), ("perReplica", "json")]:
    step(
        f"replica {model}",
        lambda: collection.replicas.create(
            replica_name=model, layers="0", data_format=form, asynchronous=False, sync_model=model, wait=True),
        lambda answer: answer["replicaID"])
step(
    "changes", lambda: collection.extract_changes(layers=[0], servergen=[1], return_inserts=True),
    lambda answer: len(answer["edits"][0]["features"]["adds"]) == 1)

# A view of the service: its own item, without a field, with the features of a condition.
view = step(
    "make a view",
    lambda: collection.manager.create_view(
        name="Oaks", capabilities="Query", visible_fields=["name"], query="species = 'Oak'"),
    lambda made: made.id != item.id)
# The client keeps what it read of the layer before it set the fields.
view = ana.content.get(view.id) if view else None
step("a view's keywords", lambda: "View Service" in view.typeKeywords, bool)
step(
    "a view's fields", lambda: [f["name"] for f in view.layers[0].properties.fields],
    lambda names: "name" in names and "species" not in names)
step("a view's features", lambda: [f.attributes["name"] for f in view.layers[0].query()], lambda names: names == ["One"])
refused("a hidden field", lambda: view.layers[0].query(where="species = 'Elm'"))
step(
    "change a view", lambda: view.layers[0].manager.update_definition({"viewDefinitionQuery": "species = 'Elm'"}),
    lambda answer: answer["success"])
step("the other features", lambda: [f.attributes["name"] for f in view.layers[0].query()], lambda names: names == ["Two"])
step("remove a view", view.delete, bool)
step("its source is there", lambda: len(layer.query().features), lambda count: count == 3)

# Others, and nobody.
vic = GIS(address, "vic", "correct horse 2")
seen = FeatureLayer(item.url + "/0", vic)
step("a viewer reads", lambda: len(seen.query().features), lambda count: count == 3)
refused("a viewer edits", lambda: seen.edit_features(adds=[{"attributes": {"name": "Bad"}}]))
nobody = GIS(address)
step("nobody finds it", lambda: nobody.content.search("Trees"), lambda found: found == [])
refused("nobody reads it", lambda: FeatureLayer(item.url + "/0", nobody).query())
step(
    "sign in to an application",
    lambda: GIS(address, "edi", "correct horse 3", client_id="pythonapi").users.me.username,
    lambda name: name == "edi")
step("roles", lambda: len(ana.users.roles.all()), lambda count: count >= 2)
step("remove a user", lambda: ana.users.get("bob").delete(), bool)
step("remove a group", lambda: group.delete(), bool)
sys.exit(min(failures, 100))
