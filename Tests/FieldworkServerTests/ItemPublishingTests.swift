import FieldworkGeometry
import FieldworkPortal
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Services of files and files of services, as the protocol's clients ask for them.
@Suite("Publishing and exporting items", .fewAtATime, .everyStore)
struct ItemPublishingTests {
    private static let content = "/arcgis/sharing/rest/content"
    private static let table =
        "name,height,planted,lon,lat\nOne,3.5,2024-05-01,-122.5,45.5\nTwo,4,2024-06-01,-122.51,45.51\n"
    private static let author = Author(name: "test", address: "")

    /// A server with the publisher pia, the publisher pete, the editor edi and the administrator ada.
    private struct Field: Sendable {
        var server: TestServer
        var portal: Portal
        var store: WholeStore

        func post(_ path: String, _ form: KeyValuePairs<String, String>, as name: String = "pia") async throws
            -> TestClient.Answer
        {
            try await server.client.post(path, form, headers: [try await header(name)])
        }

        func get(_ path: String, _ form: KeyValuePairs<String, String> = ["f": "json"], as name: String = "pia")
            async throws -> TestClient.Answer
        {
            try await server.client.get(path, form, headers: [try await header(name)])
        }

        func header(_ name: String) async throws -> (String, String) {
            ("X-Esri-Authorization", "Bearer \(try await portal.issueToken(to: name).token)")
        }

        /// Adds an item with a text as its data.
        func add(_ title: String, _ type: String, _ text: String, as name: String = "pia") async throws -> String {
            let json = try await post(
                "\(ItemPublishingTests.content)/users/\(name)/addItem",
                ["f": "json", "title": title, "type": type, "text": text], as: name
            ).json
            return try #require(json["id"]?.stringValue, "\(json)")
        }

        func replaceData(of id: String, _ bytes: [UInt8]) async throws {
            var body = Array("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n".utf8)
            body += bytes + Array("\r\n--b--\r\n".utf8)
            let answer = try await server.client.send(
                "POST", "\(ItemPublishingTests.content)/users/pia/items/\(id)/update?f=json",
                headers: [try await header("pia"), ("Content-Type", "multipart/form-data; boundary=b")], body: body)
            try #require(answer.errorCode == nil, "\(answer.text)")
        }

        func publish(
            _ id: String, _ kind: String, _ parameters: String, as name: String = "pia",
            more: (String, String) = ("overwrite", "false")
        ) async throws -> TestClient.Answer {
            try await post(
                "\(ItemPublishingTests.content)/users/\(name)/publish",
                [
                    "f": "json", "itemid": id, "fileType": kind, "publishParameters": parameters,
                    "buildInitialCache": "False", more.0: more.1,
                ], as: name)
        }

        /// Asks for a job as the vendor's client does, until it has ended.
        func ended(_ item: String, _ job: String, as name: String = "pia") async throws -> JSONValue {
            for _ in 0..<3_000 {
                let json = try await post(
                    "\(ItemPublishingTests.content)/users/\(name)/items/\(item)/status", ["f": "json", "jobid": job],
                    as: name
                ).json
                guard json["status"] == "processing" else { return json }
                try await Task.sleep(for: .milliseconds(10))
            }
            throw CancellationError()
        }

