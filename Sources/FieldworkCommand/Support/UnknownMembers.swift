import FieldworkGeometry
import FieldworkREST

/// Members of a definition document that Fieldwork does not know. They are kept, since documents of the protocol have such; but one
/// that is almost a known one is a slip.
enum UnknownMembers {
    /// Throws `CommandFailure` for a slip, and says what else was new.
    /// - Parameter current: the service before; its members are no news.
    static func check(_ changed: ServiceDefinition, replacing current: ServiceDefinition? = nil) throws {
        let model = current ?? changed
        try check(
            changed.unknownMembers, known(model.document, except: model.unknownMembers), current?.unknownMembers, "")
        for (index, layer) in changed.layers.enumerated() {
            let old = current?.layers.first { $0.id == layer.id }
            let document = (model.document["layers"]?.arrayValue ?? []) + (model.document["tables"]?.arrayValue ?? [])
            let members = document.first { $0["id"]?.integerValue == Int64(layer.id) } ?? document.first ?? .null
            let unknown = old?.unknownMembers ?? layer.unknownMembers
            try check(layer.unknownMembers, known(members, except: unknown), old?.unknownMembers, "layers[\(index)].")
        }
    }

    private static func known(_ document: JSONValue, except unknown: JSONObject) -> Set<String> {
        Set((document.objectValue?.members ?? []).map(\.key)).subtracting(unknown.members.map(\.key))
    }

    private static func check(
        _ members: JSONObject, _ known: Set<String>, _ old: JSONObject?, _ place: String
    ) throws {
        for member in members.members where old?[member.key] == nil {
            if let near = known.filter({ isSlip(member.key, of: $0) }).min() {
                throw CommandFailure(
                    .badData, "\(place)\(member.key) is no member of a definition. Is it \(near)? Nothing was changed.")
            }
            Terminal.error("\(place)\(member.key) is kept as it is: Fieldwork does not know it")
        }
    }

    /// Whether at most two letters that are changed, added or left out make one of the other; case aside.
    static func isSlip(_ one: String, of other: String) -> Bool {
        let (a, b) = (Array(one.lowercased()), Array(other.lowercased()))
        guard abs(a.count - b.count) <= 2, (6...64).contains(min(a.count, b.count)), max(a.count, b.count) <= 64 else {
            return false
        }
        var row = Array(0...b.count)
        for (index, letter) in a.enumerated() {
            var corner = row[0]
            row[0] = index + 1
            for column in b.indices {
                let change = corner + (letter == b[column] ? 0 : 1)
                corner = row[column + 1]
                row[column + 1] = min(change, corner + 1, row[column] + 1)
            }
        }
        return row[b.count] <= 2
    }
}
