package import FieldworkREST
package import Foundation
import Synchronization

/// Services kept in a database of PostgreSQL with PostGIS, each in a schema of its own. Which ones there are stands in the schema
/// `fieldwork`, where the functions lie that all of them share.
package final class PostgresStore: ServiceStore, WorkSharingStore {
    /// Makes a session whose search path begins with a schema.
    package typealias Connect = @Sendable (_ schema: String, _ writes: Bool) throws -> any DatabaseSession

    /// A copy of the database that PostgreSQL keeps by streaming.
    package struct Standby: Sendable {
        var connect: Connect
        /// How long it is left alone once it was away.
        var rest: Duration
        var budget = ConnectionBudget(limit: Limits.sessions)

        package init(connect: @escaping Connect, rest: Duration = .seconds(Limits.standbyRestSeconds)) {
            self.connect = connect
            self.rest = rest
        }
    }

    /// The schema of what all services share.
    package static let functionsSchema = PostgresFunctions.schema

    private struct State {
        var services: [ServiceName: (schema: String, service: PostgresService)] = [:]
        var isClosed = false
    }

    /// Of this process alone, and gone with it: for what one request needs on the disk. The rest is `sharedWork`.
    package let workFolder = FileManager.default.temporaryDirectory.appending(
        path: "fieldwork-work-\(UUID().uuidString)", directoryHint: .isDirectory)

    /// What is on its way, for all processes.
    package let sharedWork: SharedWork

    let connect: Connect

    /// Tables beside those of the services, which every process of the database shares.
    package func openRecords() -> RecordDatabase { RecordDatabase(connect: connect) }
    private let standbys: [Standby]
    /// Of the connections of all services.
    let budget: ConnectionBudget
    let catalogue: PostgresCatalogue
    private let state = Mutex(State())

    /// Opens a database that `initialize` has prepared. Throws `StoreError.notPrepared` for one that it has not.
    /// - Parameters:
    ///   - standbys: answer queries in place of the primary: the first of them that can.
    ///   - sessions: how many connections all services have together, and as many on each standby.
    package init(
        connect: @escaping Connect, standbys: [Standby] = [], sessions: Int = Limits.sessions
    ) async throws {
        self.connect = connect
        budget = ConnectionBudget(limit: sessions)
        self.standbys = standbys.map { standby in
            var standby = standby
            standby.budget = ConnectionBudget(limit: sessions)
            return standby
        }
        sharedWork = SharedWork(connect: connect)
        catalogue = PostgresCatalogue(connect: connect)
        try await catalogue.check()
    }

    /// Makes what all services of a database share. Does no harm where it is there already.
    package static func initialize(connect: @escaping Connect) async throws {
        try await PostgresCatalogue(connect: connect).initialize()
    }

    /// Brings a database that an older Fieldwork prepared up to date. Throws `StoreError.notPrepared` for one that is not
    /// prepared.
    /// - Returns: whether it was not.
    package static func migrate(connect: @escaping Connect) async throws -> Bool {
        try await PostgresCatalogue(connect: connect).migrate()
    }

    // MARK: Services

    package func data(of service: ServiceName) async throws -> PostgresService {
        let (known, isClosed) = state.withLock { ($0.services[service]?.service, $0.isClosed) }
        if isClosed { throw StoreError(.closed, "The store is closed.") }
        if let known { return known }
        let schema = try await catalogue.schema(of: service)
        let opened = try await opened(schema)
        return try state.withLock { state in
            if state.isClosed { throw StoreError(.closed, "The store is closed.") }
            // Somebody was faster: one writer a process, so that batches share transactions.
            if let other = state.services[service] { return other.service }
            state.services[service] = (schema, opened)
            return opened
        }
    }

    func opened(_ schema: String) async throws -> PostgresService {
        let source = ConnectionSource.sessions(within: budget) { [connect] writes in try connect(schema, writes) }
        let read = try await OneTimeWorker().run {
            try PostgresReplicas.prepare(source)
            return try ServiceCatalogue.read(from: source.open(.readOnly))
        }
        let readers = standbys.map { standby in
            StandbyReaders(
                source: .sessions(within: standby.budget) { _ in try standby.connect(schema, false) },
                rest: standby.rest)
        }
        return PostgresService(source: source, standbys: readers, catalogue: read)
    }

    package func serviceNames() async throws -> [ServiceName] { try await catalogue.names() }

    package func service(_ name: ServiceName) async throws -> ServiceDefinition {
        // Another process may have removed it, or made it anew.
        let schema = try await currentSchema(of: name)
        let stale = state.withLock { state -> PostgresService? in
            guard let known = state.services[name], known.schema != schema else { return nil }
            state.services[name] = nil
            return known.service
        }
        await stale?.close()
        let service = try await data(of: name)
        try await service.refresh()
        return service.definition
    }

    private func currentSchema(of name: ServiceName) async throws -> String {
        do {
            return try await catalogue.schema(of: name)
        } catch let error as StoreError where error.code == .serviceNotFound {
            await forget(name)
            throw error
        }
    }

    private func forget(_ name: ServiceName) async {
        let known = state.withLock { $0.services.removeValue(forKey: name)?.service }
        await known?.close()
    }

    package func createService(_ definition: ServiceDefinition) async throws {
        try DefinitionRules.check(definition)
        try await catalogue.create(definition)
    }

    package func updateService(
        _ definition: ServiceDefinition, allowing changes: DefinitionChanges, replacing old: ServiceDefinition?
    ) async throws {
        let service = try await data(of: definition.name)
        service.adopt(try await service.writer.update(to: definition, allowing: changes, replacing: old))
    }

    package func deleteService(_ name: ServiceName) async throws {
        try await catalogue.delete(name)
        await forget(name)
    }

    /// Takes a service from those that are served. All of it stays; only of tables that were published in place all is taken away
    /// that they were given. Throws `StoreError.serviceNotFound`.
    package func unpublish(_ name: ServiceName) async throws {
        if try await isInPlace(name) { return try await takeBack(name) }
        guard try await catalogue.list(name, false) == true else {
            throw StoreError(.serviceNotFound, "There is no service \(name.path).")
        }
        await forget(name)
    }

    /// Serves again what `unpublish` took away. Throws `StoreError.serviceNotFound`.
    package func restore(_ name: ServiceName) async throws {
        guard try await catalogue.list(name) == false else {
            throw StoreError(.serviceNotFound, "There is no unpublished service \(name.path).")
        }
    }

    /// What is wrong with the services, each finding with its service; empty when all is well.
    package func check() async throws -> [String] {
        var findings: [String] = []
        for name in try await serviceNames() {
            findings += try await data(of: name).check().map { "\(name.path): \($0)" }
        }
        return findings
    }

    /// What an administrator should know of the database, beside what is wrong; empty when there is nothing.
    package func advice() async throws -> [String] {
        let (standbys, waitsForNone) = try await catalogue.replication()
        guard standbys > 0, waitsForNone else { return [] }
        return [
            """
            A standby follows the database, and no COMMIT waits for it (synchronous_standby_names): when it takes the primary's \
            place, edits may be lost that were acknowledged last.
            """
        ]
    }

    package func close() async throws {
        let services = state.withLock { state in
            state.isClosed = true
            defer { state.services = [:] }
            return state.services.values.map(\.service)
        }
        for service in services { await service.close() }
        await sharedWork.close()
        await catalogue.close()
        try? FileManager.default.removeItem(at: workFolder)
    }
}