        /// The id of the item of a service that was made whole.
        func made(_ answer: TestClient.Answer) async throws -> String {
            let service = try #require(try answer.json["services"]?.arrayValue?.first, "\(answer.text)")
            let id = try #require(service["serviceItemId"]?.stringValue)
            let ended = try await ended(id, try #require(service["jobId"]?.stringValue))
            #expect(ended["status"] == "completed", "\(ended)")
            return id
        }

        func export(
            _ id: String, _ format: String, _ parameters: String = "{}", as name: String = "pia"
        ) async throws -> TestClient.Answer {
            try await post(
                "\(ItemPublishingTests.content)/users/\(name)/export",
                ["f": "json", "itemId": id, "exportFormat": format, "title": "Copy", "exportParameters": parameters],
                as: name)
        }

        /// The bytes of an export that has ended.
        func exported(_ answer: TestClient.Answer, as name: String = "pia") async throws -> [UInt8] {
            let json = try answer.json
            let id = try #require(json["exportItemId"]?.stringValue, "\(answer.text)")
            let ended = try await ended(id, try #require(json["jobId"]?.stringValue), as: name)
            #expect(ended["status"] == "completed", "\(ended)")
            return try await get("\(ItemPublishingTests.content)/items/\(id)/data", [:], as: name).body
        }

        func count(_ service: String) async throws -> Int64? {
            try await get(
                "\(service)/FeatureServer/0/query", ["f": "json", "where": "1=1", "returnCountOnly": "true"]
            ).json["count"]?.integerValue
        }
    }

    private static func with(
        before: (@Sendable (Portal, WholeStore) async throws -> Void)? = nil,
        _ test: @Sendable (Field) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-items-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await EveryStore.open(in: folder)
        let records = try (store as? PostgresStore)?.openRecords() ?? RecordDatabase(file: Portal.file(in: folder))
        let portal = try await Portal(records, passwordCost: 4)
        for (name, role) in [
            ("ada", Role.administrator), ("pia", .publisher), ("pete", .publisher), ("edi", .editor),
        ] {
            try await portal.addPerson(name, password: "correct horse", role: role, by: author)
        }
        try await before?(portal, store)
        let configuration = ServerConfiguration(port: 0, definitionLifetime: .zero, portal: portal)
        try await TestServer.with(store: store, configuration: configuration) {
            try await test(Field(server: $0, portal: portal, store: store))
        }
        await portal.close()
    }

    // MARK: Publishing

    @Test("A table is analyzed, published, and related to its service, which is its owner's alone")
    func table() async throws {
        try await Self.with { field in
            let id = try await field.add("My trees", "CSV", Self.table)
            let analysis = try await field.post(
                "\(Self.content)/features/analyze",
                ["f": "json", "itemid": id, "fileType": "csv", "analyzeParameters": #"{"sourceCountry":"world"}"#])
            var parameters = try #require(try analysis.json["publishParameters"]?.objectValue, "\(analysis.text)")
            #expect(parameters["locationType"] == "coordinates")
            #expect(parameters["longitudeFieldName"] == "lon" && parameters["latitudeFieldName"] == "lat")
            let fields = parameters["layerInfo"]?["fields"]?.arrayValue ?? []
            let types = Dictionary(
                fields.map { ($0["name"]?.stringValue ?? "", $0["type"]?.stringValue ?? "") }, uniquingKeysWith: { $1 })
            #expect(types["height"] == "esriFieldTypeDouble" && types["planted"] == "esriFieldTypeDate", "\(types)")
            parameters["name"] = "My_trees"
            let answer = try await field.publish(id, "csv", JSONValue.object(parameters).text)
            let service = try await field.made(answer)
            #expect(try await field.count("My_trees") == 2)
            #expect(try await field.get("My_trees/FeatureServer", as: "pete").errorCode == 403)
            let item = try await field.get("\(Self.content)/items/\(service)").json
            #expect(item["type"] == "Feature Service" && item["owner"] == "pia" && item["access"] == "private")
            #expect(item["url"]?.stringValue?.hasSuffix("/My_trees/FeatureServer") == true)
            for (from, direction, to) in [(service, "forward", id), (id, "reverse", service)] {
                let related = try await field.post(
                    "\(Self.content)/items/\(from)/relatedItems",
                    ["f": "json", "relationshipTypes": "Service2Data", "direction": direction, "num": "100"])
                #expect(try related.json["relatedItems"]?.arrayValue?.map { $0["id"]?.stringValue } == [to])
            }
            let edit = try await field.post(
                "My_trees/FeatureServer/0/addFeatures",
                ["f": "json", "features": #"[{"attributes":{"name":"New"},"geometry":{"x":-122,"y":45}}]"#])
            #expect(try edit.json["addResults"]?.arrayValue?.first?["success"] == true, "\(edit.text)")
        }
    }

    @Test("GeoJSON becomes a service with what the client says of it")
    func geoJSON() async throws {
        try await Self.with { field in
            let text = """
                {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"kind":"oak"},
                "geometry":{"type":"Point","coordinates":[-122.5,45.5]}}]}
                """
            let id = try await field.add("Spots", "GeoJson", text)
            let parameters =
                #"{"hasStaticData":true,"name":"Spots","maxRecordCount":500,"layerInfo":{"capabilities":"Query"}}"#
            _ = try await field.made(try await field.publish(id, "geojson", parameters))
            let root = try await field.get("Spots/FeatureServer").json
            #expect(root["capabilities"]?.stringValue?.contains("Create") == false, "\(root["capabilities"] ?? .null)")
            #expect(root["maxRecordCount"] == 500)
            #expect(try await field.count("Spots") == 1)
        }
    }

    @Test("A service that is exported as a GeoPackage and published again has the same features")
    func roundTrip() async throws {
        try await Self.with { field in
            let id = try await field.add("Trees", "CSV", Self.table)
            let service = try await field.made(try await field.publish(id, "csv", #"{"name":"Trees"}"#))
            let bytes = try await field.exported(try await field.export(service, "geoPackage"))
            #expect(bytes.starts(with: Array("SQLite format 3".utf8)))
            let copy = try await field.add("Copy", "GeoPackage", "{}")
            try await field.replaceData(of: copy, bytes)
            _ = try await field.made(try await field.publish(copy, "geoPackage", #"{"name":"Again"}"#))
            let form: KeyValuePairs = ["f": "json", "where": "1=1", "outFields": "*", "orderByFields": "OBJECTID"]
            let first = try await field.get("Trees/FeatureServer/0/query", form).json["features"]
            #expect(first?.arrayValue?.count == 2)
            #expect(try await field.get("Again/FeatureServer/0/query", form).json["features"] == first)
        }
    }

    @Test("A file that can't be read leaves neither a service nor an item, and its job says why")
    func badData() async throws {
        try await Self.with { field in
            let id = try await field.add("Bad", "CSV", "a,lon,lat\n1,\"2,3\n")
            let service = try #require(
                try await field.publish(id, "csv", #"{"name":"Bad"}"#).json["services"]?.arrayValue?.first)
            let item = try #require(service["serviceItemId"]?.stringValue)
            let ended = try await field.ended(item, try #require(service["jobId"]?.stringValue))
            #expect(ended["status"] == "failed")
            #expect(ended["statusMessage"]?.stringValue?.contains("is not closed") == true, "\(ended)")
            #expect(try await field.get("\(Self.content)/items/\(item)").errorCode == 400)
            #expect(try await field.store.serviceNames().isEmpty)
            let free = try await field.get(
                "/arcgis/sharing/rest/portals/self/isServiceNameAvailable",
                ["f": "json", "name": "Bad", "type": "Feature Service"])
            #expect(try free.json["available"] == true)
            let others = try await field.post(
                "\(Self.content)/users/pete/items/\(item)/status",
                ["f": "json", "jobid": try #require(service["jobId"]?.stringValue)], as: "pete")
            #expect(others.errorCode == 400, "a job is its owner's business")
        }
    }

    @Test("Whoever may not publish, or not this item, publishes nothing")
    func refused() async throws {
        try await Self.with { field in
            let id = try await field.add("Trees", "CSV", Self.table)
            let parameters = #"{"name":"Trees"}"#
            #expect(try await field.publish(id, "csv", parameters, as: "edi").errorCode == 403)
            #expect(
                try await field.publish(id, "csv", parameters, as: "pete").errorCode == 400, "it is not there for him")
            let shared = try await field.post(
                "\(Self.content)/users/pia/items/\(id)/share", ["f": "json", "org": "true"])
            #expect(shared.errorCode == nil)
            #expect(try await field.publish(id, "csv", parameters, as: "pete").errorCode == 403, "he only reads it")
            #expect(try await field.publish(id, "geojson", parameters).errorCode == 400)
            #expect(try await field.publish(id, "csv", parameters, more: ("overwrite", "true")).errorCode == 400)
            #expect(try await field.publish(id, "csv", parameters, more: ("outputType", "Tiles")).errorCode == 400)
            for name in ["", "../x", "a/b", "x\u{0}"] {
                let text = JSONValue.object(JSONObject(["name": .string(name)])).text
                #expect(try await field.publish(id, "csv", text).errorCode == 400, "\(name)")
            }
            for bad in [
                #"{"name":"T","locationType":"address"}"#,
                #"{"name":"T","locationType":"coordinates","longitudeFieldName":"lon","latitudeFieldName":"lat","sourceSR":{"wkid":1}}"#,
            ] { #expect(try await field.publish(id, "csv", bad).errorCode == 400, "\(bad)") }
            #expect(try await field.store.serviceNames().isEmpty)
            _ = try await field.made(try await field.publish(id, "csv", parameters))
            #expect(try await field.publish(id, "csv", parameters).errorCode == 409)
            #expect(try await field.store.serviceNames().count == 1)
        }
    }

    @Test("A job that a stopped server has left is done by the next one, once")
    func leftJob() async throws {
        let (job, item) = (UUID(), Secret.id())
        try await Self.with(before: { portal, store in
            let pia = try #require(try await portal.principal(named: "pia"))
            var change = ItemChange()
            (change.title, change.type) = ("Trees", "CSV")
            change.data = ItemContent(
                name: ItemContent.data, type: "text/csv", fileName: "t.csv", modified: 0, bytes: Array(Self.table.utf8))
            let data = try await portal.addItem(change, owner: "pia", for: pia, by: Self.author)
            _ = try await portal.addServiceItem(
                "Trees", ItemChange(), id: item, owner: "pia", for: pia, by: Self.author)
            var left = ServiceJob(
                id: job, service: ServiceName(name: "Trees"), operation: .publishItem,
                parameters: [
                    ("item", data.id), ("serviceItem", item), ("kind", "CSV"), ("document", #"{"name":"Trees"}"#),
                ], moment: Date())
            left.editor = "pia"
            let folder = WorkFolder(url: store.workFolder)
            let shared = (store as? any WorkSharingStore)?.sharedWork
            let keeper: any WorkKeeper =
                shared.map { DatabaseWork(work: $0, local: folder, lease: .milliseconds(10)) as any WorkKeeper }
                ?? folder
            _ = try await keeper.submit(left)
            // In a database the process that had it must have been silent for a while.
            try await Task.sleep(for: .milliseconds(100))
        }) { field in
            let ended = try await field.ended(item, job.uuidString)
            #expect(ended["status"] == "completed", "\(ended)")
            #expect(try await field.count("Trees") == 2)
            #expect(try await field.store.serviceNames().count == 1)
        }
    }

    // MARK: Exporting

    @Test("The features of a service become a file of each kind, with a condition where one is given")
    func exports() async throws {
        try await Self.with { field in
            let id = try await field.add("Trees", "CSV", Self.table)
            let service = try await field.made(try await field.publish(id, "csv", #"{"name":"Trees"}"#))
            let csv = String(decoding: try await field.exported(try await field.export(service, "CSV")), as: UTF8.self)
            let lines = csv.split(whereSeparator: \.isNewline)
            #expect(lines.count == 3 && lines[0].hasPrefix("OBJECTID,GlobalID,name"), "\(csv)")
            let parameters = #"{"layers":[{"id":0,"where":"name = 'Two'"}]}"#
            let json = try JSONParser.parse(
                try await field.exported(try await field.export(service, "GeoJson", parameters)))
            let features = json["features"]?.arrayValue ?? []
            #expect(features.map { $0["properties"]?["name"]?.stringValue } == ["Two"])
            let export = try await field.export(service, "CSV")
            let item = try #require(try export.json["exportItemId"]?.stringValue)
            _ = try await field.exported(export)
            let described = try await field.get("\(Self.content)/items/\(item)").json
            #expect(described["type"] == "CSV" && described["title"] == "Copy" && described["owner"] == "pia")
            #expect(described["size"]?.integerValue == Int64(csv.utf8.count))
        }
    }

    @Test("Who may only read a service exports it where the service allows it, and nobody what is not there")
    func exportRights() async throws {
        try await Self.with { field in
            let id = try await field.add("Trees", "CSV", Self.table)
            let parameters = #"{"name":"Trees","capabilities":"Query,Extract"}"#
            let open = try await field.made(try await field.publish(id, "csv", parameters))
            let closed = try await field.made(try await field.publish(id, "csv", #"{"name":"Closed"}"#))
            #expect(try await field.export(open, "CSV", as: "pete").errorCode == 400, "it is not there for him")
            for item in [open, closed] {
                let answer = try await field.post(
                    "\(Self.content)/users/pia/items/\(item)/share", ["f": "json", "org": "true"])
                #expect(answer.errorCode == nil)
            }
            #expect(try await field.exported(try await field.export(open, "CSV", as: "pete"), as: "pete").count > 50)
            #expect(try await field.export(closed, "CSV", as: "pete").errorCode == 403)
            for (format, parameters) in [
                ("Shapefile", "{}"), ("CSV", #"{"layers":[{"id":7}]}"#), ("CSV", #"{"layers":[]}"#),
                ("CSV", #"{"layers":[{"id":0,"where":"nothing = 1"}]}"#), ("CSV", #"{"targetSR":{"wkid":3857}}"#),
            ] {
                let answer = try await field.export(open, format, parameters)
                #expect(answer.errorCode == 400, "\(format) \(parameters) \(answer.text)")
            }
            #expect(try await field.export(id, "CSV").errorCode == 400, "a file is no service")
            let items = try await field.portal.search("title:Copy", for: .everybody).total
            #expect(items == 1, "what was refused left no item")
        }
    }

    // MARK: Data in parts

    @Test("An upload in parts is partial until it is joined, and leaves nothing when it is cancelled")
    func parts() async throws {
        try await Self.with { field in
            let json = try await field.post(
                "\(Self.content)/users/pia/addItem",
                ["f": "json", "title": "Large", "type": "CSV", "multipart": "true", "fileName": "large.csv"]
            ).json
            let id = try #require(json["id"]?.stringValue)
            let place = "\(Self.content)/users/pia/items/\(id)"
            func addPart() async throws {
                let body =
                    "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\na,b\n\r\n--b--\r\n"
                let answer = try await field.server.client.send(
                    "POST", "\(place)/addPart?f=json&partNum=1",
                    headers: [try await field.header("pia"), ("Content-Type", "multipart/form-data; boundary=b")],
                    body: Array(body.utf8))
                #expect(try answer.json["success"] == true, "\(answer.text)")
            }
            try await addPart()
            #expect(try await field.get("\(place)/status").json["status"] == "partial")
            #expect(try await field.post("\(place)/cancel", ["f": "json"], as: "pete").errorCode == 400)
            #expect(try await field.post("\(place)/cancel", ["f": "json"]).json["success"] == true)
            #expect(try await field.post("\(place)/commit", ["f": "json"]).errorCode == 400, "nothing has come")
            try await addPart()
            #expect(try await field.post("\(place)/commit", ["f": "json"]).json["success"] == true)
            #expect(try await field.get("\(place)/status").json["status"] == "completed")
            #expect(try await field.get("\(Self.content)/items/\(id)/data", [:]).text == "a,b\n")
        }
    }
}
