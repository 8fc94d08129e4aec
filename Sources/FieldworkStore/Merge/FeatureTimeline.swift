import FieldworkREST
import Foundation

/// What happened to one feature since a generation: which of its fields were changed, and whether by the replica that is
/// handing in edits or by others.
struct FeatureTimeline {
    /// A column's position, or `geometry`.
    typealias Slot = Int

    static let geometry: Slot = -1

    private struct Entry {
        var generation: Int64
        var operation: FeatureChange.Operation
        var masks: [Int64]
        var isOwn: Bool

        func touches(_ column: Slot, _ slots: [Int]) -> Bool {
            guard operation == .update else { return true }
            if column == FeatureTimeline.geometry { return masks[0] & (1 << Int64(ChangeTriggers.geometryBit)) != 0 }
            let slot = slots[column]
            return masks[slot / ChangeTriggers.bitsPerMask] & (1 << Int64(slot % ChangeTriggers.bitsPerMask)) != 0
        }
    }

    /// The generation that the client had.
    let base: Int64
    private let entries: [Entry]
    private let slots: [Int]

    init(
        of objectID: Int64, in layer: StoredLayer, since base: Int64, replicaID: UUID, on connection: StoreConnection
    ) throws {
        self.base = base
        slots = layer.slots
        var entries: [Entry] = []
        let own = replicaID.uuidString
        try connection.run(
            """
            SELECT c.generation, c.operation, c.changed_1, c.changed_2, c.changed_3, c.changed_4, o.replica_id
            FROM fieldwork_changes AS c
            LEFT JOIN fieldwork_generation_origins AS o ON o.generation = c.generation
            WHERE c.layer_id = ? AND c.object_id = ? AND c.generation > ? ORDER BY c.generation, c.operation
            """,
            bind: {
                try $0.bind(Int64(layer.definition.id), at: 1)
                try $0.bind(objectID, at: 2)
                try $0.bind(base, at: 3)
            },
            row: { row in
                entries.append(
                    Entry(
                        generation: row.integer(0),
                        operation: FeatureChange.Operation(number: row.integer(1)) ?? .update,
                        masks: (2..<2 + ChangeTriggers.maskCount).map { row.isNull($0) ? 0 : row.integer($0) },
                        isOwn: row.optionalText(6) == own))
            })
        self.entries = entries
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The state of a slot that the client has seen: its base, or what it handed in itself since.
    func seen(_ slot: Slot) -> Int64 { entries.last { $0.isOwn && $0.touches(slot, slots) }?.generation ?? base }

    /// Whether somebody else has changed a slot and the client does not know.
    func isContested(_ slot: Slot) -> Bool { (otherChange(of: slot) ?? .min) > seen(slot) }

    /// The generation in which somebody else changed a slot last.
    func otherChange(of slot: Slot) -> Int64? { entries.last { !$0.isOwn && $0.touches(slot, slots) }?.generation }
}
