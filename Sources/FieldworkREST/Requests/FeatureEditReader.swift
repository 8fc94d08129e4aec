import FieldworkGeometry
import Foundation

/// Reads the features of edits. What is wrong with one feature is its own failure and not its neighbours'.
struct FeatureEditReader: Sendable {
    let layer: LayerDefinition
    let usesGlobalIDs: Bool

    enum Kind: Sendable {
        case add, update
    }

    /// The features of an array. Throws when it is none.
    ///
    /// They are read one by one: no more than one of them is in memory as JSON, and none behind the last that may be.
    /// - Parameter finish: adds what else the JSON of a feature says.
    func edits(
        _ text: JSONText?, _ kind: Kind, name: String, finish: (inout FeatureEdit, JSONValue) -> Void = { _, _ in }
    ) throws(ServiceError) -> [FeatureEdit] {
        guard let text, !text.isNull else { return [] }
        guard text.isArray else { throw .invalidParameter("'\(name)' must be an array of features.") }
        var edits: [FeatureEdit] = []
        try text.forEachElement { element throws(ServiceError) in
            guard edits.count < Limits.editCount else {
                throw .invalidParameter(
                    "'\(name)' may hold \(Limits.editCount) features. Send them in several requests.")
            }
            let json = try element.read(as: "'\(name)'")
            var edit = edit(json, kind)
            finish(&edit, json)
            edits.append(edit)
        }
        return edits
    }

    private func edit(_ json: JSONValue, _ kind: Kind) -> FeatureEdit {
        var edit = FeatureEdit()
        do throws(EditError) {
            guard let feature = json.objectValue else { throw Self.unreadable("A feature must be a JSON object.") }
            try readAttributes(feature["attributes"] ?? .null, kind, into: &edit)
            try readGeometry(feature["geometry"], into: &edit)
        } catch {
            edit.rejection = error
        }
        return edit
    }

    private func readAttributes(_ json: JSONValue, _ kind: Kind, into edit: inout FeatureEdit) throws(EditError) {
        if json.isNull { return }
        guard let attributes = json.objectValue else { throw Self.unreadable("'attributes' must be a JSON object.") }
        edit.attributes.reserveCapacity(attributes.count)
        for member in attributes.members {
            if Self.isSame(member.key, layer.objectIDField) {
                switch kind {
                case .update: edit.objectID = try objectID(member.value)
                // A new feature gets its id from the server. A negative one stands for it within the request.
                case .add: edit.provisionalObjectID = member.value.integerValue.flatMap { $0 < 0 ? $0 : nil }
                }
            } else if let globalIDField = layer.globalIDField, Self.isSame(member.key, globalIDField) {
                // Without `useGlobalIds` the server gives the ids: what a client sends only names the feature in its request.
                if usesGlobalIDs {
                    edit.globalID = try globalID(member.value)
                } else if kind == .add {
                    edit.provisionalGlobalID = member.value.stringValue.flatMap(GUID.parse)
                }
            } else {
                edit.attributes.append((member.key, try value(member)))
            }
        }
    }

    private func value(_ member: JSONObject.Member) throws(EditError) -> AttributeValue {
        switch member.value {
        case .array, .object:
            throw Self.unreadable("The value of '\(member.key.prefix(64))' must be a text, a number or null.")
        default: return AttributeValue(json: member.value)
        }
    }

    private func objectID(_ json: JSONValue) throws(EditError) -> Int64? {
        if json.isNull { return nil }
        guard let id = json.integerValue ?? json.stringValue.flatMap({ Int64($0) }) else {
            throw Self.unreadable("The object id is no integer.")
        }
        return id
    }

    private func globalID(_ json: JSONValue) throws(EditError) -> UUID? {
        if json.isNull { return nil }
        guard let id = json.stringValue.flatMap(GUID.parse) else { throw Self.unreadable("The global id is none.") }
        return id
    }

    /// A missing geometry stays as it is; null takes it away. Tables have none, whatever is sent.
    private func readGeometry(_ json: JSONValue?, into edit: inout FeatureEdit) throws(EditError) {
        guard let json, !layer.isTable else { return }
        try checkParts(json)
        let geometry: Geometry?
        do {
            geometry = try Self.geometry(json, in: layer.spatialReference)
        } catch {
            throw Self.unreadable("Geometry: \(error.details)")
        }
        guard let geometry else {
            // What was meant to be a geometry must not take away the one that is there.
            let parts = Self.parts.flatMap { json[$0]?.arrayValue ?? [] }
            guard parts.isEmpty else { throw Self.unreadable("Geometry: no part has enough vertices.") }
            edit.geometry = .null
            return
        }
        edit.geometry = .geometry(geometry)
    }

    private static func geometry(
        _ json: JSONValue, in reference: SpatialReference?
    ) throws(GeometryError) -> Geometry? {
        let read = try GeoServicesJSON.geometry(from: json, defaultSpatialReference: reference, openRings: .reject)
        guard let read, let reference else { return read }
        return try GeometryEngine.projected(read, into: reference)
    }

    private static let parts = ["rings", "paths", "points", "curveRings", "curvePaths"]

    /// A ring has at least three corners and ends where it starts, a path has two ends.
    private func checkParts(_ json: JSONValue) throws(EditError) {
        for path in json["paths"]?.arrayValue ?? [] {
            guard let vertices = path.arrayValue, vertices.count >= 2 else {
                throw Self.unreadable("Geometry: a path needs two vertices.")
            }
        }
        for ring in json["rings"]?.arrayValue ?? [] {
            guard let vertices = ring.arrayValue, vertices.count >= 4 else {
                throw Self.unreadable("Geometry: a ring needs four vertices, of which the last is the first.")
            }
        }
    }

    private static func unreadable(_ description: String) -> EditError {
        EditError(code: 1000, description: description)
    }

    private static func isSame(_ name: String, _ other: String) -> Bool {
        name == other || (name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased())
    }
}
