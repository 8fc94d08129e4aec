import FieldworkGeometry
import FieldworkREST

/// What is in one JSON value and not in another. What the other has besides is no loss.
///
/// The rules by which our form differs from the recorded one, each with its reason, are `isNormalized` and
/// `normalized(geometry:)`: there are no others.
enum Losses {
    /// The paths of members that are gone or have another value.
    static func between(_ before: JSONValue, _ after: JSONValue?, _ path: String = "") -> [String] {
        // Null is what is not said.
        if before.isNull { return [] }
        guard let after else { return ["\(path): gone"] }
        switch (before, after) {
        case (.object(let object), .object(let other)):
            return object.members.flatMap { member in
                isNormalized(member, path) ? [] : between(member.value, other[member.key], "\(path)/\(member.key)")
            }
        case (.array(let items), .array(let others)):
            // A vertex that lacks the height its geometry announces gets one.
            let isVertex = path.contains("/geometry/") && items.allSatisfy { $0.doubleValue != nil }
            guard items.count == others.count || isVertex && items.count < others.count else {
                return ["\(path): \(items.count) elements, \(others.count) kept"]
            }
            return zip(items, others).enumerated().flatMap { between($1.0, $1.1, "\(path)/\($0)") }
        default:
            if let number = before.doubleValue, number == after.doubleValue { return [] }
            if before == after { return [] }
            return ["\(path): \(before.text.prefix(80)) became \(after.text.prefix(80))"]
        }
    }

    private static func isNormalized(_ member: JSONObject.Member, _ path: String) -> Bool {
        let isEmpty = member.value.stringValue?.isEmpty == true
        switch member.key {
        // The words have no order: `sameWords` compares them.
        case "capabilities": return true
        // The register of the machine does not know which number took the place of one of the vendor's; the first number
        // names the same system. Those that everybody uses are known.
        case "latestWkid": return member.value != 3_857 && member.value != 4_326
        // Only texts have lengths, and one of no number or of the largest is any length.
        case "length": return true
        // A feature layer of a map service, and a layer of an old server that tells no type, are feature layers.
        case "type": return path.isEmpty && member.value == "Feature Layer"
        // An inherited domain has the name of the one that it inherits.
        case "name": return path.contains("/domains/")
        // What a service says of itself twice in the same words, a definition says once.
        case "serviceDescription": return path.isEmpty && isEmpty
        // No field is what is not said.
        case "globalIdFieldName", "objectIdFieldName": return isEmpty
        default: return false
        }
    }

    static func sameWords(_ before: JSONValue?, _ after: JSONValue?) -> Bool {
        func words(_ text: JSONValue?) -> Set<String> {
            Set((text?.stringValue ?? "").split(separator: ",").map { $0.filter { $0 != " " } })
        }
        return before == nil || words(before).isSubset(of: words(after))
    }

    /// A recorded geometry in our form; null when nothing is left of it.
    static func normalized(geometry: JSONValue) -> JSONValue {
        guard var object = geometry.objectValue else { return geometry }
        for (key, least) in [("rings", 4), ("paths", 2)] {
            guard let parts = object[key]?.arrayValue else { continue }
            let kept = parts.compactMap { part -> JSONValue? in
                guard var vertices = part.arrayValue, let first = vertices.first, let last = vertices.last else {
                    return nil
                }
                let isClosed = place(first) == place(last)
                if key == "rings" {
                    // A ring ends where it starts, in height as well: its last vertex is its first.
                    if isClosed { vertices[vertices.count - 1] = first } else { vertices.append(first) }
                }
                // A part without length or area is none.
                return vertices.count < least ? nil : .array(vertices)
            }
            if kept.isEmpty { return .null }
            object[key] = .array(kept)
        }
        // A place that is no number is none.
        if let x = object["x"], x.doubleValue == nil { return .null }
        if object["points"]?.arrayValue?.isEmpty == true { return .null }
        return .object(object)
    }

    private static func place(_ vertex: JSONValue) -> [Double] {
        vertex.arrayValue?.prefix(2).compactMap(\.doubleValue) ?? []
    }
}
