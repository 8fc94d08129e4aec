import FieldworkGeometry
import FieldworkREST

/// What the server says about itself.
enum ServerInfo {
    /// The release of the protocol that the answers follow; clients compare it as a number.
    static let currentVersion = 11.2

    /// `rest/info`. Nobody has to sign in.
    static let json: JSONValue = [
        "currentVersion": .number(currentVersion), "fullVersion": "11.2.0",
        "authInfo": ["isTokenBasedSecurity": false],
    ]

    /// `rest/services` and its folders; names include the folder. Each service has two faces.
    static func catalog(folders: [String], names: [ServiceName]) -> JSONValue {
        [
            "currentVersion": .number(currentVersion),
            "folders": .array(folders.map(JSONValue.string)),
            "services": .array(
                names.flatMap { name in
                    ServiceFace.allCases.map { ["name": .string(name.path), "type": .string($0.rawValue)] }
                }),
        ]
    }
}

/// The kinds of service as which a service can be addressed, spelled as in addresses.
enum ServiceFace: String, Sendable, Hashable, CaseIterable {
    case feature = "FeatureServer"
    case map = "MapServer"
}
