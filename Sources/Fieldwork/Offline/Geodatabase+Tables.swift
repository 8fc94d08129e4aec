import FieldworkREST
import FieldworkStore

/// Tables that are made and deleted on the device. In a replica they are the service's alone.
extension Geodatabase {
    /// Adds an empty table.
    /// - Throws: `GeodatabaseError.itemAlreadyExists`, `.invalidArgument` for what no table can be,
    ///   `.cannotUpdateSchemaIfChangeTracking` in a replica; `CommonError.illegalState` while a transaction is open.
    public func makeTable(description: TableDescription) async throws -> GeodatabaseFeatureTable {
        let session = try ownSession()
        let old = session.file.definition
        var new = old
        let layer = try TableDefinitionMaker(service: old).layer(description)
        new.layers.append(layer)
        try await change(session, from: old, to: new, allowing: .addsLayers)
        let table = GeodatabaseFeatureTable(geodatabase: self, layer: layer, session: session)
        withTables { $0.append(table) }
        return table
    }

    /// Deletes a table and its features. Their last state stays in the file's history.
    /// - Throws: `GeodatabaseError.itemNotFound`, `.cannotUpdateSchemaIfChangeTracking` in a replica;
    ///   `CommonError.illegalState` while a transaction is open.
    public func deleteTable(named name: String) async throws {
        let session = try ownSession()
        let old = session.file.definition
        guard let layer = old.layers.first(where: { $0.name == name }) else {
            throw GeodatabaseError.itemNotFound(details: "There is no table \(name).")
        }
        var new = old
        new.layers.removeAll { $0.id == layer.id }
        try await change(session, from: old, to: new, allowing: .removesLayers)
        withTables { tables in tables.removeAll { $0.serviceLayerID == Int64(layer.id) } }
    }

    /// The session, for a change of tables, fields or domains.
    func ownSession() throws -> GeodatabaseSession {
        let session = try openSession()
        if session.replica != nil {
            throw GeodatabaseError.cannotUpdateSchemaIfChangeTracking(
                details: "The geodatabase is a replica: its tables are those of its service.")
        }
        if session.file.isInTransaction {
            throw CommonError.illegalState(details: "Tables can't be changed while a transaction is open.")
        }
        return session
    }

    func change(
        _ session: GeodatabaseSession, from old: ServiceDefinition, to new: ServiceDefinition,
        allowing changes: DefinitionChanges
    ) async throws {
        do {
            try await session.file.updateDefinition(new, allowing: changes, replacing: old)
        } catch let error as StoreError where error.code == .invalidDefinition {
            throw GeodatabaseError.invalidArgument(details: error.message)
        } catch let error as StoreError {
            throw CommonError.io(details: error.message)
        }
    }
}
