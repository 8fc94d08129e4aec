import FieldworkGeometry
import FieldworkPortal
import FieldworkServer

/// Who the server of a folder was started for last: noted at each start, told by `fieldwork doctor`.
struct ServedSettings: Sendable, Hashable {
    var host: String
    /// Whether other machines reach it, directly or by its public address.
    var isReachable: Bool
    var isOpen: Bool
    var isEncrypted: Bool
    /// Whether pages of every site may read.
    var isReadByAllSites: Bool
    /// Sites whose pages may edit.
    var editingSites: [String]

    init(_ listen: ListenOptions, _ rules: AccessRules, hasTLS: Bool) {
        host = listen.host
        isReachable = !listen.isLoopback || rules.publicAddress != nil
        isOpen = listen.open
        isEncrypted = hasTLS || rules.publicAddress?.text.hasPrefix("https:") == true
        isReadByAllSites = rules.isReadByAll
        editingSites = rules.editors.map(\.text).sorted()
    }

    private static let mark = "served"

    /// A server that can't note it serves all the same.
    func note(in portal: Portal?) async {
        let json: JSONValue = [
            "host": .string(host), "isReachable": .bool(isReachable), "isOpen": .bool(isOpen),
            "isEncrypted": .bool(isEncrypted), "isReadByAllSites": .bool(isReadByAllSites),
            "editingSites": .array(editingSites.map(JSONValue.string)),
        ]
        try? await portal?.setMark(json.text, Self.mark)
    }

    /// nil where no server was started since settings are noted.
    init?(notedIn portal: Portal) async throws {
        guard let text = try await portal.mark(Self.mark), let json = try? JSONParser.parse(text) else { return nil }
        host = json["host"]?.stringValue ?? ""
        isReachable = json["isReachable"]?.boolValue ?? false
        isOpen = json["isOpen"]?.boolValue ?? false
        isEncrypted = json["isEncrypted"]?.boolValue ?? false
        isReadByAllSites = json["isReadByAllSites"]?.boolValue ?? false
        editingSites = json["editingSites"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }
}
