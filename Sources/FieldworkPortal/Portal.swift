import FieldworkREST
package import FieldworkStore
package import Foundation

/// The people of an organisation, what belongs to them, and who may do what. It knows no HTTP: the server and the command ask
/// it.
///
/// Rights are decided by `ItemRights` alone. What a request needs of them is kept in memory for a moment; a change by this process
/// holds at once, and one by another process of the same tables within `Limits.rightsMilliseconds`.
package final class Portal: Sendable {
    let records: RecordDatabase
    let hasher: PasswordHasher
    let memory = RightsMemory()
    let searches = SearchMemory()
    private let clock: @Sendable () -> Date

    /// Makes the tables where they are missing.
    /// - Parameters:
    ///   - passwordCost: see `Limits.passwordCost`. Passwords of another cost are hashed anew when their people sign in.
    ///   - now: the clock.
    package init(
        _ records: RecordDatabase, passwordCost: Int = Limits.passwordCost,
        now: @escaping @Sendable () -> Date = Date.init
    ) async throws {
        self.records = records
        hasher = PasswordHasher(cost: passwordCost)
        clock = now
        try await records.prepare(PortalTables.create)
        try await records.write { records in
            try records.run(
                "INSERT INTO {state} (name, value) VALUES ('id', ?) ON CONFLICT (name) DO NOTHING",
                [.text(Secret.id())])
        }
    }

    /// Looks at tables that are there; nothing is made, and nothing can be changed.
    package init(lookingInto file: URL) {
        records = RecordDatabase(lookingInto: file)
        hasher = PasswordHasher(cost: Limits.passwordCost)
        clock = Date.init
    }

    /// The file of a folder of services.
    package static func file(in folder: URL) -> URL { folder.appending(path: "portal.sqlite") }

    package func close() async { await records.close() }

    /// Milliseconds since 1970.
    package var now: Int64 { Int64((clock().timeIntervalSince1970 * 1_000).rounded(.down)) }

    /// The id of the organisation, made once.
    package func id() async throws -> String {
        try await records.read { try $0.row("SELECT value FROM {state} WHERE name = 'id'")?.text(0) } ?? ""
    }

    /// What a program has noted of its work with this portal; nil where it has noted nothing.
    package func mark(_ name: String) async throws -> String? {
        try await records.read { records in
            try records.row("SELECT value FROM {state} WHERE name = ?", [.text("mark " + name)])?.text(0)
        }
    }

    package func setMark(_ value: String, _ name: String) async throws {
        try await records.write { records in
            try records.run(
                """
                INSERT INTO {state} (name, value) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, [.text("mark " + name), .text(value)])
        }
    }

    /// Changes something that rights depend on: everything remembered of them is forgotten, here at once.
    @discardableResult
    func change<Result: Sendable>(_ body: @Sendable (Records) throws -> Result) async throws -> Result {
        let result = try await records.write { records in
            let result = try body(records)
            try records.run(
                """
                INSERT INTO {state} (name, value) VALUES ('rights', ?)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, [.text(Secret.id())])
            return result
        }
        memory.forget()
        return result
    }

    /// Asks from time to time whether another process has changed rights.
    func refresh() async throws {
        guard memory.claimCheck() else { return }
        do {
            let version = try await records.read {
                try $0.row("SELECT value FROM {state} WHERE name = 'rights'")?.text(0)
            }
            memory.note(version: version ?? "")
        } catch {
            guard memory.outlastsFailure else { throw error }
        }
    }
}

/// Who does something, for the audit log.
package struct Author: Sendable, Hashable {
    package var name: String
    /// The client's address.
    package var address: String

    package init(name: String, address: String) {
        self.name = name
        self.address = address
    }

    package static let commandLine = Author(name: "(command line)", address: "this machine")
}
