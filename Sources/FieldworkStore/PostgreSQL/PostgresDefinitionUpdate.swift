import FieldworkGeometry
import FieldworkREST

/// Changes the looks, rights, domains and descriptions of a service in PostgreSQL, in a generation of its own. Its layers and
/// their fields stay.
struct PostgresDefinitionUpdate {
    private let old: ServiceCatalogue
    private let new: ServiceDefinition

    /// Throws `StoreError.invalidDefinition` for layers or fields that come or go.
    init(from old: ServiceCatalogue, to new: ServiceDefinition) throws {
        try DefinitionRules.check(new)
        self.old = old
        self.new = new
        guard Set(old.layers.keys) == Set(new.layers.map(\.id)) else {
            throw Self.refused("Layers can't be added or removed yet in PostgreSQL.")
        }
        for layer in new.layers {
            let change = FieldChange(from: try old.layer(layer.id), to: layer)
            try change.check()
            guard change.added.isEmpty, change.removed.isEmpty else {
                throw Self.refused("Fields of layer \(layer.id) can't be added or removed yet in PostgreSQL.")
            }
        }
    }

    private static func refused(_ message: String) -> StoreError { StoreError(.invalidDefinition, message) }

    func apply(on connection: StoreConnection) throws -> ServiceCatalogue {
        var result = ServiceCatalogue(definition: new, layers: [:])
        result.definition.name = old.definition.name
        for layer in new.layers {
            let known = try old.layer(layer.id)
            result.layers[layer.id] = try StoredLayer(
                definition: layer, tableName: known.tableName, geometryColumn: known.geometryColumn,
                srsID: known.srsID,
                slots: layer.fields.compactMap { field in known.index(of: field.name).map { known.slots[$0] } })
        }
        try connection.run("UPDATE fieldwork_state SET generation = generation + 1, inside = 1, muted = 0 WHERE id = 1")
        try connection.run(
            "INSERT INTO fieldwork_generations (generation, moment) SELECT generation, ? FROM fieldwork_state WHERE id = 1"
        ) { try $0.bind(PostgresCatalogue.momentOfNow, at: 1) }
        try connection.run(
            "INSERT INTO fieldwork_definitions SELECT generation, ? FROM fieldwork_state WHERE id = 1"
        ) { try $0.bind(old.definition.storageJSON.text, at: 1) }
        try result.writeDefinitions(on: connection)
        try RelationshipViews(catalogue: result).writeIndexes(on: connection)
        try AttachmentTables.create(for: result, on: connection)
        try EditApplier.close(on: connection)
        result.source = try ServiceCatalogue.source(on: connection)
        return result
    }
}
