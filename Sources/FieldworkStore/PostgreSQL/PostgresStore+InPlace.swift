package import FieldworkREST

/// What became of a table that was published in place.
package struct PlacedPublication: Sendable {
    package var featureCount: Int
    /// Columns that are no fields.
    package var leftOut: [String]
    /// What the table was given besides triggers.
    package var added: [String]
}

extension PostgresStore {
    /// Makes a service of a table that stays where it is. What others write to the table is in the change log from then on.
    /// Throws `StoreError.serviceExists`, `StoreError.invalidDefinition`.
    /// - Parameters:
    ///   - table: `schema.table`, or the name of one of the schema `public`.
    ///   - addsGlobalIDs: the table gets a column of global ids, without which no client can work offline.
    package func publish(
        table: String, as name: ServiceName, layerName: String, addsGlobalIDs: Bool
    ) async throws -> PlacedPublication {
        try DefinitionRules.check(name)
        return try await OneTimeWorker().run { [connect] in
            let connection = StoreConnection(session: try connect(PostgresFunctions.schema, true))
            return try connection.transaction(SQLDialect.beginWithoutTimeLimits) {
                let placed = try PlacedTable.read(table, on: connection)
                // Nobody writes between the count of its rows and the first row that is logged.
                try connection.execute("LOCK TABLE \(placed.place) IN SHARE ROW EXCLUSIVE MODE")
                return try Self.publish(placed, as: name, layerName, addsGlobalIDs, on: connection)
            }
        }
    }

    private static func publish(
        _ table: PlacedTable, as name: ServiceName, _ layerName: String, _ addsGlobalIDs: Bool,
        on connection: StoreConnection
    ) throws -> PlacedPublication {
        var globalID: String?
        if addsGlobalIDs {
            var column = "globalid"
            let used = Set((table.columns.map(\.name) + table.leftOut + [table.key.name]).map { $0.lowercased() })
            while used.contains(column) || column == table.geometry?.column { column += "_" }
            try PlacedLayer.addGlobalIDs(column, to: table, on: connection)
            globalID = column
        }
        let layerDefinition = table.definition(id: 0, name: layerName, globalID: globalID)
        let definition = ServiceDefinition(
            name: name, description: table.description, spatialReference: layerDefinition.spatialReference,
            layers: [layerDefinition])
        try DefinitionRules.check(definition)
        let schema = try PostgresCatalogue.createSchema(for: name, on: connection)
        try PlacedLayer.createCatalogue(on: connection)
        _ = try SpatialReferenceTable.id(of: layerDefinition.spatialReference, on: connection)
        var names = TableNames(longest: Limits.sessionNameBytes)
        let layer = try StoredLayer(
            definition: layerDefinition, tableName: names.next(for: layerDefinition),
            geometryColumn: table.geometry?.column,
            srsID: table.geometry?.srsID ?? SpatialReferenceTable.undefinedCartesian)
        try PlacedLayer(table: table, layer: layer, schema: schema, globalID: globalID).create(on: connection)
        try ServiceCatalogue(definition: definition, layers: [0: layer]).writeDefinitions(on: connection)
        let count = try connection.integer("SELECT row_count FROM fieldwork_counts WHERE layer_id = 0") ?? 0
        var added = globalID.map { ["the column \($0)"] } ?? []
        if table.key.type != "int8" { added.append("an index on \(table.key.name)") }
        return PlacedPublication(featureCount: Int(count), leftOut: table.leftOut, added: added)
    }

    /// Whether tables of a service lie elsewhere in the database.
    func isInPlace(_ name: ServiceName) async throws -> Bool {
        try await data(of: name).catalogueSnapshot.layers.values.contains(where: \.isPlaced)
    }

    /// Takes all away again that a service has put beside its tables, which stay as they were, with all rows that they have now.
    /// Its change log, history and replicas are gone. Throws `StoreError.busy` while a client still syncs with it.
    func takeBack(_ name: ServiceName) async throws {
        let live = try await replicas(of: name).filter { $0.state == .live }
        guard live.isEmpty else {
            throw StoreError(
                .busy,
                """
                \(live.count) replicas of \(name.path) still sync, the newest \(live.map(\.definition.name).last ?? ""). \
                Unregister them first: what they have not handed in would find no service.
                """)
        }
        try await deleteService(name)
    }
}
