import FieldworkPostGIS
import FieldworkStore
import Foundation
import TemporaryPostgres
import Testing

/// A store with all that a server serves.
typealias WholeStore = any ReplicaStore & AttachmentStore

/// Runs each test of a suite with a store of files, and again with one in a database where PostgreSQL is installed.
struct EveryStore: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal private static var isDatabase = false

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for isDatabase in [false, true] where !isDatabase || TemporaryPostgres.isInstalled {
            try await Self.$isDatabase.withValue(isDatabase) { try await function() }
        }
    }

    /// An empty store of the kind that the test runs on: a folder of files elsewhere.
    static func open(in folder: URL) async throws -> WholeStore {
        guard isDatabase else { return try await GeoPackageStore.open(at: folder) }
        return try await PostgresStore.open(TemporaryPostgres.shared.value.storeAddress())
    }
}

extension Trait where Self == EveryStore {
    static var everyStore: Self { EveryStore() }
}

extension AttachmentStore {
    /// What is wrong with the store, in words; empty when all is well.
    func check() async throws -> [String] {
        if let files = self as? GeoPackageStore { return try await files.check() }
        return try await (self as? PostgresStore)?.check() ?? ["The store can't be checked."]
    }
}
