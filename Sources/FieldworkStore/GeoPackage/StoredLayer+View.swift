import FieldworkREST

extension StoredLayer {
    /// The layer as a view shows it: without the columns of hidden fields, which a condition of the view may name all the same.
    /// - Parameter shown: has some of the layer's fields, in their order.
    func shown(as shown: LayerDefinition) throws -> StoredLayer {
        let indexes = try shown.fields.map { field in
            guard let index = index(of: field.name) else {
                throw StoreError(.invalidDefinition, "\(definition.name) has no field \(field.name).")
            }
            return index
        }
        var layer = try StoredLayer(
            definition: shown, tableName: tableName, geometryColumn: geometryColumn, srsID: srsID,
            slots: indexes.map { slots[$0] })
        layer.isPlaced = isPlaced
        layer.hiddenColumns = columns.indices.filter { !indexes.contains($0) }.map { columns[$0] }
        return layer
    }

    /// The columns of the table beside its key: conditions on earlier states read hidden ones too.
    var columnsBesideKey: [StoredColumn] {
        (columns + hiddenColumns).filter { $0.isStored && $0.name != objectIDColumn }
    }

    /// The column that an expression names, also a hidden one: what clients write is read with the fields that they see.
    func expressionColumn(_ name: String) -> StoredColumn? {
        if let index = index(of: name) { return columns[index] }
        return hiddenColumns.first { $0.name == name }
            ?? hiddenColumns.first { $0.name.lowercased() == name.lowercased() }
    }
}
