package import FieldworkGeometry

/// An index that a layer's definition lists under `indexes`.
package struct DeclaredIndex: Sendable, Hashable {
    package var name: String
    package var fields: [String]
    package var isUnique = false
    package var isAscending = true
    /// Whether texts are found by any part of them (`indexType`), not by their beginning.
    package var isFullText = false

    package static let member = "indexes"
    private static let fullText = "FullText"

    package init(name: String, fields: [String], isUnique: Bool = false, isFullText: Bool = false) {
        (self.name, self.fields, self.isUnique, self.isFullText) = (name, fields, isUnique, isFullText)
    }

    /// nil for what has no name or no fields.
    package init?(json: JSONValue) {
        guard let name = json["name"]?.stringValue, let fields = json["fields"]?.stringValue else { return nil }
        self.name = name
        self.fields = fields.split(separator: ",").map { field in
            String(field.trimmingPrefix { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        isUnique = json["isUnique"]?.boolValue ?? false
        isAscending = json["isAscending"]?.boolValue ?? true
        isFullText = json["indexType"]?.stringValue?.lowercased() == Self.fullText.lowercased()
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.append("name", .string(name))
        object.append("fields", .string(fields.joined(separator: ",")))
        object.append("isAscending", .bool(isAscending))
        object.append("isUnique", .bool(isUnique))
        object.append("description", .string(""))
        if isFullText { object.append("indexType", .string(Self.fullText)) }
        return .object(object)
    }
}

extension LayerDefinition {
    package var declaredIndexes: [DeclaredIndex] {
        (unknownMembers[DeclaredIndex.member]?.arrayValue ?? []).compactMap(DeclaredIndex.init)
    }
}
