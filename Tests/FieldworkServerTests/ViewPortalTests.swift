import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Views that people make through the portal, as the protocol's clients do.
@Suite("Making views", .fewAtATime)
struct ViewPortalTests {
    private static let author = Author(name: "test", address: "")
    private static let content = "/arcgis/sharing/rest/content/users"
    private static let admin = "/arcgis/rest/admin/services/Oaks/FeatureServer"

    /// A view of the trees without their heights, which is the owner's and shared with the organisation.
    static func addShade(_ people: PeopleServer) async throws {
        let fields = TreesService.trees.fields.map(\.name).filter { $0 != "Height" }
        let view = ServiceView(
            name: ServiceName(name: "Shade"), source: TreesService.name,
            layers: [ViewLayer(id: 0, fields: fields, filter: "Species <> 'none'"), ViewLayer(id: 1)])
        let item = try await people.portal.addServiceItem(
            "Shade", ItemChange(), owner: "owner", view: view, for: .everybody, by: author)
        _ = try await people.portal.share(
            item.id, everyone: false, organisation: true, addingGroups: [], onlyGroups: true, for: .everybody,
            by: author)
    }

    /// What the vendor's Python client sends.
    private static func create(_ people: PeopleServer, as name: String, _ view: String = "Oaks") async throws
        -> TestClient.Answer
    {
        let parameters = """
            {"name":"\(view)","isView":true,"sourceSchemaChangesAllowed":true,"isUpdatableView":true,\
            "spatialReference":{"wkid":102100},"initialExtent":null,"capabilities":"Query,Update,Editing",\
            "preserveLayerIds":true,"options":{"dataSourceType":"relational"}}
            """
        return try await people.post(
            "\(content)/\(name)/createService",
            [
                "f": "json", "isView": "true", "createParameters": parameters, "tags": "trees", "snippet": "Oaks",
                "description": "Oaks alone", "outputType": "featureService",
            ], as: name)
    }

    private static let layers = """
        {"layers":[{"id":0,"name":"Oaks","adminLayerInfo":{"popupInfo":null,"viewLayerDefinition":\
        {"sourceServiceName":"Trees","sourceLayerId":0,"sourceLayerFields":"*"}}}],"tables":[]}
        """

    /// Makes the view `Oaks`, as its owner.
    private static func make(_ people: PeopleServer) async throws -> String {
        let made = try await create(people, as: "owner")
        let id = try #require(try made.json["itemId"]?.stringValue, "\(made.text)")
        #expect(try made.json["isView"] == true)
        let added = try await people.post(
            "\(admin)/addToDefinition", ["f": "json", "addToDefinition": layers], as: "owner")
        #expect(try added.json["success"] == true, "\(added.text)")
        let shown =
            #"{"fields":[{"name":"Height","visible":false},{"name":"Name","visible":true}],"#
            + #""viewDefinitionQuery":"Species = 'Oak'"}"#
        let updated = try await people.post(
            "\(admin)/0/updateDefinition", ["f": "json", "updateDefinition": shown], as: "owner")
        #expect(try updated.json["success"] == true, "\(updated.text)")
        return id
    }

