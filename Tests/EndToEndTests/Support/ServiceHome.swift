import FieldworkPostGIS
import Foundation
import TemporaryPostgres
import Testing

/// Where the services of a test lie: in a folder, or in a database of their own.
struct ServiceHome: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case folder, database

        /// Those that can be had here.
        static var installed: [Kind] { allCases.filter { $0 == .folder || TemporaryPostgres.isInstalled } }
    }

    /// What tells a verb where they are.
    let arguments: [String]
    private let check: [String]
    private let address: String?

    /// - Parameter folder: of the test.
    init(_ kind: Kind, in folder: URL) async throws {
        switch kind {
        case .folder: self.init(data: folder.appending(path: "data"))
        case .database:
            let address = try await TemporaryPostgres.shared.value.storeAddress()
            self.init(["--store", address], check: ["store", "check"], address: address)
        }
    }

    init(data: URL) { self.init(["--data", data.path], check: ["doctor"], address: nil) }

    private init(_ arguments: [String], check: [String], address: String?) {
        self.arguments = arguments
        self.check = check
        self.address = address
    }

    func serve(port: Int = 0) async throws -> FieldworkProcess {
        let process = try FieldworkProcess.start(["serve", "--port", String(port)] + arguments)
        _ = try await process.readyLine()
        return process
    }

    /// Waits until a killed server can have no more effect: a database does what it was told before it notices.
    func settle() async throws {
        guard let address else { return }
        let connection = try PostgresConnection(PostgresSettings(address))
        while try connection.integer(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'fieldwork' AND pid <> pg_backend_pid()
            """) != 0
        {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Records what is wrong with the services themselves.
    func expectSound() async throws {
        let checked = try await FieldworkProcess.run(check + arguments)
        #expect(checked.status == 0, "\(checked.text)\(checked.errors)")
    }
}
