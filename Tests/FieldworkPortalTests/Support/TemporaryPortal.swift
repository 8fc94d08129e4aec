import FieldworkPostGIS
import FieldworkStore
import Foundation
import Synchronization
import TemporaryPostgres
import Testing

@testable import FieldworkPortal

/// A portal over a real file, or over a real database, with a clock that tests move.
final class TemporaryPortal: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case file, database
    }

    let portal: Portal
    /// Another process of the same tables.
    let other: Portal
    let folder: URL
    private let time: Time

    /// A clock that stands still until a test moves it.
    private final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

        var now: Date { date.withLock { $0 } }
        func pass(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    static let password = "correct horse"
    static let author = Author(name: "test", address: "192.0.2.1")

    static var kinds: [Kind] { TemporaryPostgres.isInstalled ? Kind.allCases : [.file] }

    private init(portal: Portal, other: Portal, folder: URL, time: Time) {
        self.portal = portal
        self.other = other
        self.folder = folder
        self.time = time
    }

    func pass(seconds: Double) { time.pass(seconds) }

    /// Adds a person with the password of all tests.
    @discardableResult
    func add(_ name: String, _ role: Role) async throws -> Principal {
        try await portal.addPerson(name, password: Self.password, role: role, by: Self.author)
        return try #require(try await portal.principal(named: name))
    }

    /// Adds an item of a person.
    func addItem(_ title: String, type: String = "Web Map", owner: Principal, tags: [String] = []) async throws -> Item
    {
        var change = ItemChange()
        change.title = title
        change.type = type
        change.tags = tags
        return try await portal.addItem(change, owner: owner.name ?? "", for: owner, by: Self.author)
    }

    /// Runs a test with a portal whose passwords cost little.
    static func with<Result: Sendable>(
        _ kind: Kind = .file, cost: Int = 4, _ test: (TemporaryPortal) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-portal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = Time()
        let records: [RecordDatabase]
        switch kind {
        case .file:
            records = try (0..<2).map { _ in try RecordDatabase(file: Portal.file(in: folder)) }
        case .database:
            let connect = try PostgresStore.sessions(try await TemporaryPostgres.shared.value.storeAddress())
            records = (0..<2).map { _ in RecordDatabase(connect: connect) }
        }
        let portal = try await Portal(records[0], passwordCost: cost) { time.now }
        let other = try await Portal(records[1], passwordCost: cost) { time.now }
        let temporary = TemporaryPortal(portal: portal, other: other, folder: folder, time: time)
        do {
            let result = try await test(temporary)
            await portal.close()
            await other.close()
            return result
        } catch {
            await portal.close()
            await other.close()
            throw error
        }
    }
}
