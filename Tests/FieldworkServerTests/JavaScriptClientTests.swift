import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// What the vendor's JavaScript client (arcgis-rest-js 4.10) sends, in its order and with its parameters, and what it reads of the
/// answers.
@Suite("The vendor's JavaScript client", .fewAtATime)
struct JavaScriptClientTests {
    private static let portal = "/arcgis/sharing/rest"
    private static let referer = ("Referer", "@esri/arcgis-rest-js")

    /// `ArcGISIdentityManager.signIn`.
    private static func signIn(_ people: PeopleServer, as name: String) async throws -> String {
        let answer = try await people.client.post(
            "\(portal)/generateToken",
            [
                "f": "json", "username": name, "password": PeopleServer.password, "expiration": "20160",
                "client": "referer", "referer": referer.1,
            ], headers: [referer]
        ).json
        #expect(answer["expires"]?.integerValue != nil)
        return try #require(answer["token"]?.stringValue, "\(answer.text)")
    }

    private static func post(
        _ people: PeopleServer, _ path: String, _ parameters: KeyValuePairs<String, String>
    ) async throws -> JSONValue {
        try await people.client.post(path, parameters, headers: [referer]).json
    }

    private static func get(
        _ people: PeopleServer, _ path: String, _ parameters: KeyValuePairs<String, String>
    ) async throws -> JSONValue {
        try await people.client.get(
            path, parameters, headers: [referer, ("Content-Type", "application/x-www-form-urlencoded")]
        ).json
    }

