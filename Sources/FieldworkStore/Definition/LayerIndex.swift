import FieldworkREST

/// An index that a layer has in its file or database.
package struct LayerIndex: Sendable, Hashable {
    /// What made an index, and so who may take it away.
    package enum Maker: Sendable, Hashable {
        /// The layer's definition, where it has this name.
        case definition(String)
        /// The layer's definition: texts that are found by any part of them.
        case texts
        /// The layer's own ids.
        case identity
        case relationship
        /// The places of features.
        case geometry
        case anotherProgram
    }

    package var name: String
    package var fields: [String]
    package var isUnique: Bool
    package var maker: Maker
    /// nil where the database does not tell.
    package var bytes: Int64?

    package init(name: String, fields: [String], isUnique: Bool, maker: Maker, bytes: Int64?) {
        (self.name, self.fields, self.isUnique, self.maker, self.bytes) = (name, fields, isUnique, maker, bytes)
    }
}

/// Reads the indexes of a layer.
struct LayerIndexReader {
    let layer: StoredLayer
    let connection: StoreConnection

    func read() throws -> [LayerIndex] {
        var found: [LayerIndex] = []
        try connection.run(
            connection.dialect.indexesOfTable, bind: { try $0.bind(layer.tableName, at: 1) },
            row: { row in
                let name = row.text(0)
                let fields = row.isNull(2) ? [] : row.text(2).split(separator: ",").map(String.init)
                found.append(
                    LayerIndex(
                        name: name, fields: fields, isUnique: row.integer(1) != 0, maker: maker(of: name, fields),
                        bytes: row.isNull(3) ? nil : row.integer(3)))
            })
        let textIndex = connection.dialect.textIndex
        let texts = try textIndex.slots(of: layer, on: connection).sorted().compactMap(layer.column)
        found.removeAll { $0.maker == .texts }
        if !texts.isEmpty {
            found.append(
                LayerIndex(
                    name: TrigramTable.name(layer.definition.id), fields: texts.map(\.name), isUnique: false,
                    maker: .texts,
                    bytes: try textIndex.bytes(of: layer, on: connection)))
        }
        return found.sorted { $0.name < $1.name }
    }

    private func maker(of name: String, _ fields: [String]) -> LayerIndex.Maker {
        let declared = "fieldwork_index_\(layer.definition.id)_"
        if name.hasPrefix(declared) { return .definition(String(name.dropFirst(declared.count))) }
        if name.hasPrefix(TrigramTable.name(layer.definition.id) + "_") { return .texts }
        if name.hasPrefix("fieldwork_key_") { return .relationship }
        let ids = [layer.objectIDColumn, layer.globalIDColumn].compactMap { $0?.lowercased() }
        if fields.count == 1, ids.contains(fields[0].lowercased()) { return .identity }
        return fields == [layer.geometryColumn] ? .geometry : .anotherProgram
    }
}

extension ServiceStore {
    /// The indexes of a layer in its file or database; the R-tree and the object ids of a file are no indexes there, and not among them.
    package func indexes(of layer: LayerAddress) async throws -> [LayerIndex] {
        try await data(of: layer.service).indexes(in: layer.layerID)
    }
}

extension ServiceData {
    func indexes(in layerID: Int) async throws -> [LayerIndex] {
        let layer = try layer(layerID)
        return try await read { try LayerIndexReader(layer: layer, connection: $0).read() }
    }
}
