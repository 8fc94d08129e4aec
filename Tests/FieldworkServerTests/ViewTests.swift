import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// A view shows some fields and some features of a service. No operation leads around it.
@Suite("Views of services", .fewAtATime, .everyStore)
struct ViewTests {
    private static let geometry = #"{"xmin":-1000,"ymin":-1000,"xmax":1000,"ymax":1000}"#

    @Test("A view has the layers, fields and capabilities that it shows, and says nothing of the others")
    func definition() async throws {
        try await ViewService.serve { view, service, _, _ in
            let layer = try await view.get("0", ["f": "json"]).json
            let names = layer["fields"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
            #expect(names == ["OBJECTID", "GlobalID", "Name", "Condition", "Stems"])
            #expect(layer["isView"] == true)
            #expect(layer["extent"]?["xmax"] == 200, "of what is shown")
            for path in ["", "layers", "0", "1", "0/metadata", "relationships"] {
                let text = try await view.get(path, ["f": "json"]).text
                #expect(!text.contains("Species") && !text.contains("Keeper"), "\(path): \(text.prefix(300))")
                #expect(!text.contains("secret"), "\(path): \(text.prefix(300))")
            }
            let catalogue = try await view.get("/arcgis/rest/services", ["f": "json"]).text
            #expect(catalogue.contains("\"Oaks\"") && catalogue.contains("\"Wood\""))
            #expect(try await service.get("0", ["f": "json"]).text.contains("Species"), "the service has it all")
        }
    }

    /// Requests that might tell of what is hidden or outside.
    private static let reads: [(String, KeyValuePairs<String, String>)] = [
        ("0/query", ["where": "1=1", "outFields": "*"]),
        ("0/query", ["where": "1=1", "outFields": "*", "f": "geojson"]),
        ("0/query", ["where": "1=1", "outFields": "*", "f": "pbf"]),
        ("0/query", ["objectIds": "1,2,3", "outFields": "*"]),
        ("0/query", ["geometry": geometry, "geometryType": "esriGeometryEnvelope", "outFields": "*"]),
        ("0/query", ["where": "Name = 'x' OR 1=1", "outFields": "*", "orderByFields": "Name"]),
        ("0/query", ["where": "1=1", "outFields": "*", "historicMoment": "4102444800000"]),
        ("0/query", ["where": "1=1", "outFields": "Name", "returnDistinctValues": "true", "returnGeometry": "false"]),
        (
            "0/query",
            [
                "where": "1=1", "groupByFieldsForStatistics": "Name",
                "outStatistics": #"[{"statisticType":"max","onStatisticField":"Name","outStatisticFieldName":"m"}]"#,
            ]
        ),
        ("0/2", [:]), ("0/1", [:]), ("0/1/history", [:]), ("0/2/history", [:]),
        (
            "0/queryTopFeatures",
            [
                "topFilter": #"{"groupByFields":"Condition","topCount":5,"orderByFields":"Name DESC"}"#,
                "outFields": "*",
            ]
        ),
        ("0/queryRelatedRecords", ["objectIds": "1,2,3", "relationshipId": "0", "outFields": "*"]),
        ("1/queryRelatedRecords", ["objectIds": "1,2,3", "relationshipId": "0", "outFields": "*"]),
        ("1/query", ["where": "1=1", "outFields": "*"]),
        ("query", ["layerDefs": #"{"0":"1=1","1":"1=1"}"#, "outFields": "*"]),
        ("0/queryAttachments", ["definitionExpression": "1=1", "returnMetadata": "true"]),
        ("0/queryAttachments", ["objectIds": "1,2,3"]), ("0/2/attachments", [:]), ("0/2/attachments/2", [:]),
        (
            "extractChanges",
            ["layers": "[0,1]", "layerServerGens": #"[{"id":0,"serverGen":0},{"id":1,"serverGen":0}]"#]
        ),
        ("conflicts", [:]), ("replicas", [:]),
        (
            "../MapServer/identify",
            [
                "geometry": "100,0", "geometryType": "esriGeometryPoint", "mapExtent": "-500,-500,500,500",
                "imageDisplay": "100,100,96", "tolerance": "50", "layers": "all", "sr": "102100",
            ]
        ),
        ("../MapServer/find", ["searchText": "secret", "layers": "0,1", "contains": "true"]),
        ("../MapServer/legend", [:]), ("../MapServer/0", [:]), ("../MapServer/layers", [:]),
        ("../VectorTileServer/tile/0/0/0.pbf", [:]), ("../VectorTileServer/resources/styles/root.json", [:]),
        ("../VectorTileServer/xyz/0/0/0", [:]), ("../VectorTileServer/resources/styles/maplibre.json", [:]),
        ("../VectorTileServer/ogc/tiles/WebMercatorQuad/0/0/0", [:]), ("../VectorTileServer/ogc/tiles", [:]),
        ("../MapServer/ogc/collections", [:]), ("../MapServer/ogc/collections/0", [:]), ("../MapServer/ogc/api", [:]),
        ("../MapServer/0/query", ["where": "1=1", "outFields": "*"]), ("../MapServer/0/2", [:]),
        ("../MapServer/0/1", [:]),
        ("../MapServer/1/queryRelatedRecords", ["objectIds": "1,2,3", "relationshipId": "0"]),
        ("layers", [:]), ("relationships", [:]), ("queryDomains", ["layers": "[0,1]"]), ("0/fieldGroups", [:]),
        ("0/contingentValues", [:]), ("queryContingentValues", ["layers": "[0,1]"]),
        (
            "../../wms",
            [
                "service": "WMS", "version": "1.3.0", "request": "GetFeatureInfo", "layers": "0", "query_layers": "0",
                "crs": "EPSG:3857", "bbox": "-100,-50,100,50", "width": "200", "height": "100", "i": "199", "j": "49",
                "info_format": "text/plain", "feature_count": "9",
            ]
        ),
        ("../../wms", ["service": "WMS", "request": "GetCapabilities"]),
    ]

    /// Other faces of a service than its features are addressed from the root.
    private static func address(_ path: String, _ service: String) -> String {
        if path == "../../wms" { return "/arcgis/services/\(service)/MapServer/WMSServer" }
        return path.hasPrefix("../") ? "/arcgis/rest/services/\(service)/\(path.dropFirst(3))" : path
    }

    /// What an answer says; tiles are compressed.
    private static func told(_ answer: TestClient.Answer) throws -> String {
        guard answer.header("Content-Encoding") == "gzip" else { return answer.text }
        return String(decoding: try GzipReader.expanded(answer.body, maximum: 10_000_000), as: UTF8.self)
    }

    @Test(
        "No read through a view tells what it hides: neither values of hidden fields nor features outside of its condition"
    )
    func reads() async throws {
        try await ViewService.serve { view, service, _, store in
            // History has something to tell.
            for (id, name) in [(1, "Tree 0"), (2, "secret again")] {
                let edit = FeatureEdit(
                    objectID: Int64(id), attributes: [("Name", .text(name)), ("Keeper", .text("secret second"))])
                let batch = EditBatch(layers: [LayerEdits(layerID: 0, updates: [edit])], moment: Date.now)
                #expect(try await !store.apply(batch, to: ViewService.name).hasErrors)
            }
            for (path, parameters) in Self.reads {
                let format = parameters.contains { $0.key == "f" } ? "" : "f=json&"
                let query = "\(Self.address(path, "Oaks"))?\(format)\(TestClient.form(parameters))"
                let answer = try await view.get(query)
                let told = try Self.told(answer)
                #expect(!told.contains("secret"), "\(query): \(told.prefix(400))")
                #expect(!told.contains("Species") && !told.contains("77.25"), "\(query): \(told.prefix(400))")
            }
            // The same requests do tell it of the service itself, but for those that never tell a value.
            var telling = 0
            for (path, parameters) in Self.reads {
                let format = parameters.contains { $0.key == "f" } ? "" : "f=json&"
                let query = "\(Self.address(path, "Wood"))?\(format)\(TestClient.form(parameters))"
                let answer = try await service.get(query)
                if try Self.told(answer).contains("secret") { telling += 1 }
            }
            #expect(telling >= 25, "\(telling)")
            for (path, expected) in [
                ("0/query?where=1%3D1&returnCountOnly=true&f=json", #"{"count":2}"#),
                ("1/query?where=1%3D1&returnCountOnly=true&f=json", #"{"count":2}"#),
            ] {
                #expect(try await view.get(path).text.contains(expected))
            }
            let ids = try await view.get("0/query", ["where": "1=1", "returnIdsOnly": "true", "f": "json"]).json
            #expect(ids["objectIds"]?.arrayValue?.compactMap(\.integerValue) == [1, 3])
            let extent = try await view.get("0/query", ["where": "1=1", "returnExtentOnly": "true", "f": "json"]).json
            #expect(extent["extent"]?["xmax"] == 200)
            let related = try await view.get(
                "0/queryRelatedRecords", ["objectIds": "1,2,3", "relationshipId": "0", "outFields": "*", "f": "json"])
            #expect(try related.json["relatedRecordGroups"]?.arrayValue?.count == 2)
        }
    }

    @Test("A hidden field can't be asked for, searched, sorted by, grouped by, counted or calculated with")
    func hiddenFields() async throws {
        try await ViewService.serve { view, _, _, _ in
            let statistics = #"[{"statisticType":"max","onStatisticField":"Height","outStatisticFieldName":"m"}]"#
            for parameters in [
                ["where": "Height > 1"], ["where": "Species LIKE 'secret%'"], ["where": "CHAR_LENGTH(Keeper) > 3"],
                ["where": "1=1", "outFields": "Height"], ["where": "1=1", "orderByFields": "Height"],
                ["where": "1=1", "outStatistics": statistics],
                [
                    "where": "1=1", "groupByFieldsForStatistics": "Species",
                    "outStatistics": statistics.replacing("Height", with: "Stems"),
                ],
                ["where": "1=1", "outFields": "Species", "returnDistinctValues": "true"],
            ] as [KeyValuePairs<String, String>] {
                let answer = try await view.get("0/query?f=json&\(TestClient.form(parameters))")
                #expect(answer.errorCode == 400, "\(parameters): \(answer.text.prefix(200))")
            }
            for expression in [
                #"[{"field":"Keeper","value":"mine"}]"#, #"[{"field":"Name","sqlExpression":"Species"}]"#,
            ] {
                let answer = try await view.post(
                    "0/calculate", ["f": "json", "where": "1=1", "calcExpression": expression])
                #expect(answer.errorCode != nil || !answer.text.contains(#""success":true"#), "\(answer.text)")
            }
            let dynamic = try await view.get(
                Self.address("../MapServer/export", "Oaks"),
                ["f": "json", "bbox": "-500,-500,500,500", "layerDefs": #"{"0":"Height > 1"}"#])
            #expect(dynamic.errorCode == 400, "\(dynamic.text)")
        }
    }

    // MARK: Edits

    private static func succeeded(_ answer: TestClient.Answer, _ list: String) throws -> [Bool] {
        try answer.json[list]?.arrayValue?.map { $0["success"] == true } ?? []
    }

    private static func names(_ client: TestClient, _ condition: String = "1=1") async throws -> [String] {
        let answer = try await client.get("0/query", ["where": condition, "outFields": "Name,OBJECTID", "f": "json"])
        return try answer.json["features"]?.names ?? []
    }

    @Test("Edits through a view reach what it shows, and nothing else")
    func edits() async throws {
        try await ViewService.serve { view, service, _, _ in
            let update =
                #"[{"attributes":{"OBJECTID":1,"Name":"mine","Keeper":"me"}},"#
                + #"{"attributes":{"OBJECTID":2,"Name":"mine"}}]"#
            let updated = try await view.post(
                "0/updateFeatures", ["f": "json", "features": update, "rollbackOnFailure": "false"])
            #expect(try Self.succeeded(updated, "updateResults") == [true, false], "\(updated.text)")
            let byGlobalID = try await view.post(
                "0/applyEdits",
                [
                    "f": "json", "useGlobalIds": "true", "rollbackOnFailure": "false",
                    "updates":
                        #"[{"attributes":{"GlobalID":"\#(GUID.normalForm(ViewService.trees[1]))","Name":"mine"}}]"#,
                    "deletes": #"["\#(GUID.normalForm(ViewService.trees[1]))"]"#,
                ])
            #expect(try Self.succeeded(byGlobalID, "updateResults") == [false], "\(byGlobalID.text)")
            #expect(try Self.succeeded(byGlobalID, "deleteResults") == [false], "\(byGlobalID.text)")
            let keepers = try await service.get(
                "0/query", ["where": "Keeper = 'me'", "returnCountOnly": "true", "f": "json"])
            #expect(try keepers.json["count"] == 0, "a hidden field is not written")
            #expect(try await Self.names(service) == ["mine", "secret tree", "Tree 2"])
            let calculated = try await view.post(
                "0/calculate",
                ["f": "json", "where": "1=1", "calcExpression": #"[{"field":"Stems","value":9}]"#])
            #expect(calculated.errorCode == nil, "\(calculated.text)")
            #expect(try await Self.names(service, "Stems = 9") == ["mine", "Tree 2"])
            let photo = try await view.post(
                "0/deleteAttachments", ["f": "json", "attachmentIds": "2", "objectId": "2"])
            #expect(!photo.text.contains(#""success":true"#), "\(photo.text)")
            let photoOfAnother = try await view.post(
                "applyEdits",
                [
                    "f": "json",
                    "edits": #"[{"id":0,"attachments":{"deletes":[2]}}]"#, "rollbackOnFailure": "false",
                ])
            #expect(!photoOfAnother.text.contains(#""success":true"#), "\(photoOfAnother.text)")
            let deleted = try await view.post("0/deleteFeatures", ["f": "json", "where": "1=1"])
            #expect(deleted.errorCode == nil, "\(deleted.text)")
            #expect(try await Self.names(service) == ["secret tree"], "the other features are not in reach")
        }
    }

    @Test("An edit that makes a feature leave the view is saved, with its photo, and the view shows it no more")
    func leaving() async throws {
        try await ViewService.serve { view, service, _, _ in
            let photo = """
                {"globalId":"\(GUID.normalForm(UUID()))","parentGlobalId":"\(GUID.normalForm(ViewService.trees[0]))",\
                "name":"last.txt","contentType":"text/plain","data":"\(Data("last".utf8).base64EncodedString())"}
                """
            let edit =
                #"{"attributes":{"GlobalID":"\#(GUID.normalForm(ViewService.trees[0]))","Condition":"Poor"}}"#
            let answer = try await view.post(
                "0/applyEdits",
                [
                    "f": "json", "useGlobalIds": "true", "updates": "[\(edit)]",
                    "attachments": #"{"adds":[\#(photo)]}"#,
                ])
            #expect(try Self.succeeded(answer, "updateResults") == [true], "\(answer.text)")
            #expect(try await Self.names(view) == ["Tree 2"])
            #expect(try await Self.names(service, "Condition = 'Poor'") == ["Tree 0"])
            #expect(try await service.get("0/1/attachments", ["f": "json"]).text.contains("last.txt"))
            let again = try await view.post("0/updateFeatures", ["f": "json", "features": "[\(edit)]"])
            #expect(try Self.succeeded(again, "updateResults") == [false], "it is out of reach now")
            // What somebody adds without meeting the condition is saved as well.
            let added = try await view.post(
                "0/addFeatures",
                ["f": "json", "features": #"[{"attributes":{"Name":"new"},"geometry":{"x":1,"y":1}}]"#])
            #expect(try Self.succeeded(added, "addResults") == [true], "\(added.text)")
            #expect(try await Self.names(view) == ["Tree 2"])
            #expect(try await Self.names(service, "Name = 'new'") == ["new"])
        }
    }

    @Test(
        "What was attached to a feature that the view did not show does not come back through it with the feature's id")
    func formerAttachments() async throws {
        try await ViewService.serve { view, service, _, store in
            let batch = EditBatch(
                layers: [
                    LayerEdits(
                        layerID: 0, deletes: .features([0, 1].map { .globalID(ViewService.trees[$0]) }))
                ], usesGlobalIDs: true, moment: Date.now)
            #expect(try await !store.apply(batch, to: ViewService.name).hasErrors)
            let adds = [0, 1].map { index in
                #"{"attributes":{"GlobalID":"\#(GUID.normalForm(ViewService.trees[index]))","Name":"again"}}"#
            }
            let added = try await view.post(
                "0/applyEdits", ["f": "json", "useGlobalIds": "true", "adds": "[\(adds.joined(separator: ","))]"])
            #expect(try Self.succeeded(added, "addResults") == [true, true], "\(added.text)")
            let own = try await service.get("0/1/attachments", ["f": "json"])
            #expect(
                own.text.contains("bark.txt"), "the photo of a feature that the view showed comes back: \(own.text)")
            let other = try await service.get("0/2/attachments", ["f": "json"])
            #expect(try other.json["attachmentInfos"] == [], "\(other.text)")
        }
    }

    @Test("A tile of a view is made anew when a feature that it showed has moved away")
    func tiles() async throws {
        try await ViewService.serve { view, _, _, store in
            let path = Self.address("../VectorTileServer/tile/16/32767/32768.pbf", "Oaks")
            func names() async throws -> [String] {
                let told = try Self.told(try await view.get(path, [:]))
                return ["Tree 0", "Tree 2"].filter(told.contains)
            }
            let before = try await names()
            #expect(!before.isEmpty)
            for index in [0, 2] {
                let far = FeatureEdit(
                    globalID: ViewService.trees[index],
                    geometry: .geometry(Point(x: 5_000_000, y: 5_000_000, spatialReference: .webMercator)))
                let batch = EditBatch(
                    layers: [LayerEdits(layerID: 0, updates: [far])], usesGlobalIDs: true, moment: Date.now)
                #expect(try await !store.apply(batch, to: ViewService.name).hasErrors)
            }
            #expect(try await names().isEmpty)
        }
    }

    @Test(
        "Rules of the service run for edits through a view, reach what it does not show, and are told nobody who uses it"
    )
    func rules() async throws {
        try await ViewService.serve { view, service, _, store in
            var definition = try await store.service(ViewService.name)
            let note = GUID.normalForm(ViewService.inspections[1])
            definition.layers[0].attributeRules = [
                AttributeRuleDefinition(
                    name: "Keep", kind: .calculation,
                    script: """
                        return {edit: [{className: '\(definition.layers[1].name)', \
                        updates: [{globalID: '\(note)', attributes: {Note: 'secret, seen'}}]}]}
                        """, events: [.update]),
                AttributeRuleDefinition(
                    name: "Stems", kind: .constraint, script: "$feature.Stems < 10 || $feature.Keeper == null",
                    errorNumber: 42, errorMessage: "What has a Keeper has fewer than ten stems."),
            ]
            try await store.updateService(definition)
            #expect(try await !view.get("0", ["f": "json"]).text.contains("Keep"))
            func update(_ stems: Int) async throws -> TestClient.Answer {
                try await view.post(
                    "0/updateFeatures",
                    [
                        "f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Stems":\#(stems)}}]"#,
                        "rollbackOnFailure": "false",
                    ])
            }
            let done = try await update(4)
            #expect(try Self.succeeded(done, "updateResults") == [true], "\(done.text)")
            let notes = try await service.get("1/query", ["where": "1=1", "outFields": "Note", "f": "json"])
            #expect(try notes.json["features"]?.notes.contains("secret, seen") == true, "\(notes.text)")
            let refused = try await update(11)
            #expect(try Self.succeeded(refused, "updateResults") == [false], "\(refused.text)")
            #expect(!refused.text.contains("Keeper"), "\(refused.text)")
        }
    }

    @Test("A view without capabilities to edit refuses edits that its service allows")
    func capabilities() async throws {
        try await ViewService.serve { view, service, views, _ in
            views.change(ViewService.view) { $0.capabilities = [.query] }
            let edit: KeyValuePairs = ["f": "json", "features": #"[{"attributes":{"OBJECTID":1,"Name":"x"}}]"#]
            #expect(try await view.post("0/updateFeatures", edit).errorCode == 400)
            #expect(try await view.post("0/deleteFeatures", ["f": "json", "where": "1=1"]).errorCode == 400)
            #expect(try await view.post("createReplica", ["f": "json", "layers": "0"]).errorCode == 400)
            #expect(try await view.get("0", ["f": "json"]).json["capabilities"] == "Query")
            #expect(try await service.post("0/updateFeatures", edit).errorCode == nil)
            views.change(ViewService.view) { $0.layers.removeAll { $0.id == 1 } }
            #expect(try await view.get("1", ["f": "json"]).errorCode == 404)
            #expect(try await view.get("1/query", ["where": "1=1", "f": "json"]).errorCode == 404)
            #expect(try await view.get("0", ["f": "json"]).json["relationships"] == [])
            let foreign = try await view.post(
                "applyEdits", ["f": "json", "edits": #"[{"id":1,"deletes":[1]}]"#])
            #expect(foreign.errorCode != nil)
        }
    }
}
