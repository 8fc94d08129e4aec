import FieldworkREST
import FieldworkStore
import Synchronization

/// Fields that are added and deleted on the device. In a replica they are the service's alone.
extension GeodatabaseFeatureTable {
    /// Adds a field; the rows that are there get its default, or null. Feature objects in hand do not have it.
    /// - Throws: `GeodatabaseError.itemAlreadyExists`, `.invalidArgument` for what no field can be,
    ///   `.itemNotFound` for a domain that there is not, `.cannotUpdateSchemaIfChangeTracking` in a replica;
    ///   `CommonError.illegalState` while a transaction is open.
    @discardableResult
    public func addField(description: FieldDescription) async throws -> Field {
        if field(named: description.name) != nil {
            throw GeodatabaseError.itemAlreadyExists(details: "There is a field \(description.name) already.")
        }
        try await changeFields(allowing: .addsFields) { service, layer in
            layer.fields.append(try TableDefinitionMaker(service: service).field(description))
        }
        guard let field = field(named: description.name) else {
            throw GeodatabaseError.internalError(details: "The field \(description.name) was not added.")
        }
        return field
    }

    /// Deletes a field and its values. What they were stays in the file's history.
    /// - Throws: `GeodatabaseError.fieldNotFound`, `.invalidArgument` for a field that the table needs,
    ///   `.cannotUpdateSchemaIfChangeTracking` in a replica; `CommonError.illegalState` while a transaction is open.
    public func deleteField(named name: String) async throws {
        guard field(named: name) != nil else {
            throw GeodatabaseError.fieldNotFound(details: "There is no field \(name).")
        }
        try await changeFields(allowing: .removesFields) { _, layer in
            if [layer.objectIDField, layer.globalIDField].contains(name) {
                throw GeodatabaseError.invalidArgument(details: "The table needs the field \(name).")
            }
            layer.fields.removeAll { $0.name == name }
        }
    }

    private func changeFields(
        allowing changes: DefinitionChanges, _ body: (ServiceDefinition, inout LayerDefinition) throws -> Void
    ) async throws {
        guard let geodatabase else { throw GeodatabaseError.databaseClosed(details: "The geodatabase is closed.") }
        let session = try geodatabase.ownSession()
        let old = session.file.definition
        var new = old
        guard let index = new.layers.firstIndex(where: { Int64($0.id) == serviceLayerID }) else {
            throw GeodatabaseError.itemNotFound(details: "The table has been deleted.")
        }
        try body(old, &new.layers[index])
        try await geodatabase.change(session, from: old, to: new, allowing: changes)
        state.withLock { $0.source = GeodatabaseTableSource(layer: new.layers[index], session: session) }
    }
}
