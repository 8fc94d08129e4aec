import FieldworkGeometry
import FieldworkREST
import Foundation

/// Finds what changed in the attachments of the rows that a client keeps. Attachments come and go with their features: those
/// of a feature that came into the client's rows are adds, those of one that left them go with it, without a word.
struct AttachmentDeltaReader {
    let layer: StoredLayer
    let connection: StoreConnection
    /// The replica whose client asks.
    var replicaID: UUID?
    /// Whether a feature belongs to the rows that the client keeps.
    let contains: (Int64) throws -> Bool

    struct Delta {
        /// Ids of attachments.
        var adds: [Int64] = []
        var updates: [Int64] = []
        var deletes: [UUID] = []
    }

    private struct Entry {
        var id: Int64
        var isNew: Bool
        /// Whether the client itself handed in a part of it: it has the attachment, though it is new in the log.
        var isOwn: Bool
        var lastGeneration: Int64
        /// The generation of the first change of all, to tell the client's own upload from others' work.
        var firstGeneration: Int64
        var globalID: UUID?
        /// nil when the attachment is gone.
        var parent: Int64?
    }

    /// - Parameters:
    ///   - generation: the state that the client has.
    ///   - features: what changed in the features themselves.
    ///   - upload: what the client has just handed in, and the generation that it became.
    func delta(
        after generation: Int64, features: LayerDelta, upload: AttachmentEdits?, uploadGeneration: Int64?
    ) throws -> Delta {
        let arrived = Set(features.adds + features.returned)
        let deleted = Set(
            (upload?.deletes ?? []).compactMap { delete -> UUID? in
                guard case .globalID(let id) = delete.identifier else { return nil }
                return id
            })
        let handedIn = Set(((upload?.adds ?? []) + (upload?.updates ?? [])).compactMap(\.globalID))
        var delta = Delta()
        var seen: Set<Int64> = []
        var there: Set<UUID> = []
        for entry in try entries(after: generation) {
            seen.insert(entry.id)
            guard let parent = entry.parent else {
                if !entry.isNew || entry.isOwn, let globalID = entry.globalID, !deleted.contains(globalID) {
                    delta.deletes.append(globalID)
                }
                continue
            }
            // What only the upload itself has changed is at the client already.
            let isEcho =
                entry.globalID.map(handedIn.contains) == true && entry.firstGeneration == uploadGeneration
                && entry.lastGeneration == uploadGeneration
            guard try contains(parent) else { continue }
            if let globalID = entry.globalID { there.insert(globalID) }
            if isEcho { continue }
            if entry.isNew || arrived.contains(parent) {
                delta.adds.append(entry.id)
            } else {
                delta.updates.append(entry.id)
            }
        }
        // One that was deleted and came back has another id; its global id says that it is the same.
        delta.deletes.removeAll(where: there.contains)
        delta.adds += try ids(of: features.adds + features.returned).filter { !seen.contains($0) }
        seen.formUnion(delta.adds)
        try tellOutcomes(handedIn, deleted: deleted, uploadGeneration, seen, &delta)
        return delta
    }

    /// What became of edits that nothing was written down for since the client's state: the service keeps the attachment
    /// otherwise, or deleted, from a generation that the client passed while it had an edit of its own on it.
    private func tellOutcomes(
        _ handedIn: Set<UUID>, deleted: Set<UUID>, _ uploadGeneration: Int64?, _ seen: Set<Int64>, _ delta: inout Delta
    ) throws {
        let versions = AttachmentVersionReader(layer: layer, connection: connection)
        var open: [Int64] = []
        for globalID in handedIn.union(deleted).sorted(by: { $0.uuidString < $1.uuidString }) {
            if let current = try versions.current(globalID) {
                if !seen.contains(current.id), try contains(current.parentObjectID) { open.append(current.id) }
            } else if handedIn.contains(globalID), try versions.deleted(globalID) != nil,
                !delta.deletes.contains(globalID)
            {
                // What could not be applied at all was never there, and is the client's to keep.
                delta.deletes.append(globalID)
            }
        }
        if open.isEmpty { return }
        // As the upload left it, it is at the client.
        let known = try uploadGeneration.map(ids(lastChangedIn:)) ?? []
        delta.updates += open.filter { !known.contains($0) }
    }

    private func ids(lastChangedIn generation: Int64) throws -> Set<Int64> {
        var ids: Set<Int64> = []
        try connection.run(
            """
            SELECT attachment_id FROM \(AttachmentTables.changes) WHERE layer_id = ? AND generation >= ?
            GROUP BY attachment_id HAVING max(generation) = ?
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(generation, at: 2)
                try $0.bind(generation, at: 3)
            }, row: { ids.insert($0.integer(0)) })
        return ids
    }

    private func entries(after generation: Int64) throws -> [Entry] {
        var entries: [Entry] = []
        try connection.run(
            """
            SELECT c.attachment_id, min(CASE WHEN c.operation = 0 THEN c.generation END), max(c.generation),
                min(c.generation), max(coalesce(a.globalid, h.globalid)), max(a.base_id),
                max(CASE WHEN o.replica_id IS NULL THEN 0 ELSE 1 END)
            FROM \(AttachmentTables.changes) AS c
            LEFT JOIN fieldwork_generation_origins AS o ON o.generation = c.generation AND o.replica_id = ?3
            LEFT JOIN \(quoted(layer.attachmentTable)) AS a ON a.attachmentid = c.attachment_id
            LEFT JOIN \(quoted(layer.attachmentHistoryTable)) AS h ON h.fieldwork_version = (
                SELECT max(fieldwork_version) FROM \(quoted(layer.attachmentHistoryTable))
                WHERE attachmentid = c.attachment_id)
            WHERE c.layer_id = ?1 AND c.generation > ?2 GROUP BY c.attachment_id ORDER BY c.attachment_id
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(generation, at: 2)
                try $0.bind(replicaID?.uuidString ?? "", at: 3)
            },
            row: { row in
                let added = row.isNull(1) ? nil : row.integer(1)
                entries.append(
                    Entry(
                        // One that was deleted first was there before, and was restored.
                        id: row.integer(0), isNew: added == row.integer(3), isOwn: row.integer(6) != 0,
                        lastGeneration: row.integer(2),
                        firstGeneration: row.integer(3), globalID: row.optionalText(4).flatMap(GUID.parse),
                        parent: row.isNull(5) ? nil : row.integer(5)))
            })
        return entries
    }

    private func ids(of features: [Int64]) throws -> [Int64] {
        var ids: [Int64] = []
        for chunk in features.chunks(of: Limits.idsPerStatement) {
            let list = JSONValue.array(chunk.map { .integer($0) }).text
            try connection.run(
                """
                SELECT attachmentid FROM \(quoted(layer.attachmentTable))
                WHERE base_id IN (\(connection.dialect.integersOfArray)) ORDER BY attachmentid
                """, bind: { try $0.bind(.text(list), at: 1) }, row: { ids.append($0.integer(0)) })
        }
        return ids
    }
}