    @Test("It signs in, finds out that the server belongs to the portal, and gets a token of its own for it")
    func federation() async throws {
        try await PeopleServer.with { people in
            let token = try await Self.signIn(people, as: "editor")
            let own = try await Self.get(people, "\(Self.portal)/community/self", ["f": "json", "token": token])
            #expect(own["username"] == "editor")
            let about = try await Self.get(people, "\(Self.portal)/portals/self", ["f": "json", "token": token])
            #expect(about["authorizedCrossOriginDomains"]?.arrayValue != nil)
            let info = try await Self.post(people, "/arcgis/rest/info", ["f": "json"])
            let owner = try #require(info["owningSystemUrl"]?.stringValue)
            // The client takes the address without its scheme for a part of the portal's.
            let bare = try #require(owner.components(separatedBy: "://").last)
            let address = try #require(URL(string: people.client.base)).absoluteString
            #expect(address.lowercased().contains(bare.lowercased()))
            let path = try #require(URL(string: owner)).path
            let portalInfo = try await Self.post(people, "\(path)/sharing/rest/info", ["f": "json"])
            let service = try #require(
                portalInfo["authInfo"]?["tokenServicesUrl"]?.stringValue.flatMap(URL.init(string:)))
            let exchanged = try await Self.post(
                people, service.path,
                [
                    "f": "json", "token": token, "serverUrl": owner, "expiration": "20160", "client": "referer",
                    "referer": Self.referer.1,
                ])
            let other = try #require(exchanged["token"]?.stringValue, "\(exchanged.text)")
            #expect(exchanged["expires"]?.integerValue != nil)
            let found = try await Self.get(
                people, "Trees/FeatureServer/0/query",
                ["f": "json", "where": "1=1", "outFields": "*", "token": other])
            #expect(found["features"]?.arrayValue?.count == 2, "\(found.text)")
        }
    }

    @Test("A token that has ended is answered by 498, and one that is missing by 499, with status 200")
    func errors() async throws {
        try await PeopleServer.with { people in
            for (token, code) in [("ended", 498), ("", 499)] {
                let answer = try await people.client.get(
                    "Trees/FeatureServer/0", token.isEmpty ? ["f": "json"] : ["f": "json", "token": token],
                    headers: [Self.referer])
                #expect(answer.status == 200 && answer.errorCode == code, "\(answer.text)")
            }
        }
    }

    @Test("It asks whether an application may be used, and ends a sign-in at the address with a slash")
    func applications() async throws {
        try await PeopleServer.with { people in
            let token = try await Self.signIn(people, as: "viewer")
            let valid = try await Self.post(
                people, "\(Self.portal)/oauth2/validateAppAccess",
                ["f": "json", "client_id": "fieldwork", "token": token])
            #expect(valid["valid"] == true && valid["viewOnlyUserTypeApp"]?.boolValue != nil, "\(valid.text)")
            let ended = try await Self.post(
                people, "\(Self.portal)/oauth2/revokeToken/",
                ["f": "json", "client_id": "fieldwork", "auth_token": token])
            #expect(ended["success"] == true)
        }
    }

    @Test("It adds a map whose data it sends as data, shares it, finds it, and reads it")
    func content() async throws {
        try await PeopleServer.with { people in
            let token = try await Self.signIn(people, as: "owner")
            let user = "\(Self.portal)/content/users/owner"
            let added = try await Self.post(
                people, "\(user)/addItem",
                [
                    "f": "json", "title": "Oaks", "type": "Web Map", "tags": "oak,street",
                    "data": #"{"operationalLayers":[],"version":"2.31"}"#, "token": token,
                ])
            #expect(added["success"] == true, "\(added.text)")
            let id = try #require(added["id"]?.stringValue)
            let data = try await Self.get(
                people, "\(Self.portal)/content/items/\(id)/data", ["f": "json", "token": token])
            #expect(data["version"] == "2.31")
            let changed = try await Self.post(
                people, "\(user)/items/\(id)/update", ["f": "json", "id": id, "title": "Old oaks", "token": token])
            #expect(changed["success"] == true)
            // setItemAccess, to the public and back.
            for (everyone, organisation, groups, access) in [
                ("true", "false", "", "public"), ("false", "false", " ", "private"),
            ] {
                let shared = try await Self.post(
                    people, "\(user)/items/\(id)/share",
                    [
                        "f": "json", "everyone": everyone, "org": organisation, "account": everyone, "groups": groups,
                        "token": token,
                    ])
                #expect(shared["itemId"]?.stringValue == id && shared["notSharedWith"]?.arrayValue?.isEmpty == true)
                let item = try await Self.get(
                    people, "\(Self.portal)/content/items/\(id)", ["f": "json", "token": token])
                #expect(item["access"]?.stringValue == access)
            }
            let found = try await Self.get(
                people, "\(Self.portal)/search", ["f": "json", "q": "title:\"old oaks\"", "num": "10", "token": token])
            #expect(found["total"] == 1 && found["results"]?[0]?["id"]?.stringValue == id)
            let removed = try await Self.post(
                people, "\(user)/items/\(id)/delete", ["f": "json", "token": token])
            #expect(removed["success"] == true)
        }
    }

    @Test("It shares a map with a group after it has asked whether that is done already")
    func groups() async throws {
        try await PeopleServer.with { people in
            let token = try await Self.signIn(people, as: "owner")
            let made = try await Self.post(
                people, "\(Self.portal)/community/createGroup",
                ["f": "json", "title": "Crew", "access": "org", "tags": "crew", "token": token])
            let group = try #require(made["group"]?["id"]?.stringValue, "\(made.text)")
            let added = try await Self.post(
                people, "\(Self.portal)/content/users/owner/addItem",
                ["f": "json", "title": "Elms", "type": "Web Map", "text": "{}", "token": token])
            let id = try #require(added["id"]?.stringValue)
            func isShared() async throws -> Bool {
                let found = try await Self.post(
                    people, "\(Self.portal)/search",
                    ["f": "json", "q": "id: \(id) AND group: \(group)", "sortField": "title", "token": token])
                return found["results"]?[0]?["id"]?.stringValue == id
            }
            #expect(try await isShared() == false)
            for path in ["community/self", "community/users/owner", "community/groups/\(group)"] {
                let answer = try await Self.get(people, "\(Self.portal)/\(path)", ["f": "json", "token": token])
                #expect(answer["error"] == nil, "\(answer.text)")
            }
            let shared = try await Self.post(
                people, "\(Self.portal)/content/users/owner/items/\(id)/share",
                ["f": "json", "groups": group, "confirmItemControl": "false", "token": token])
            #expect(shared["notSharedWith"]?.arrayValue?.isEmpty == true, "\(shared.text)")
            #expect(try await isShared())
        }
    }

    @Test("It makes a service and adds layers to its definition, where the name is free")
    func services() async throws {
        try await PeopleServer.with { people in
            let token = try await Self.signIn(people, as: "owner")
            func isFree() async throws -> JSONValue? {
                try await Self.get(
                    people, "\(Self.portal)/portals/self/isServiceNameAvailable",
                    ["f": "json", "name": "Benches", "type": "Feature Service", "token": token])["available"]
            }
            #expect(try await isFree() == true)
            let made = try await Self.post(
                people, "\(Self.portal)/content/users/owner/createService",
                [
                    "f": "json", "outputType": "featureService", "token": token,
                    "createParameters": #"{"name":"Benches","capabilities":"Create,Query,Update,Delete,Editing"}"#,
                ])
            #expect(made["success"] == true, "\(made.text)")
            #expect(try await isFree() == false)
            let address = try #require(made["serviceurl"]?.stringValue.flatMap(URL.init(string:)))
            let administration = address.path.replacing("/rest/services/", with: "/rest/admin/services/")
            let layer = """
                {"layers":[{"id":0,"name":"Benches","type":"Feature Layer","geometryType":"esriGeometryPoint",
                "fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"},{"name":"state","type":"esriFieldTypeString","length":20}],
                "extent":{"xmin":-180,"ymin":-90,"xmax":180,"ymax":90,"spatialReference":{"wkid":4326}}}]}
                """
            let defined = try await Self.post(
                people, "\(administration)/addToDefinition",
                ["f": "json", "addToDefinition": layer, "token": token])
            #expect(defined["success"] == true, "\(defined.text)")
            let added = try await Self.post(
                people, "\(address.path)/0/addFeatures",
                [
                    "f": "json", "token": token,
                    "features": #"[{"geometry":{"x":-122,"y":45},"attributes":{"state":"good"}}]"#,
                ])
            #expect(added["addResults"]?[0]?["success"] == true, "\(added.text)")
        }
    }

    @Test("It sends questions for addresses as forms")
    func geocoding() async throws {
        try await PeopleServer.with { people in
            let token = try await Self.signIn(people, as: "administrator")
            let locator = "Trees/GeocodeServer"
            for (operation, parameters, member) in [
                ("findAddressCandidates", ("singleLine", "Oak"), "candidates"),
                ("suggest", ("text", "Oak"), "suggestions"),
            ] {
                let answer = try await Self.post(
                    people, "\(locator)/\(operation)", ["f": "json", parameters.0: parameters.1, "token": token])
                #expect(answer[member]?.arrayValue != nil, "\(answer.text)")
            }
            // Either the address, or the protocol's word that there is none.
            let reverse = try await Self.post(
                people, "\(locator)/reverseGeocode", ["f": "json", "location": "-122,45", "token": token])
            #expect(reverse["address"] != nil || reverse["error"]?["code"] == 400, "\(reverse.text)")
        }
    }
}
