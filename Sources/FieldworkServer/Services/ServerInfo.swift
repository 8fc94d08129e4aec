import FieldworkGeometry
import FieldworkREST

/// What the server says about itself.
enum ServerInfo {
    /// The release of the protocol that the answers follow; clients compare it as a number.
    static let currentVersion = 11.2

    /// `rest/info` (rest-api §1.7). Nobody has to sign in.
    static let json: JSONValue = [
        "currentVersion": .number(currentVersion), "fullVersion": "11.2.0",
        "authInfo": ["isTokenBasedSecurity": false],
    ]

    /// `rest/services` and its folders; names include the folder (rest-api §1.8).
    static func catalog(folders: [String], names: [ServiceName]) -> JSONValue {
        [
            "currentVersion": .number(currentVersion),
            "folders": .array(folders.map(JSONValue.string)),
            "services": .array(names.map { ["name": .string($0.path), "type": "FeatureServer"] }),
        ]
    }
}
