import FieldworkGeometry
import FieldworkREST
import Foundation

/// The replicas of a service: who took what offline, and how far each has come.
struct ReplicaRegistry {
    let connection: StoreConnection

    // MARK: Reading

    func replicas() throws -> [Replica] { try replicas(where: "1 = 1") { _ in } }

    func replica(_ id: UUID) throws -> Replica? {
        try replicas(where: "replica_id = ?") { try $0.bind(id.uuidString, at: 1) }.first
    }

    private func replicas(where condition: String, bind: (StoreStatement) throws -> Void) throws -> [Replica] {
        var found: [Replica] = []
        try connection.run(
            """
            SELECT definition, last_sync, state FROM fieldwork_replicas WHERE \(condition)
            ORDER BY name, replica_id
            """, bind: bind,
            row: { row in
                found.append(
                    Replica(
                        definition: try Self.definition(row.text(0)), generations: [:],
                        lastSync: Self.date(row.text(1)), state: Replica.State(rawValue: row.text(2)) ?? .live))
            })
        for index in found.indices { found[index].generations = try generations(found[index].definition.id) }
        return found
    }

    private func generations(_ id: UUID) throws -> [Int: Int64] {
        var generations: [Int: Int64] = [:]
        try connection.run(
            "SELECT layer_id, generation FROM fieldwork_replica_layers WHERE replica_id = ?",
            bind: { try $0.bind(id.uuidString, at: 1) },
            row: { generations[Int($0.integer(0))] = $0.integer(1) })
        return generations
    }

    private static func definition(_ text: String) throws -> ReplicaDefinition {
        do {
            return try ReplicaDefinition(storageJSON: JSONParser.parse(text))
        } catch {
            throw StoreError(.corrupt, "The definition of a replica can't be read: \(error).")
        }
    }

    private static func date(_ text: String) -> Date {
        Date(timeIntervalSince1970: Double(DateText.milliseconds(text) ?? 0) / 1_000)
    }

    // MARK: Writing

    /// Records a replica. A name that is taken gets a number; the same replica again is the one that is there.
    func create(_ definition: ReplicaDefinition, generation: Int64) throws -> Replica {
        if let known = try replica(definition.id) { return known }
        let count = try connection.integer("SELECT count(*) FROM fieldwork_replicas WHERE state != 'retired'") ?? 0
        guard count < Limits.replicasPerService else {
            throw StoreError(.invalidQuery, "The service has \(count) replicas, which is as many as it may have.")
        }
        var definition = definition
        definition.name = try freeName(definition.name)
        try connection.run(
            """
            INSERT INTO fieldwork_replicas (replica_id, name, definition, last_sync, state)
            VALUES (?, ?, ?, ?, 'live')
            """
        ) {
            try $0.bind(definition.id.uuidString, at: 1)
            try $0.bind(definition.name, at: 2)
            try $0.bind(definition.storageJSON.text, at: 3)
            try $0.bind(DateText.text(milliseconds: definition.created.milliseconds), at: 4)
        }
        for layer in definition.layers { try set(generation, layer.layerID, of: definition.id) }
        let generations = Dictionary(
            definition.layers.map { ($0.layerID, generation) }, uniquingKeysWith: { first, _ in first })
        return Replica(definition: definition, generations: generations, lastSync: definition.created)
    }

    private func freeName(_ wanted: String) throws -> String {
        let base = String(wanted.prefix(Limits.replicaNameLength))
        var name = base
        var number = 0
        while try isTaken(name) {
            name = "\(base)_\(number)"
            number += 1
        }
        return name
    }

    private func isTaken(_ name: String) throws -> Bool {
        try connection.integer("SELECT 1 FROM fieldwork_replicas WHERE name = ? AND state != 'retired'") {
            try $0.bind(name, at: 1)
        } != nil
    }

    private func set(_ generation: Int64, _ layerID: Int, of id: UUID) throws {
        try connection.run(
            """
            INSERT INTO fieldwork_replica_layers (replica_id, layer_id, generation) VALUES (?, ?, ?)
            ON CONFLICT (replica_id, layer_id) DO UPDATE SET generation = excluded.generation
            """
        ) {
            try $0.bind(id.uuidString, at: 1)
            try $0.bind(Int64(layerID), at: 2)
            try $0.bind(generation, at: 3)
        }
    }

    /// A client names the generations that it has: the log need not keep what came before them. A generation never goes
    /// back: an old request that arrives late says nothing new.
    func acknowledge(_ generations: [Int: Int64], of id: UUID, at moment: Date) throws {
        let known = try self.generations(id)
        for (layerID, generation) in generations where generation > known[layerID] ?? .max {
            try set(generation, layerID, of: id)
        }
        try connection.run(
            """
            UPDATE fieldwork_replicas SET last_sync = ?1, state = CASE WHEN state = 'expired' THEN 'live' ELSE state END
            WHERE replica_id = ?2
            """
        ) {
            try $0.bind(DateText.text(milliseconds: moment.milliseconds), at: 1)
            try $0.bind(id.uuidString, at: 2)
        }
    }

    /// Ends a replica. What its client still has unsent it may hand in later.
    func retire(_ id: UUID) throws -> Bool {
        try connection.run(
            "UPDATE fieldwork_replicas SET state = 'retired' WHERE replica_id = ? AND state != 'retired'"
        ) { try $0.bind(id.uuidString, at: 1) }
        return connection.changedRows > 0
    }

    /// Replicas that have not been heard of since a moment no longer hold the log back.
    func expire(before moment: Date) throws -> Int {
        try connection.run(
            "UPDATE fieldwork_replicas SET state = 'expired' WHERE state = 'live' AND last_sync < ?"
        ) { try $0.bind(DateText.text(milliseconds: moment.milliseconds), at: 1) }
        return connection.changedRows
    }
}
