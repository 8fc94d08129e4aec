import FieldworkREST
import FieldworkStore
package import Foundation

/// Puts people, groups, items and their sharing back from a backup, in one transaction, while a server may go on.
///
/// What the backup has takes the place of what is there; what was made since stays. No token comes back: everybody signs in anew.
/// Rights that were taken away since come back only when whoever asks has been told of them.
package struct PortalRestorer: Sendable {
    private let backup: URL
    private let file: URL
    private let author: Author

    package struct Outcome: Sendable {
        /// What was there before; nil when nothing was.
        package var kept: URL?
        /// Rights that came back.
        package var returned: [String] = []
        /// People who are not in the backup and stay.
        package var stayed: [String] = []
        package var people = 0
    }

    /// Rights would come back that were taken away, and nothing was changed.
    package struct RightsWouldReturn: Error, Sendable {
        package var rights: [String]
    }

    /// - Parameters:
    ///   - backup: a `portal.sqlite` of a backup; it is only read.
    ///   - file: the place of the portal's file, which may be empty.
    package init(_ backup: URL, to file: URL, by author: Author = .commandLine) {
        (self.backup, self.file, self.author) = (backup, file, author)
    }

    /// - Parameter bringsBackRights: whether rights may come back that were taken away since the backup.
    package func run(bringsBackRights: Bool, at moment: Date = .now) async throws -> Outcome {
        let copy = file.deletingLastPathComponent().appending(
            path: ".portal.\(UUID().uuidString).making", directoryHint: .notDirectory)
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        }
        try await GeoPackageFile.copy(from: backup, to: copy)
        let people = try await prepare(copy)
        guard FileManager.default.fileExists(atPath: file.path) else {
            // A link fails where another process was faster, and never replaces its file.
            try FileManager.default.linkItem(at: copy, to: file)
            return Outcome(people: people)
        }
        // Tables of a later version are made where they are missing.
        let present = try await Portal(RecordDatabase(file: file))
        let now = present.now
        await present.close()
        let words = Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted).format(moment)
        let kept = file.deletingLastPathComponent().appending(
            path: "\(file.lastPathComponent).replaced-\(words)", directoryHint: .notDirectory)
        try await GeoPackageFile.copy(from: file, to: kept)
        do {
            let author = author
            var outcome = try await RecordDatabase.write(in: file, beside: copy) { records in
                var outcome = Outcome(people: people)
                outcome.returned = try ReturningRights(records: records).all()
                guard outcome.returned.isEmpty || bringsBackRights else {
                    throw RightsWouldReturn(rights: outcome.returned)
                }
                outcome.stayed = try records.rows(
                    """
                    SELECT shown FROM {people} WHERE name NOT IN (SELECT name FROM other.{people}) ORDER BY name
                    """
                ).compactMap { $0.text(0) }
                try Self.takeOver(records)
                try Portal.note(
                    "portal.restore", "", "\(outcome.returned.count) rights came back", author, now, records)
                try records.run(
                    "INSERT OR REPLACE INTO {state} (name, value) VALUES ('rights', ?)", [.text(Secret.id())])
                return outcome
            }
            outcome.kept = kept
            return outcome
        } catch {
            try? FileManager.default.removeItem(at: kept)
            throw error
        }
    }

    /// Makes the copy one that can be used: whole, with all tables, and without anything that opens.
    /// - Returns: how many people are in it.
    private func prepare(_ copy: URL) async throws -> Int {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
        let look = RecordDatabase(lookingInto: copy)
        let findings: [String]
        do {
            findings = try await look.read { records in
                _ = try records.rows("SELECT name FROM {people} LIMIT 1")
                return try records.rows("PRAGMA integrity_check").compactMap { $0.text(0) }.filter { $0 != "ok" }
            }
        } catch let error as StoreError where error.code != .busy {
            await look.close()
            throw StoreError(.notAGeoPackage, "\(backup.lastPathComponent) holds no people and rights.")
        }
        await look.close()
        guard findings.isEmpty else {
            throw StoreError(
                .corrupt, "\(backup.lastPathComponent) is not whole: \(findings.prefix(5).joined(separator: " "))")
        }
        let portal = try await Portal(RecordDatabase(file: copy))
        let (author, moment) = (author, portal.now)
        let count = try await portal.records.write { records in
            try records.run("DELETE FROM {tokens}")
            try Portal.note("portal.restore", "", "no token came back", author, moment, records)
            return Int(try records.row("SELECT count(*) FROM {people}")?.integer(0) ?? 0)
        }
        await portal.close()
        return count
    }

    // MARK: Taking over

    private static func takeOver(_ records: Records) throws {
        // Tokens that were revoked must not come back, and those that were given since belong to rights that may be others now.
        try records.run("DELETE FROM {tokens}")
        // A service has one item: that of the backup.
        let replaced = """
            SELECT p.id FROM {items} AS p JOIN other.{items} AS o ON o.service = p.service WHERE o.id <> p.id
            """
        for row in try records.rows(replaced) { try Portal.remove(row.text(0) ?? "", records) }
        for (table, key, owner) in [
            ("members", "group_id", "groups"), ("item_groups", "item", "items"), ("open_items", "item", "items"),
            ("contents", "item", "items"),
        ] {
            try records.run("DELETE FROM {\(table)} WHERE \(key) IN (SELECT id FROM other.{\(owner)})")
        }
        for table in [
            "people", "roles", "groups", "members", "folders", "items", "item_groups", "open_items", "views",
            "contents", "relations", "clients",
        ] {
            let columns = try self.columns(of: table, records)
            try records.run(
                "INSERT OR REPLACE INTO {\(table)} (\(columns)) SELECT \(columns) FROM other.{\(table)}")
        }
        try ItemChanges.noteAll(records)
    }

    /// Those that both files have: our own names, from our own tables.
    private static func columns(of table: String, _ records: Records) throws -> String {
        func names(_ schema: String) throws -> [String] {
            try records.rows("SELECT name FROM pragma_table_info('{\(table)}', '\(schema)')").compactMap { $0.text(0) }
        }
        let other = Set(try names("other"))
        return try names("main").filter(other.contains).joined(separator: ", ")
    }
}
