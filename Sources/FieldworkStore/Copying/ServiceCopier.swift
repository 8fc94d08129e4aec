import FieldworkREST

/// Copies all that a service is from one store into the empty tables of another: rows with their ids, the change log with its
/// generations, the history, replicas with what they handed in, conflicts, attachments. Both sides within a transaction of the
/// caller's, the source's one that reads one state.
struct ServiceCopier {
    let source: StoreConnection
    let target: StoreConnection
    let progress: (CopyProgress) -> Void

    /// - Parameters:
    ///   - original: as the source has it.
    ///   - copy: the same definition as the target has it.
    /// - Returns: the checksums of what was read, by the labels of the tables.
    func run(_ original: ServiceCatalogue, to copy: ServiceCatalogue) throws -> [String: TableChecksum] {
        let tables = try ServiceTables(original, on: source)
        try CopiedFormerLayers(tables: tables, catalogue: copy, target: target).prepare()
        let places = try ServiceTables(copy, former: tables.former.adapted(to: target), on: target).all()
        let targets = Dictionary(places.map { ($0.label, $0) }, uniquingKeysWith: { first, _ in first })
        let suspension = try TableSuspension(copy, on: target)
        var checksums = ServiceChecksums.ofDefinition(original)
        for table in try tables.all() {
            guard let place = targets[table.label], place.columns.count == table.columns.count else {
                throw StoreError(.failure, "The copy lacks a table of the service: \(table.label).")
            }
            checksums[table.label] = try load(table, into: place)
        }
        checksums[AttachmentTables.media] = try ContentCopier(source: source).run(to: target) {
            progress(CopyProgress(table: AttachmentTables.media, rows: 1))
        }
        try keepNumbers(of: tables, targets)
        let generation = try ChangeLog.generation(on: source)
        let counted = target.dialect.isSQLite ? "" : ", counted = \(generation)"
        try target.execute("UPDATE fieldwork_state SET generation = \(generation)\(counted) WHERE id = 1")
        try suspension.end()
        return checksums.filter { $0.value.rows > 0 }
    }

    private func load(_ table: CopiedTable, into place: CopiedTable) throws -> TableChecksum {
        try target.execute("DELETE FROM \(quoted(place.name))")
        var checksum = ChecksumCounter(geometryIndex: table.geometryIndex)
        var reported = 0
        let load = try target.load(into: place.name, columns: place.columns.map(\.name))
        try table.forEachRow(on: source, srsID: place.srsID) { row in
            checksum.add(row)
            do {
                try load.add(row)
            } catch let error as StoreError {
                throw StoreError(
                    error.code, "Row \(row.first.map { "\($0)" } ?? "") of \(table.name): \(error.message)")
            }
            if checksum.rows - reported >= Limits.rowsOfPage {
                progress(CopyProgress(table: table.label, rows: checksum.rows - reported))
                reported = checksum.rows
            }
        }
        guard try load.finish() == checksum.rows else {
            throw StoreError(.failure, "Of \(checksum.rows) rows of \(table.name) not all have come.")
        }
        progress(CopyProgress(table: table.label, rows: checksum.rows - reported))
        return checksum.finish()
    }

    // MARK: Numbers

    /// What was given once is not given again, also where the newest row is gone.
    private func keepNumbers(of tables: ServiceTables, _ targets: [String: CopiedTable]) throws {
        var numbered = try tables.all().filter(\.isNumbered)
        if try source.hasTable(AttachmentTables.media) { numbered.append(ServiceTables.contents) }
        for table in numbered {
            guard let key = table.columns.first?.name else { continue }
            let place = targets[table.label] ?? table
            let last = try RowNumbers(table: table.name, key: key).last(on: source)
            try RowNumbers(table: place.name, key: place.columns.first?.name ?? key).keep(last, on: target)
        }
    }
}

/// What has been copied since it was told last.
package struct CopyProgress: Sendable {
    /// The label of the table.
    package var table: String
    package var rows: Int

    package var isOfFeatures: Bool { table.hasPrefix("features ") }
}

/// The numbers that a database gives to the rows of a table.
struct RowNumbers {
    let table: String
    let key: String

    /// The last number that was given; 0 for none.
    func last(on connection: StoreConnection) throws -> Int64 {
        let newest = try connection.integer("SELECT max(\(quoted(key))) FROM \(quoted(table))") ?? 0
        if connection.dialect.isSQLite {
            guard try connection.hasTable("sqlite_sequence") else { return newest }
            return max(
                newest,
                try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = ?") { try $0.bind(table, at: 1) }
                    ?? 0)
        }
        guard let sequence = try sequence(on: connection) else { return newest }
        let given = try connection.integer(
            "SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM \(sequence)")
        return max(newest, given ?? 0)
    }

    /// Goes on after a number.
    func keep(_ last: Int64, on connection: StoreConnection) throws {
        guard last > 0 else { return }
        guard connection.dialect.isSQLite else {
            guard let sequence = try sequence(on: connection) else { return }
            return try connection.run("SELECT setval(?::regclass, ?)") {
                try $0.bind(sequence, at: 1)
                try $0.bind(last, at: 2)
            }
        }
        guard try connection.hasTable("sqlite_sequence") else { return }
        try connection.run("DELETE FROM sqlite_sequence WHERE name = ?") { try $0.bind(table, at: 1) }
        try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)") {
            try $0.bind(table, at: 1)
            try $0.bind(last, at: 2)
        }
    }

    /// Its name as SQL has it; nil when the table's numbers are given otherwise.
    private func sequence(on connection: StoreConnection) throws -> String? {
        try connection.text("SELECT pg_catalog.pg_get_serial_sequence(?, ?)") {
            try $0.bind(quoted(table), at: 1)
            try $0.bind(key, at: 2)
        }
    }
}