    @Test("A view is made as the vendor's clients make it, shared on its own, and leaves its source private")
    func life() async throws {
        try await PeopleServer.with(trees: 6) { people in
            let id = try await Self.make(people)
            let item = try await people.get("/arcgis/sharing/rest/content/items/\(id)", as: "owner").json
            #expect(item["typeKeywords"]?.arrayValue?.contains("View Service") == true && item["access"] == "private")
            #expect(try await people.get("Oaks/FeatureServer/0", as: "editor").errorCode == 403)
            let shared = try await people.post(
                "\(Self.content)/owner/items/\(id)/share", ["f": "json", "everyone": "true", "org": "true"],
                as: "owner")
            #expect(shared.errorCode == nil)
            let query: KeyValuePairs = ["f": "json", "where": "1=1", "outFields": "*"]
            #expect(try await people.get("Trees/FeatureServer/0/query", query, as: nil).errorCode == 499)
            let seen = try await people.get("Oaks/FeatureServer/0/query", query, as: nil)
            #expect(try seen.json["features"]?.arrayValue?.count == 2, "\(seen.text)")
            #expect(!seen.text.contains("Height") && !seen.text.contains("Lime"))
            let root = try await people.get("Oaks/FeatureServer", as: nil).json
            #expect(root["capabilities"] == "Query" && root["isView"] == true, "nobody edits without signing in")
            let editor = try await people.get("Oaks/FeatureServer", as: "editor").json
            #expect(editor["capabilities"]?.stringValue?.contains("Update") == true)
            #expect(editor["capabilities"]?.stringValue?.contains("Delete") == false, "\(editor)")
            let told = try await people.get("Oaks/FeatureServer/0", as: nil)
            #expect(!told.text.contains("Species = 'Oak'"), "the condition is its owner's business")
            let administered = try await people.get("\(Self.admin)/0", as: "owner").json
            #expect(administered["viewDefinitionQuery"] == "Species = 'Oak'")
            #expect(
                administered["adminLayerInfo"]?["viewLayerDefinition"]?["sourceServiceName"] == "Trees",
                "\(administered)")
            #expect(
                try await people.post("\(Self.admin)/0/truncate", ["f": "json"], as: "owner").errorCode != nil)
            #expect(try await people.portal.view("oaks")?.changed != 0, "hiding a field is a change")
            let removed = try await people.post("\(Self.content)/owner/items/\(id)/delete", ["f": "json"], as: "owner")
            #expect(try removed.json["success"] == true, "\(removed.text)")
            #expect(try await people.get("Oaks/FeatureServer", as: "owner").errorCode == 404)
            #expect(try await people.get("Trees/FeatureServer/0/query", query, as: "owner").errorCode == nil)
            // Devices of the former view must not take a delta of another one for theirs.
            #expect(try await Self.create(people, as: "owner").errorCode == nil)
            #expect(try await people.portal.view("Oaks")?.changed != 0)
            #expect(try await Self.create(people, as: "owner", "Limes").errorCode == nil)
            #expect(try await people.portal.view("Limes")?.changed == 0)
        }
    }

    @Test("Only who administers a service decides what a view of it shows, also when the view has become another's")
    func sourceRights() async throws {
        try await PeopleServer.with { people in
            let author = Self.author
            // A publisher of her own, who may read the trees like everybody.
            try await people.portal.addPerson("pia", password: PeopleServer.password, role: .publisher, by: author)
            #expect(try await Self.create(people, as: "pia").errorCode == nil)
            let foreign = try await people.post(
                "\(Self.admin)/addToDefinition", ["f": "json", "addToDefinition": Self.layers], as: "pia")
            #expect(foreign.errorCode == 403, "\(foreign.text)")
            #expect(try await people.get("Oaks/FeatureServer/0", as: "pia").errorCode == 404)
        }
        try await PeopleServer.with { people in
            let author = Self.author
            try await people.portal.addPerson("pia", password: PeopleServer.password, role: .publisher, by: author)
            let id = try await Self.make(people)
            try await people.portal.reassign(id, to: "pia", for: .everybody, by: author)
            for change in [#"{"viewDefinitionQuery":"1=1"}"#, #"{"fields":[{"name":"Height","visible":true}]}"#] {
                let answer = try await people.post(
                    "\(Self.admin)/0/updateDefinition", ["f": "json", "updateDefinition": change], as: "pia")
                #expect(answer.errorCode == 403, "\(answer.text)")
            }
            #expect(try await !people.get("Oaks/FeatureServer/0", as: "pia").text.contains("Height"))
        }
    }

    @Test("A view can't be made of a view, of layers that are not there, or with a condition that can't be read")
    func refused() async throws {
        try await PeopleServer.with { people in
            _ = try await Self.make(people)
            #expect(try await Self.create(people, as: "owner").errorCode == 409, "the name is taken")
            #expect(try await Self.create(people, as: "owner", "Trees").errorCode == 409)
            #expect(try await Self.create(people, as: "editor", "Mine").errorCode == 403)
            #expect(try await Self.create(people, as: "owner", "Second").errorCode == nil)
            let second = "/arcgis/rest/admin/services/Second/FeatureServer"
            for layers in [
                Self.layers.replacing("\"Trees\"", with: "\"Oaks\""),
                Self.layers.replacing("\"sourceLayerId\":0", with: "\"sourceLayerId\":9"),
                Self.layers.replacing("\"*\"", with: "[\"Nothing\"]"), #"{"layers":[{"name":"New"}]}"#,
            ] {
                let answer = try await people.post(
                    "\(second)/addToDefinition", ["f": "json", "addToDefinition": layers], as: "owner")
                #expect(answer.errorCode == 400, "\(layers): \(answer.text)")
            }
            for change in [
                #"{"viewDefinitionQuery":"Nowhere = 1"}"#, #"{"viewDefinitionQuery":"Name = "}"#,
                #"{"hasAttachments":true}"#, #"{"fields":[{"name":"Nothing","visible":true}]}"#,
            ] {
                let answer = try await people.post(
                    "\(Self.admin)/0/updateDefinition", ["f": "json", "updateDefinition": change], as: "owner")
                #expect(answer.errorCode == 400, "\(change): \(answer.text)")
            }
            for operation in ["addToDefinition", "deleteFromDefinition"] {
                let answer = try await people.post(
                    "\(Self.admin)/0/\(operation)", ["f": "json", operation: #"{"fields":[{"name":"Name"}]}"#],
                    as: "owner")
                #expect(answer.errorCode == 400)
            }
        }
    }

    @Test("Who sees only the own features of a service sees no others through a view, which can't hide whose they are")
    func ownership() async throws {
        try await PeopleServer.with { people in
            let layer = LayerDefinition(
                id: 0, name: "Reports",
                fields: [
                    FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                    FieldDefinition(name: "text", type: .string, length: 40),
                    FieldDefinition(name: "who", type: .string, length: 40, isEditable: false),
                ],
                editFields: EditFieldsDefinition(
                    creationDateField: nil, creatorField: "who", editDateField: nil, editorField: nil),
                ownershipAccess: OwnershipAccess(allowsOthersToQuery: false, allowsOthersToUpdate: false))
            try await people.store.createService(
                ServiceDefinition(name: ServiceName(name: "Reports"), layers: [layer]))
            for name in ["editor", "viewer"] {
                let add = FeatureEdit(attributes: [("text", .text("by \(name)"))])
                let batch = EditBatch(
                    layers: [LayerEdits(layerID: 0, adds: [add])], editor: name, moment: TemporaryStore.moment)
                #expect(try await !people.store.apply(batch, to: ServiceName(name: "Reports")).hasErrors)
            }
            for (view, fields) in [("Own", ["text", "who"]), ("Blind", ["text"])] {
                let item = try await people.portal.addServiceItem(
                    view, ItemChange(), owner: "owner",
                    view: ServiceView(
                        name: ServiceName(name: view), source: ServiceName(name: "Reports"),
                        layers: [ViewLayer(id: 0, fields: fields)]), for: .everybody, by: Self.author)
                _ = try await people.portal.share(
                    item.id, everyone: false, organisation: true, addingGroups: [], onlyGroups: true, for: .everybody,
                    by: Self.author)
            }
            let query: KeyValuePairs = ["f": "json", "where": "1=1", "outFields": "*"]
            let own = try await people.get("Own/FeatureServer/0/query", query, as: "editor")
            #expect(own.text.contains("by editor") && !own.text.contains("by viewer"), "\(own.text)")
            #expect(try await people.get("Blind/FeatureServer/0/query", query, as: "editor").errorCode == 404)
        }
    }

    @Test("The names of views are taken, and a change by another process holds within a second")
    func names() async throws {
        try await PeopleServer.with { people in
            try await Self.addShade(people)
            let made = try await people.post(
                "\(Self.content)/owner/createService",
                ["f": "json", "createParameters": #"{"name":"shade"}"#, "outputType": "featureService"], as: "owner")
            #expect(made.errorCode == 409)
            #expect(try await people.get("Shade/FeatureServer/0", as: "viewer").text.contains("\"Stems\""))
            let file = Portal.file(in: people.basemaps.url.deletingLastPathComponent())
            let other = try await Portal(try RecordDatabase(file: file), passwordCost: 4)
            try await other.changeView("Shade", by: Self.author) { $0.layers[0].fields = ["Name"] }
            await other.close()
            try await Task.sleep(for: .seconds(1))
            #expect(try await !people.get("Shade/FeatureServer/0", as: "viewer").text.contains("\"Stems\""))
        }
    }
}
