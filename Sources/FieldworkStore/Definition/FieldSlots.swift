import FieldworkREST

/// Which bit of the change log's masks means which field. A field keeps its bit for good: one that is removed leaves its
/// bit unused, so that what the log says of the past stays true. Only layers whose fields have changed are entered; in all
/// others a field's bit is its position.
struct FieldSlots {
    private static let table = "fieldwork_field_slots"
    /// Bits by lower-case field name, by layer; removed fields have none.
    private var known: [Int: [String: Int]] = [:]

    static func read(from connection: StoreConnection) throws -> FieldSlots {
        var result = FieldSlots()
        guard try connection.hasTable(table) else { return result }
        try connection.run(
            "SELECT layer_id, slot, field FROM fieldwork_field_slots WHERE field IS NOT NULL",
            row: { result.known[Int($0.integer(0)), default: [:]][$0.text(2)] = Int($0.integer(1)) })
        return result
    }

    /// The bits of a layer's fields in their order; nil when they are the positions.
    func slots(of layer: LayerDefinition) throws -> [Int]? {
        guard let known = known[layer.id] else { return nil }
        return try layer.fields.map { field in
            guard let slot = known[field.name.lowercased()] else {
                throw StoreError(.corrupt, "The change log has lost the field \(field.name) of layer \(layer.id).")
            }
            return slot
        }
    }

    /// A file has the table from the first change on, a schema of PostgreSQL from its beginning.
    static func prepare(on connection: StoreConnection) throws {
        if try connection.hasTable(table) { return }
        try connection.execute(
            """
            CREATE TABLE \(table) (
                layer_id INTEGER NOT NULL, slot INTEGER NOT NULL, field TEXT, PRIMARY KEY (layer_id, slot)) WITHOUT ROWID
            """)
        try GeoPackageSchema.registerOwn(table, on: connection)
    }

    /// Enters fields that came and went, and gives the bits of all that are there. Throws when there is no bit left.
    static func change(_ old: StoredLayer, to new: LayerDefinition, on connection: StoreConnection) throws -> [Int] {
        try prepare(on: connection)
        var slots = Dictionary(
            zip(old.columns.map { $0.name.lowercased() }, old.slots), uniquingKeysWith: { first, _ in first })
        for (name, slot) in slots { try enter(name, slot, of: new.id, on: connection) }
        let names = Set(new.fields.map { $0.name.lowercased() })
        for (name, slot) in slots where !names.contains(name) { try enter(nil, slot, of: new.id, on: connection) }
        var next =
            try connection.integer("SELECT max(slot) FROM fieldwork_field_slots WHERE layer_id = ?") {
                try $0.bind(Int64(new.id), at: 1)
            }.map { Int($0) + 1 } ?? 0
        return try new.fields.map { field in
            let name = field.name.lowercased()
            if let slot = slots[name] { return slot }
            guard next < Limits.fieldsPerLayer else {
                throw StoreError(
                    .invalidDefinition,
                    "Layer \(new.id) has had \(Limits.fieldsPerLayer) fields, which is as many as its change log tells apart."
                )
            }
            slots[name] = next
            try enter(name, next, of: new.id, on: connection)
            defer { next += 1 }
            return next
        }
    }

    private static func enter(_ name: String?, _ slot: Int, of layerID: Int, on connection: StoreConnection) throws {
        try connection.run(
            """
            INSERT INTO fieldwork_field_slots (layer_id, slot, field) VALUES (?, ?, ?)
            ON CONFLICT (layer_id, slot) DO UPDATE SET field = excluded.field
            """
        ) {
            try $0.bind(Int64(layerID), at: 1)
            try $0.bind(Int64(slot), at: 2)
            try $0.bind(name, at: 3)
        }
    }
}
