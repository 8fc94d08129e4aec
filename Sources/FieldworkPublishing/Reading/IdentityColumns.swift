package import FieldworkREST
package import Foundation

/// The columns in which a file keeps the ids of its features: those of `fieldwork export`, and whatever somebody names.
package struct IdentityColumns: Sendable {
    /// The titles of the columns.
    package var objectID: String?
    package var globalID: String?

    package func contains(_ title: String) -> Bool { title == objectID || title == globalID }

    /// The ids of a row.
    package func ids(_ value: (String) -> AttributeValue?) -> (objectID: Int64?, globalID: UUID?) {
        var ids: (objectID: Int64?, globalID: UUID?)
        switch objectID.flatMap(value) {
        case .integer(let number)?: ids.objectID = number
        case .text(let text)?: ids.objectID = Int64(FieldInference.trimmed(text))
        default: break
        }
        if case .text(let text)? = globalID.flatMap(value) { ids.globalID = GUID.parse(FieldInference.trimmed(text)) }
        return ids
    }
}

/// Looks through a file for columns of ids. One that names a feature twice, or holds anything else, is a column like others.
package struct IdentitySurvey {
    private let wanted: String?
    private var objectIDs: (title: String, seen: Set<Int64>)?
    private var globalIDs: (title: String, seen: Set<UUID>)?
    private var notes: [String] = []

    /// - Parameter wanted: the column of global ids that somebody names.
    package init(wanted: String?) { self.wanted = wanted }

    private var wantedName: String { wanted?.lowercased() ?? "globalid" }

    /// A column of the file.
    package mutating func see(title: String) {
        if title.lowercased() == "objectid", objectIDs == nil { objectIDs = (title, []) }
        if title.lowercased() == wantedName, globalIDs == nil { globalIDs = (title, []) }
    }

    /// Whether the values of a column tell something.
    func concerns(_ title: String) -> Bool { title == objectIDs?.title || title == globalIDs?.title }

    /// A value of a row.
    package mutating func see(_ value: AttributeValue, of title: String, at place: String) throws {
        if title == objectIDs?.title, !takesObjectID(value) { objectIDs = nil }
        guard title == globalIDs?.title else { return }
        let text = value.textValue.map(FieldInference.trimmed) ?? ""
        if value == .null || text.isEmpty { return }
        let id = GUID.parse(text)
        let isNew = id.map { globalIDs?.seen.insert($0).inserted ?? false } ?? false
        guard !isNew else { return }
        let reason = id == nil ? "'\(text.prefix(40))' is no global id" : "the global id \(text) is there twice"
        guard wanted == nil else { throw PublishingError(.badData, "\(place): \(title): \(reason).") }
        notes.append("\(title) is a column like others: \(reason) (\(place))")
        globalIDs = nil
    }

    private mutating func takesObjectID(_ value: AttributeValue) -> Bool {
        let number: Int64?
        switch value {
        case .integer(let integer): number = integer
        case .text(let text): number = Int64(FieldInference.trimmed(text))
        default: number = nil
        }
        guard let number, number > 0 else { return false }
        return objectIDs?.seen.insert(number).inserted ?? false
    }

    /// The columns, and what is worth saying of them.
    package func columns() throws -> (IdentityColumns, [String]) {
        if let wanted, globalIDs == nil { throw PublishingError(.badData, "There is no column \(wanted).") }
        var columns = IdentityColumns()
        if let objectIDs, !objectIDs.seen.isEmpty { columns.objectID = objectIDs.title }
        if let globalIDs, !globalIDs.seen.isEmpty { columns.globalID = globalIDs.title }
        let kept = [columns.objectID, columns.globalID].compactMap(\.self)
        return (columns, notes + (kept.isEmpty ? [] : ["Features keep the ids of \(kept.joined(separator: " and "))"]))
    }
}
