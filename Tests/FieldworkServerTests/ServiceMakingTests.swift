import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// Services that people make through the portal, as the protocol's clients do.
@Suite("Making services", .fewAtATime)
struct ServiceMakingTests {
    private static let content = "/arcgis/sharing/rest/content/users"
    /// What the vendor's clients send.
    private static let parameters = """
        {"name":"Benches","serviceDescription":"Where to sit","hasStaticData":false,"maxRecordCount":1000,\
        "supportedQueryFormats":"JSON","capabilities":"Create,Delete,Query,Update,Editing","description":"",\
        "copyrightText":"","spatialReference":{"wkid":102100},"allowGeometryUpdates":true,"units":"esriMeters",\
        "xssPreventionInfo":{"xssPreventionEnabled":true,"xssPreventionRule":"InputOnly","xssInputRule":"rejectInvalid"}}
        """
    private static let layer = """
        {"layers":[{"name":"Benches","type":"Feature Layer","geometryType":"esriGeometryPoint",\
        "fields":[{"name":"kind","type":"esriFieldTypeString","length":20}]}]}
        """

    private static func create(
        _ people: PeopleServer, _ parameters: String = parameters, as name: String = "owner",
        more: (String, String) = ("f", "json")
    ) async throws -> TestClient.Answer {
        try await people.post(
            "\(content)/\(name)/createService",
            ["f": "json", "createParameters": parameters, "outputType": "featureService", more.0: more.1], as: name)
    }

    @Test("A publisher makes a service, gives it a layer and edits it; others see it once it is shared")
    func life() async throws {
        try await PeopleServer.with { people in
            let free = "/arcgis/sharing/rest/portals/self/isServiceNameAvailable"
            let form: KeyValuePairs = ["f": "json", "name": "benches", "type": "Feature Service"]
            #expect(try await people.get(free, form, as: "owner").json["available"] == true)
            let made = try await Self.create(people)
            let json = try made.json
            #expect(json["success"] == true && json["name"] == "Benches", "\(made.text)")
            let id = try #require(json["itemId"]?.stringValue)
            #expect(json["serviceurl"]?.stringValue?.hasSuffix("/arcgis/rest/services/Benches/FeatureServer") == true)
            #expect(try await people.get(free, form, as: "owner").json["available"] == false, "whatever the case")
            #expect(
                try await people.get("Benches/FeatureServer", as: "editor").errorCode == 403, "it is the owner's alone")
            #expect(try await people.get("Benches/FeatureServer", as: nil).errorCode == 499)
            let item = try await people.get("/arcgis/sharing/rest/content/items/\(id)", as: "owner").json
            #expect(item["owner"] == "owner" && item["access"] == "private" && item["description"] == "Where to sit")

            let path = "/arcgis/rest/admin/services/Benches/FeatureServer/addToDefinition"
            let foreign = try await people.post(path, ["f": "json", "addToDefinition": Self.layer], as: "editor")
            #expect(foreign.errorCode == 403)
            let added = try await people.post(path, ["f": "json", "addToDefinition": Self.layer], as: "owner")
            #expect(try added.json["success"] == true, "\(added.text)")
            let edit = try await people.post(
                "Benches/FeatureServer/0/addFeatures",
                ["f": "json", "features": #"[{"attributes":{"kind":"oak"},"geometry":{"x":1,"y":2}}]"#], as: "owner")
            #expect(try edit.json["addResults"]?.arrayValue?.first?["success"] == true, "\(edit.text)")
            let shared = try await people.post(
                "\(Self.content)/owner/items/\(id)/share", ["f": "json", "org": "true", "everyone": "false"],
                as: "owner")
            #expect(shared.errorCode == nil)
            #expect(try await people.get("Benches/FeatureServer/0", as: "editor").errorCode == nil)
        }
    }

    /// How many services there are, and how many items of services.
    private static func counts(_ people: PeopleServer) async throws -> [Int] {
        [
            try await people.store.serviceNames().count,
            try await people.portal.search("type:\"Feature Service\"", for: .everybody).total,
        ]
    }

    @Test("Whoever may not publish makes no service, and nobody one in another's name or with a name that is taken")
    func refused() async throws {
        try await PeopleServer.with { people in
            let before = try await Self.counts(people)
            for name in ["viewer", "editor"] {
                #expect(try await Self.create(people, as: name).errorCode == 403, "\(name)")
            }
            let other = try await people.post(
                "\(Self.content)/administrator/createService", ["f": "json", "createParameters": Self.parameters],
                as: "owner")
            #expect(other.errorCode == 403)
            let nobody = try await people.post(
                "\(Self.content)/owner/createService", ["f": "json", "createParameters": Self.parameters], as: nil)
            #expect(nobody.errorCode == 499)
            let taken = try await Self.create(people, #"{"name":"TREES"}"#)
            #expect(taken.errorCode == 409 && taken.text.contains("not available"), "\(taken.text)")
            #expect(try await Self.counts(people) == before)
        }
    }

    @Test(
        "A name that no file can have, and parameters that are no definition, make no service and no item",
        arguments: [
            #"{"name":"../Evil"}"#, #"{"name":"a/b/c"}"#, #"{"name":"Folder/Name"}"#, #"{"name":""}"#,
            #"{"name":"x\u0000y"}"#,
            #"{"name":".."}"#, "{}", "[]", "x", #"{"name":"Bad","layers":[{"name":1}]}"#,
        ])
    func malformed(_ parameters: String) async throws {
        try await PeopleServer.with { people in
            let before = try await Self.counts(people)
            let answer = try await Self.create(people, parameters)
            #expect((400..<500).contains(answer.errorCode ?? 0), "\(answer.text)")
            #expect(try await Self.counts(people) == before)
        }
    }

    @Test("A request whose server died between item and service is done by the next one, under the same item")
    func interrupted() async throws {
        try await PeopleServer.with { people in
            let owner = try #require(try await people.portal.principal(named: "owner"))
            let author = Author(name: "owner", address: "")
            let item = try await people.portal.addServiceItem(
                "Benches", ItemChange(), owner: "owner", for: owner, by: author)
            #expect(try await Self.create(people).json["itemId"] == .string(item.id))
            let other = try #require(try await people.portal.principal(named: "administrator"))
            await #expect(throws: PortalError.self) {
                try await people.portal.addServiceItem(
                    "Benches", ItemChange(), owner: "administrator", for: other, by: author)
            }
        }
    }
}
