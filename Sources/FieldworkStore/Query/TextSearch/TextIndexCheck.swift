import FieldworkREST

/// Looks whether the text index of a layer in a file finds what is there. An entry too much is no finding: each row that is found is
/// looked at.
struct TextIndexCheck {
    let connection: StoreConnection
    let layer: StoredLayer

    private static let findings = 20
    /// The texts of so many features, evenly spread over the layer, are looked for.
    private static let samples: Int64 = 1_000

    func run() throws -> [String] {
        let (name, index) = (layer.definition.name, TrigramTable())
        let table = TrigramTable.name(layer.definition.id)
        guard try connection.hasTable(table) else { return [] }
        let slots = try index.slots(of: layer, on: connection).sorted()
        guard !slots.isEmpty else {
            return [
                "\(name): the text index has lost its triggers, and is not used: drop it, and make it anew."
            ]
        }
        var findings: [String] = []
        let (key, source) = (quoted(layer.objectIDColumn), quoted(layer.tableName))
        try connection.run(
            """
            SELECT \(key) FROM \(source) WHERE \(key) NOT IN (SELECT id FROM \(quoted(table + "_docsize")))
            LIMIT \(Self.findings)
            """, row: { findings.append("\(name): the text index lacks feature \($0.integer(0)).") })
        guard findings.isEmpty else { return findings }
        for slot in slots {
            guard let column = layer.column(ofSlot: slot) else { continue }
            findings += try texts(of: column, slot, in: table)
        }
        return Array(findings.prefix(Self.findings))
    }

    /// Features that the index does not find by their own text.
    private func texts(of column: StoredColumn, _ slot: Int, in table: String) throws -> [String] {
        let key = quoted(layer.objectIDColumn)
        let (source, text) = (quoted(layer.tableName), quoted(column.name))
        let step = try max(1, (connection.integer("SELECT max(\(key)) FROM \(source)") ?? 0) / Self.samples)
        var looked: [(id: Int64, match: String)] = []
        try connection.run(
            "SELECT \(key), \(text) FROM \(source) WHERE \(text) IS NOT NULL AND \(key) % \(step) = 0 LIMIT \(Self.samples)",
            row: { row in
                let escaped = String(row.text(1).flatMap { ["%", "_", "\\"].contains($0) ? ["\\", $0] : [$0] })
                guard let pattern = TextPattern(escaped, escape: "\\", isPlain: true),
                    let match = TrigramTable.match(.like(slot: slot, pattern), { _ in true })
                else { return }
                looked.append((row.integer(0), match))
            })
        return try looked.compactMap { id, match in
            let isFound =
                try connection.integer("SELECT 1 FROM \(quoted(table))(?) WHERE rowid = ?") {
                    try $0.bind(match, at: 1)
                    try $0.bind(id, at: 2)
                } != nil
            return isFound
                ? nil : "\(layer.definition.name): the text index does not find feature \(id) by its \(column.name)."
        }
    }
}
