import FieldworkPostGIS
import FieldworkREST
import Foundation
import Synchronization
import TemporaryPostgres
import Testing

@testable import FieldworkStore

/// The stores that there are. What is expected of one is expected of all.
enum StoreKind: String, Sendable, CaseIterable {
    case geoPackage, postgreSQL

    /// The one that a test of a suite with `.everyStore` runs on.
    @TaskLocal static var current = StoreKind.geoPackage

    var isInstalled: Bool { self == .geoPackage || TemporaryPostgres.isInstalled }

    /// An empty store, which is closed when the test is over.
    func make(in folder: TemporaryFolder) async throws -> any FeatureStore {
        switch self {
        case .geoPackage: return try await GeoPackageStore.open(at: folder.url)
        case .postgreSQL:
            let address = try await TemporaryPostgres.shared.value.storeAddress()
            EveryStore.opened?.withLock { $0.address = address }
            return try await again(in: folder)
        }
    }

    /// A second store on the same data.
    func again(in folder: TemporaryFolder) async throws -> any FeatureStore {
        switch self {
        case .geoPackage: return try await GeoPackageStore.open(at: folder.url)
        case .postgreSQL:
            let address = try #require(EveryStore.opened?.withLock { $0.address })
            let store = try await PostgresStore.open(address)
            EveryStore.opened?.withLock { $0.stores.append(store) }
            return store
        }
    }
}

extension StoreKind {
    /// Changes the data of a service as another program does.
    func change(_ sql: String, in service: ServiceName, _ folder: TemporaryFolder) throws {
        switch self {
        case .geoPackage:
            let path = try GeoPackageStore.place(of: service, in: folder.url).path
            let connection = try StoreConnection(path: path, mode: .readWrite)
            try connection.execute(sql)
            connection.forgetStatements()
        case .postgreSQL:
            let address = try #require(EveryStore.opened?.withLock { $0.address })
            var settings = try PostgresSettings(address)
            settings.searchPath = [service.name.lowercased()]
            try PostgresConnection(settings).execute(sql)
        }
    }

    /// A second store on the same data, for replicas.
    func replicaStoreAgain(in folder: TemporaryFolder) async throws -> any ReplicaStore {
        try #require(try await again(in: folder) as? any ReplicaStore)
    }

    /// The first value that a query of another program finds in the data of a service; nil for no row.
    func look(_ sql: String, in service: ServiceName, _ folder: TemporaryFolder) throws -> String? {
        switch self {
        case .geoPackage:
            let path = try GeoPackageStore.place(of: service, in: folder.url).path
            let answer = try ShellTool.run("sqlite3", [path, sql])
            return answer.split(separator: "\n").first.map { String($0.prefix { $0 != "|" }) }
        case .postgreSQL:
            let address = try #require(EveryStore.opened?.withLock { $0.address })
            var settings = try PostgresSettings(address)
            settings.searchPath = [service.name.lowercased()]
            return try PostgresConnection(settings).text(sql)
        }
    }
}

/// Runs each test of a suite on every store that is installed.
struct EveryStore: TestTrait, SuiteTrait, TestScoping {
    /// What the test has opened: each connection is a process of the server.
    @TaskLocal fileprivate static var opened: OpenedStores?

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for kind in StoreKind.allCases where kind.isInstalled {
            let opened = OpenedStores()
            try await StoreKind.$current.withValue(kind) {
                try await Self.$opened.withValue(opened) { try await function() }
            }
            for store in opened.withLock({ $0.stores }) { try await store.close() }
        }
    }
}

/// What a test has opened.
final class OpenedStores: Sendable {
    struct State: Sendable {
        var stores: [any FeatureStore] = []
        /// Of the database.
        var address: String?
    }

    private let state = Mutex(State())

    func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }
}

extension Trait where Self == EveryStore {
    static var everyStore: Self { EveryStore() }
}

extension FeatureStore {
    /// What is wrong with the store, in words; empty when all is well.
    func check() async throws -> [String] {
        if let files = self as? GeoPackageStore { return try await files.check() }
        return try await (self as? PostgresStore)?.check() ?? ["The store can't be checked."]
    }
}
