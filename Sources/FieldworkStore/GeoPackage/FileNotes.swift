import FieldworkREST

/// Small texts that the owner of a file keeps in it under names: what a device knows about the service that its copy came
/// from. They travel with the file.
struct FileNotes {
    static let table = "fieldwork_notes"
    let connection: StoreConnection

    func value(_ name: String) throws -> String? {
        guard try exists() else { return nil }
        return try connection.text("SELECT value FROM \(Self.table) WHERE name = ?") { try $0.bind(name, at: 1) }
    }

    /// Keeps a text, or forgets it when it is nil.
    func keep(_ value: String?, as name: String) throws {
        try prepare()
        guard let value else {
            return try connection.run("DELETE FROM \(Self.table) WHERE name = ?") { try $0.bind(name, at: 1) }
        }
        try connection.run(
            "INSERT INTO \(Self.table) (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2"
        ) {
            try $0.bind(name, at: 1)
            try $0.bind(value, at: 2)
        }
    }

    /// Makes the table where it is missing.
    func prepare() throws {
        if try exists() { return }
        try connection.execute("CREATE TABLE \(Self.table) (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)")
        try GeoPackageSchema.registerOwn(Self.table, on: connection)
    }

    private func exists() throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?") {
            try $0.bind(Self.table, at: 1)
        } != nil
    }
}
