import FieldworkGeometry
import FieldworkREST
import Foundation

/// Changes a service to a new definition: tables, columns, history and triggers follow. Within one transaction of the
/// caller, and one generation.
struct DefinitionUpdate {
    private let old: ServiceCatalogue
    private let new: ServiceDefinition
    private let changes: DefinitionChanges

    /// Throws `StoreError.invalidDefinition` for what can't be, or was not asked for.
    init(from old: ServiceCatalogue, to new: ServiceDefinition, allowing changes: DefinitionChanges) throws {
        try DefinitionRules.check(new)
        self.old = old
        self.new = new
        self.changes = changes
        let (oldIDs, newIDs) = (Set(old.layers.keys), Set(new.layers.map(\.id)))
        try require(.removesLayers, for: oldIDs.subtracting(newIDs).sorted().map(String.init), "layers")
        if let placed = oldIDs.subtracting(newIDs).first(where: { old.layers[$0]?.isPlaced == true }) {
            throw StoreError(
                .invalidDefinition, "Layer \(placed) is a table that was published in place: unpublish the service.")
        }
        try require(.addsLayers, for: newIDs.subtracting(oldIDs).sorted().map(String.init), "new layers")
        for layer in new.layers where oldIDs.contains(layer.id) {
            let change = FieldChange(from: try old.layer(layer.id), to: layer)
            try change.check()
            try require(.removesFields, for: change.removed.map(\.name), "fields of layer \(layer.id)")
            try require(.addsFields, for: change.added.map(\.name), "new fields of layer \(layer.id)")
        }
    }

    private func require(_ change: DefinitionChanges, for names: [String], _ what: String) throws {
        guard names.isEmpty || changes.contains(change) else {
            throw StoreError(
                .invalidDefinition,
                "The update would \(change.isSubset(of: .additions) ? "add" : "remove") \(what), which was not asked for: "
                    + names.joined(separator: ", ") + ".")
        }
    }

    func apply(on connection: StoreConnection) throws -> ServiceCatalogue {
        try begin(on: connection)
        // Views and indexes of relationships name columns, which could not be dropped otherwise.
        try RelationshipViews.remove(on: connection)
        var result = ServiceCatalogue(definition: new, layers: [:])
        result.definition.name = old.definition.name
        let ids = Set(new.layers.map(\.id))
        for (id, layer) in old.layers.sorted(by: { $0.key < $1.key }) where !ids.contains(id) {
            try LayerRemoval(layer: layer).apply(on: connection)
        }
        if let last = (old.layers.keys.filter { !ids.contains($0) }).max() {
            // For those who choose ids of new layers.
            let known = new.unknownMembers["lastLayerId"]?.integerValue ?? -1
            result.definition.unknownMembers["lastLayerId"] = .integer(max(known, Int64(last)))
        }
        for layer in new.layers {
            if let known = old.layers[layer.id] {
                result.layers[layer.id] = try FieldChange(from: known, to: layer).apply(on: connection)
            } else {
                result.layers[layer.id] = try added(layer, on: connection)
            }
        }
        try result.write(on: connection)
        for layer in result.orderedLayers { try DeclaredIndexes(layer: layer).write(on: connection) }
        try EditApplier.close(on: connection)
        result.source = try ServiceCatalogue.source(on: connection)
        return result
    }

    /// A file has the table from the first change on, a schema of PostgreSQL from its beginning.
    static func prepare(on connection: StoreConnection) throws {
        if try connection.hasTable("fieldwork_definitions") { return }
        try connection.execute(
            "CREATE TABLE fieldwork_definitions (generation INTEGER PRIMARY KEY, definition TEXT NOT NULL)")
        try GeoPackageSchema.registerOwn("fieldwork_definitions", on: connection)
    }

    /// Opens the generation and keeps the definition that it ends.
    private func begin(on connection: StoreConnection) throws {
        if !connection.dialect.isSQLite { try PostgresDefinitionChange(on: connection).begin() }
        try connection.run("UPDATE fieldwork_state SET generation = generation + 1, inside = 1, muted = 0 WHERE id = 1")
        try connection.run(
            "INSERT INTO fieldwork_generations (generation, moment) SELECT generation, ? FROM fieldwork_state WHERE id = 1"
        ) { try $0.bind(DateText.text(milliseconds: Date.now.milliseconds), at: 1) }
        try Self.prepare(on: connection)
        try connection.run(
            "INSERT INTO fieldwork_definitions SELECT generation, ? FROM fieldwork_state WHERE id = 1"
        ) { try $0.bind(old.definition.storageJSON.text, at: 1) }
    }

    private func added(_ definition: LayerDefinition, on connection: StoreConnection) throws -> StoredLayer {
        // An id that was used before has a history, which is not this layer's.
        guard try !connection.hasTable("fieldwork_history_\(definition.id)") else {
            throw StoreError(
                .invalidDefinition, "The id \(definition.id) was that of a layer that was removed. Choose another.")
        }
        guard connection.dialect.isSQLite else { return try PostgresDefinitionChange(on: connection).add(definition) }
        var names = TableNames()
        try connection.run("SELECT lower(name) FROM sqlite_master", row: { names.used.insert($0.text(0)) })
        let layer = try StoredLayer(adding: definition, names: &names, on: connection)
        try FeatureTable(layer: layer).create(on: connection)
        return layer
    }
}
