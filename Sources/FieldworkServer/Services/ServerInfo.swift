import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

/// What the server says about itself.
enum ServerInfo {
    /// The release of the protocol that the answers follow; clients compare it as a number.
    static let currentVersion = 11.2

    /// `rest/info`: where tokens come from. Nobody has to sign in for it.
    static func answer(_ context: RouteContext) async throws -> Answer {
        var json = JSONObject(["currentVersion": .number(currentVersion), "fullVersion": "11.2.0"])
        let base = "\(context.request.origin)/\(context.server.instance)"
        if try await hasPeople(context) {
            // The portal and its server are one: a token of either opens both.
            json["owningSystemUrl"] = .string(base)
            json["authInfo"] = [
                "isTokenBasedSecurity": true, "tokenServicesUrl": .string("\(base)/tokens/generateToken"),
                "shortLivedTokenValidity": 60,
            ]
        } else {
            json["authInfo"] = ["isTokenBasedSecurity": false]
        }
        return Answer.json(.object(json), format: try context.jsonFormat).tagged()
    }

    /// `sharing/rest/info`.
    static func portalAnswer(_ context: RouteContext) async throws -> Answer {
        let base = "\(context.request.origin)/\(context.server.instance)"
        let json: JSONValue = [
            "owningSystemUrl": .string(base),
            "authInfo": [
                "tokenServicesUrl": .string("\(base)/sharing/rest/generateToken"),
                "isTokenBasedSecurity": .bool(try await hasPeople(context)),
            ],
        ]
        return Answer.json(json, format: try context.jsonFormat).tagged()
    }

    private static func hasPeople(_ context: RouteContext) async throws -> Bool {
        try await context.server.access.portal?.hasPeople() ?? false
    }

    /// The kind of service that a locator is, as addresses spell it.
    static let locatorType = "GeocodeServer"

    /// `rest/services` and its folders; names include the folder. Each service of features has three faces.
    static func catalog(folders: [String], names: [ServiceName], others: [CatalogueEntry] = []) -> JSONValue {
        let entries = names.flatMap { name in
            ServiceFace.allCases.map { CatalogueEntry(name: name, type: $0.rawValue) }
        }
        let services = (entries + others).map { entry -> JSONValue in
            ["name": .string(entry.name.path), "type": .string(entry.type)]
        }
        return [
            "currentVersion": .number(currentVersion), "folders": .array(folders.map(JSONValue.string)),
            "services": .array(services),
        ]
    }
}

/// The kinds of service as which a service can be addressed, spelled as in addresses.
enum ServiceFace: String, Sendable, Hashable, CaseIterable {
    case feature = "FeatureServer"
    case map = "MapServer"
    case vectorTile = "VectorTileServer"
}

/// What the catalogue lists.
struct CatalogueEntry: Sendable, Hashable {
    let name: ServiceName
    /// As addresses spell it: `FeatureServer`.
    let type: String
}
