import FieldworkStore
import Foundation

/// What an interrupted making has taken already, kept in its working file, so that the next one of the same sources goes on there.
///
/// Houses, streets and places stand in the file anyway; a checkpoint adds the names and zones that are in memory, and commits. What
/// `ZoneFiller` learnt is written as it learns, and learnt again. The sources must give the same records in the same order: their
/// fingerprint says whether they are the same.
struct BuildCheckpoint {
    static let tables = [
        "CREATE TABLE stage_state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE stage_name (id INTEGER PRIMARY KEY, full TEXT NOT NULL, key TEXT NOT NULL, others TEXT)",
        """
        CREATE TABLE stage_zone (id INTEGER PRIMARY KEY, neighborhood TEXT NOT NULL, city TEXT NOT NULL, subregion TEXT NOT NULL,
            region TEXT NOT NULL, postal TEXT NOT NULL, country TEXT NOT NULL)
        """,
        "CREATE TABLE stage_learnt (zone INTEGER NOT NULL, city TEXT, x REAL NOT NULL, y REAL NOT NULL, reach REAL)",
    ]

    private let connection: StoreConnection

    init(_ connection: StoreConnection) { self.connection = connection }

    // MARK: Writing

    func write(_ state: [String: String], names: NameRegister, zones: ZoneRegister) throws {
        try connection.execute("DELETE FROM stage_name")
        for (id, full) in names.full.enumerated() {
            try connection.run("INSERT INTO stage_name VALUES (?, ?, ?, ?)") {
                try $0.bind(Int64(id), at: 1)
                try $0.bind(full, at: 2)
                try $0.bind(names.keys[id], at: 3)
                try $0.bind(names.others[id].map { $0.sorted().joined(separator: "\n") }, at: 4)
            }
        }
        try connection.execute("DELETE FROM stage_zone")
        for (id, zone) in zones.all.enumerated() {
            try connection.run("INSERT INTO stage_zone VALUES (?, ?, ?, ?, ?, ?, ?)") {
                try $0.bind(Int64(id), at: 1)
                let texts = [zone.neighborhood, zone.city, zone.subregion, zone.region, zone.postal, zone.country]
                for (index, text) in texts.enumerated() { try $0.bind(text, at: index + 2) }
            }
        }
        for (key, value) in state {
            try connection.run("INSERT OR REPLACE INTO stage_state VALUES (?, ?)") {
                try $0.bind(key, at: 1)
                try $0.bind(value, at: 2)
            }
        }
    }

    /// Notes what the zones of houses are completed by: an address that says its town, or a town with its reach.
    func note(_ zone: Int, city: String?, x: Double, y: Double, reach: Double?) throws {
        try connection.run("INSERT INTO stage_learnt VALUES (?, ?, ?, ?, ?)") {
            try $0.bind(Int64(zone), at: 1)
            try $0.bind(city, at: 2)
            try $0.bind(x, at: 3)
            try $0.bind(y, at: 4)
            if let reach { try $0.bind(reach, at: 5) } else { try $0.bindNull(at: 5) }
        }
    }

    // MARK: Reading

    func state() throws -> [String: String] {
        var state: [String: String] = [:]
        try connection.run("SELECT key, value FROM stage_state", row: { state[$0.text(0)] = $0.text(1) })
        return state
    }

    func names() throws -> NameRegister {
        var names = NameRegister()
        try connection.run("SELECT full, key, others FROM stage_name ORDER BY id") { _ in
        } row: { row in
            let others = (row.optionalText(2) ?? "").split(separator: "\n").map(String.init)
            let key = row.text(1)
            _ = names.id(of: row.text(0), key: key, others: others)
        }
        return names
    }

    func zones() throws -> ZoneRegister {
        var zones = ZoneRegister()
        try connection.run("SELECT * FROM stage_zone ORDER BY id") { _ in
        } row: { row in
            _ = zones.id(
                of: AddressZone(
                    neighborhood: row.text(1), city: row.text(2), subregion: row.text(3), region: row.text(4),
                    postal: row.text(5), country: row.text(6)))
        }
        return zones
    }

    func filler(_ zones: ZoneRegister) throws -> ZoneFiller {
        var filler = ZoneFiller()
        try connection.run("SELECT zone, city, x, y, reach FROM stage_learnt ORDER BY rowid") { _ in
        } row: { row in
            guard zones.all.indices.contains(Int(row.integer(0))) else { return }
            var zone = zones.all[Int(row.integer(0))]
            if let city = row.optionalText(1) { zone.city = city }
            if row.isNull(4) {
                filler.learn(zone, x: row.double(2), y: row.double(3))
            } else {
                filler.learn(town: zone, x: row.double(2), y: row.double(3), reach: row.double(4))
            }
        }
        return filler
    }
}

extension WorkFiles {
    /// Takes over the working file of a process that is no more, when it was making the same of the same sources.
    /// - Returns: whether `workFile` is there now.
    static func takeOver(of target: URL, fingerprint: String, as workFile: URL) -> Bool {
        abandoned(of: target).contains { file in
            // Of two processes that find it one gets it.
            file.lastPathComponent.hasSuffix("-work") && isOf(fingerprint, file)
                && rename(file.path, workFile.path) == 0
        }
    }

    private static func isOf(_ fingerprint: String, _ file: URL) -> Bool {
        // What its last transaction had begun is undone by the first look.
        guard let connection = try? StoreConnection(path: file.path, mode: .readWrite),
            (try? connection.hasTable("stage_state")) == true,
            let state = try? BuildCheckpoint(connection).state(), state["fingerprint"] == fingerprint
        else { return false }
        return (try? connection.text("PRAGMA quick_check(1)")) == "ok"
    }
}
