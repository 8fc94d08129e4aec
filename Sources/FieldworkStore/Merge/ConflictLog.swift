import FieldworkGeometry
import FieldworkREST
import Foundation

/// The conflicts of a service, with what lost in each.
struct ConflictLog {
    let connection: StoreConnection

    // MARK: Writing

    /// - Returns: the conflict's number.
    func add(_ conflict: MergeConflict) throws -> Int64 {
        let id = try connection.integer(
            """
            INSERT INTO fieldwork_conflicts
                (layer_id, object_id, global_id, kind, rule, winner, state, lost, won, moment)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING conflict_id
            """
        ) {
            try $0.bind(Int64(conflict.layerID), at: 1)
            try $0.bind(conflict.objectID, at: 2)
            try $0.bind(GUID.normalForm(conflict.globalID), at: 3)
            try $0.bind(conflict.kind.rawValue, at: 4)
            try $0.bind(conflict.rule.rawValue, at: 5)
            try $0.bind(conflict.winner.rawValue, at: 6)
            try $0.bind(conflict.state.rawValue, at: 7)
            try $0.bind(Self.text(lost: conflict.lost, base: conflict.base), at: 8)
            try $0.bind(conflict.won.json.text, at: 9)
            try $0.bind(DateText.text(milliseconds: conflict.moment.milliseconds), at: 10)
        }
        guard let id else { throw StoreError(.failure, "A conflict was not given a number.") }
        return id
    }

    /// What lost, and with it what was before: one of another version has no such member, and files need no other column.
    private static func text(lost: MergeConflict.Side, base: MergeConflict.Base?) -> String {
        guard let base, var object = lost.json.objectValue else { return lost.json.text }
        object.append(Self.base, base.json)
        return JSONValue.object(object).text
    }

    private static let base = "base"

    func set(_ state: MergeConflict.State, of id: Int64) throws {
        try connection.run("UPDATE fieldwork_conflicts SET state = ? WHERE conflict_id = ?") {
            try $0.bind(state.rawValue, at: 1)
            try $0.bind(id, at: 2)
        }
    }

    // MARK: Reading

    /// The newest first.
    func conflicts(in states: Set<MergeConflict.State>, limit: Int) throws -> [MergeConflict] {
        let list = JSONValue.array(states.map { .string($0.rawValue) }).text
        return try conflicts(where: "state IN (\(connection.dialect.textsOfArray)) ORDER BY conflict_id DESC LIMIT ?") {
            try $0.bind(list, at: 1)
            try $0.bind(Int64(min(limit, Limits.conflictsPerList)), at: 2)
        }
    }

    /// Features of a layer that a replica's client has deleted and the service kept.
    func keptFeatures(of layerID: Int, deletedBy replicaID: UUID) throws -> Set<Int64> {
        var found: Set<Int64> = []
        try connection.run(
            """
            SELECT object_id FROM fieldwork_conflicts
            WHERE layer_id = ? AND kind = ? AND winner = ? AND \(connection.dialect.memberText("lost", "replicaID")) = ?
            """,
            bind: {
                try $0.bind(Int64(layerID), at: 1)
                try $0.bind(MergeConflict.Kind.deleteOfUpdated.rawValue, at: 2)
                try $0.bind(MergeConflict.Winner.service.rawValue, at: 3)
                try $0.bind(replicaID.uuidString, at: 4)
            },
            row: { found.insert($0.integer(0)) })
        return found
    }

    func conflict(_ id: Int64) throws -> MergeConflict? {
        try conflicts(where: "conflict_id = ?") { try $0.bind(id, at: 1) }.first
    }

    private func conflicts(
        where condition: String, bind: (StoreStatement) throws -> Void
    ) throws -> [MergeConflict] {
        var found: [MergeConflict] = []
        try connection.run(
            """
            SELECT conflict_id, layer_id, object_id, global_id, kind, rule, winner, state, lost, won, moment
            FROM fieldwork_conflicts WHERE \(condition)
            """, bind: bind, row: { found.append(try Self.conflict($0)) })
        return found
    }

    private static func conflict(_ row: StoreStatement) throws -> MergeConflict {
        guard let globalID = GUID.parse(row.text(3)), let kind = MergeConflict.Kind(rawValue: row.text(4)),
            let rule = ConflictRule(rawValue: row.text(5)), let winner = MergeConflict.Winner(rawValue: row.text(6)),
            let state = MergeConflict.State(rawValue: row.text(7))
        else { throw StoreError(.corrupt, "The conflict \(row.integer(0)) can't be read.") }
        let lost = try json(row.text(8))
        return MergeConflict(
            id: row.integer(0), layerID: Int(row.integer(1)), objectID: row.integer(2), globalID: globalID, kind: kind,
            rule: rule, winner: winner, state: state, lost: try read(lost, MergeConflict.Side.init(json:)),
            won: try read(json(row.text(9)), MergeConflict.Side.init(json:)),
            base: try lost[Self.base].map { try read($0, MergeConflict.Base.init(json:)) },
            moment: Date(timeIntervalSince1970: Double(DateText.milliseconds(row.text(10)) ?? 0) / 1_000))
    }

    private static func json(_ text: String) throws -> JSONValue {
        try read(text) { try JSONParser.parse($0) }
    }

    private static func read<Stored, Value>(_ stored: Stored, _ reading: (Stored) throws -> Value) throws -> Value {
        do {
            return try reading(stored)
        } catch {
            throw StoreError(.corrupt, "A conflict can't be read: \(error).")
        }
    }
}
