import FieldworkGeometry
import FieldworkREST

/// The indexes that a layer's definition lists under `indexes`, as the protocol does. Fields that have an index anyway, and
/// the geometry, are passed over.
struct DeclaredIndexes {
    let layer: StoredLayer

    private var prefix: String { "fieldwork_index_\(layer.definition.id)_" }

    private struct Declared {
        var name: String
        var columns: [String]
        var isUnique: Bool
        var isAscending: Bool
    }

    /// Makes what is declared and takes away what is no more.
    func write(on connection: StoreConnection) throws {
        // Those of somebody else's table are that one's affair.
        if layer.isPlaced { return }
        let declared = try declared(on: connection)
        let present = try present(on: connection)
        let wanted = Set(declared.map { prefix + $0.name })
        for name in present.subtracting(wanted) { try connection.execute("DROP INDEX \(quoted(name))") }
        for index in declared where !present.contains(prefix + index.name) {
            let columns = index.columns.map { quoted($0) + (index.isAscending ? "" : " DESC") }
            if index.isUnique, !connection.dialect.isSQLite,
                try PostgresPartitioning.parts(of: layer, on: connection) > 1
            {
                throw StoreError(
                    .invalidDefinition,
                    "The index \(index.name) of layer \(layer.definition.id) can't be unique: its table has partitions."
                )
            }
            do {
                try connection.execute(
                    """
                    CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(quoted(prefix + index.name))
                    ON \(quoted(layer.tableName)) (\(columns.joined(separator: ", ")))
                    """)
            } catch let error as StoreError where index.isUnique && error.code == .failure {
                throw StoreError(
                    .invalidDefinition,
                    "The index \(index.name) of layer \(layer.definition.id) can't be unique: values are there twice.")
            }
        }
        try connection.dialect.textIndex.write(textColumns(), of: layer, on: connection)
    }

    /// The columns whose texts are to be found by any part of them. Others can't be, which is said.
    private func textColumns() throws -> [StoredColumn] {
        var found: Set<Int> = []
        for index in layer.definition.declaredIndexes where index.isFullText {
            for name in index.fields {
                guard let place = layer.index(of: name) else { continue }
                guard layer.columns[place].kind == .text else {
                    throw StoreError(
                        .invalidDefinition,
                        "The index \(index.name) of layer \(layer.definition.id) is one of texts, and \(name) holds none."
                    )
                }
                found.insert(place)
            }
        }
        return found.sorted().map { layer.columns[$0] }
    }

    private func present(on connection: StoreConnection) throws -> Set<String> {
        guard connection.dialect.isSQLite else {
            return try PostgresDefinitionChange.indexes(beginning: prefix, on: connection)
        }
        var names: Set<String> = []
        try connection.run(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND substr(name, 1, length(?1)) = ?1",
            bind: { try $0.bind(prefix, at: 1) }, row: { names.insert($0.text(0)) })
        return names
    }

    private func declared(on connection: StoreConnection) throws -> [Declared] {
        let declared = declared()
        guard !connection.dialect.isSQLite else { return declared }
        return try declared.compactMap { index in
            var index = index
            // PostgreSQL would cut the name off, and not find it again.
            while (prefix + index.name).utf8.count > Limits.sessionNameBytes { index.name.removeLast() }
            let columns = index.columns.compactMap { name in layer.index(of: name).map { layer.columns[$0] } }
            if columns.allSatisfy(PostgresDefinitionChange.canIndex) { return index }
            // Without an index a query is slower; a promise can't be kept without one.
            guard index.isUnique else { return nil }
            throw StoreError(
                .invalidDefinition,
                """
                The index \(index.name) of layer \(layer.definition.id) can't be unique: PostgreSQL indexes texts of at most \
                \(Limits.sessionIndexCharacters) characters.
                """)
        }
    }

    private func declared() -> [Declared] {
        layer.definition.declaredIndexes.filter { !$0.isFullText }.compactMap { index in
            let columns = index.fields.compactMap(layer.index)
            let isOurs = columns.allSatisfy { $0 != layer.objectIDIndex && $0 != layer.globalIDIndex }
            guard isOurs, !columns.isEmpty, columns.count == index.fields.count else { return nil }
            return Declared(
                name: index.name.lowercased(), columns: columns.map { layer.columns[$0].name },
                isUnique: index.isUnique, isAscending: index.isAscending)
        }
    }
}
