package import FieldworkREST
package import Foundation
import Synchronization

/// One GeoPackage with the layers and tables of one service: a service of the server, a client's cache, an offline area.
/// It is an ordinary GeoPackage that QGIS and GDAL open and edit as it stands, while it is open here as well.
package final class GeoPackageFile: ServiceData {
    package struct Options: Sendable {
        /// Adds that name an object id keep it. For files whose ids are given by someone else; a server gives its own.
        package var keepsObjectIDs: Bool

        /// Edits can be undone, also after the file was closed. For files with one user: a device's geodatabase.
        package var recordsUndo: Bool

        /// Whether the file is a device's copy of what a service has: that runs all rules of edits again.
        var isOnDevice: Bool { keepsObjectIDs || recordsUndo }

        package init(keepsObjectIDs: Bool = false, recordsUndo: Bool = false) {
            self.keepsObjectIDs = keepsObjectIDs
            self.recordsUndo = recordsUndo
        }
    }

    /// The note of a file that is a device's copy of what a service has.
    package static let replicaNote = "replica"

    package let url: URL
    package let writer: Writer
    package let readers: ReaderPool
    package let source: ConnectionSource
    let counter: FeatureCounter
    let catalogue: Mutex<ServiceCatalogue>
    package let verifiedContents: VerifiedContents?

    /// Notices when another file comes into its place.
    let watch: FileWatch
    /// What had to be done when the file was opened, for the log of whoever serves it.
    let notice: String?

    /// - Parameter part: the bytes of the file that are the GeoPackage; nil for all of them.
    private init(
        url: URL, part: Range<Int>? = nil, catalogue: ServiceCatalogue, options: Options, watch: FileWatch,
        notice: String?, budget: ConnectionBudget? = nil
    ) {
        self.url = url
        self.watch = watch
        self.notice = notice
        self.catalogue = Mutex(catalogue)
        let source =
            part.map { ConnectionSource.part($0, of: url.path) } ?? .file(url.path, watch: watch, within: budget)
        self.source = source
        writer = Writer(source: source, catalogue: catalogue, options: options)
        readers = ReaderPool(source: source)
        counter = FeatureCounter(source)
        verifiedContents = VerifiedContents(path: url.path)
    }

    // MARK: Opening

    /// Creates a file with the empty layers and tables of a service. It appears whole or not at all.
    /// Throws `StoreError.serviceExists` when there is a file already, `StoreError.invalidDefinition`.
    package static func create(
        at url: URL, definition: ServiceDefinition, options: Options = Options()
    ) async throws -> GeoPackageFile {
        try await create(at: url, definition: definition, options: options, within: nil)
    }

    /// - Parameter budget: what bounds the connections of this file and others.
    static func create(
        at url: URL, definition: ServiceDefinition, options: Options = Options(), within budget: ConnectionBudget?
    ) async throws -> GeoPackageFile {
        try await onQueue { try NewFile(url: url).create(definition) }
        return try await open(at: url, options: options, after: nil, within: budget)
    }

    /// Opens a file that Fieldwork made or that was prepared by `prepare(at:as:)`. Throws `StoreError.notAGeoPackage`,
    /// `StoreError.unsupportedVersion`.
    ///
    /// A write-ahead log beside it that belongs to another file is set aside first.
    package static func open(at url: URL, options: Options = Options()) async throws -> GeoPackageFile {
        try await open(at: url, options: options, after: nil)
    }

    /// - Parameters:
    ///   - former: the file that was open at the place before.
    ///   - budget: what bounds the connections of this file and others.
    static func open(
        at url: URL, options: Options, after former: FileWatch?, within budget: ConnectionBudget? = nil
    ) async throws -> GeoPackageFile {
        let (catalogue, notice) = try await onQueue { () throws -> (ServiceCatalogue, String?) in
            guard FileManager.default.fileExists(atPath: url.path) else {
                throw StoreError(.serviceNotFound, "There is no file \(url.lastPathComponent).")
            }
            let arrival = try FileArrival.prepare(url, after: former)
            let connection = try StoreConnection(path: url.path, mode: .readWrite)
            guard try ServiceCatalogue.exists(on: connection) else {
                throw StoreError(.notAGeoPackage, "\(url.lastPathComponent) is no GeoPackage of a service.")
            }
            let catalogue = try ServiceCatalogue.read(from: connection)
            try LogStamp.prepare(on: connection)
            try connection.stampTransactions()
            try ReplicaTables.prepare(catalogue, on: connection)
            try AttachmentTables.prepare(catalogue, on: connection)
            return (catalogue, try arrival.finish(on: connection))
        }
        return GeoPackageFile(
            url: url, catalogue: catalogue, options: options, watch: FileWatch(url), notice: notice, budget: budget)
    }

    /// Opens a file to read it, without a change: also one that can't be written, and one of an older version. Throws as
    /// `open`.
    package static func look(at url: URL) async throws -> GeoPackageFile {
        let catalogue = try await onQueue { () throws -> ServiceCatalogue in
            guard FileManager.default.fileExists(atPath: url.path) else {
                throw StoreError(.serviceNotFound, "There is no file \(url.lastPathComponent).")
            }
            try LogOwnership.requireOwn(url)
            let connection = try StoreConnection(path: url.path, mode: .readOnly)
            guard try ServiceCatalogue.exists(on: connection) else {
                throw StoreError(.notAGeoPackage, "\(url.lastPathComponent) is no GeoPackage of a service.")
            }
            return try ServiceCatalogue.read(from: connection)
        }
        return GeoPackageFile(
            url: url, catalogue: catalogue, options: Options(), watch: FileWatch(url), notice: nil)
    }

    /// Opens a GeoPackage that is a stretch of a larger file, to read it. Throws as `open`.
    /// - Parameter part: the bytes of the file at `url`, which must not change while it is open.
    package static func look(at url: URL, part: Range<Int>) async throws -> GeoPackageFile {
        let catalogue = try await onQueue { () throws -> ServiceCatalogue in
            let connection = try StoreConnection(path: url.path, mode: .part(part))
            guard try ServiceCatalogue.exists(on: connection) else {
                throw StoreError(.notAGeoPackage, "A part of \(url.lastPathComponent) is no GeoPackage of a service.")
            }
            return try ServiceCatalogue.read(from: connection)
        }
        return GeoPackageFile(
            url: url, part: part, catalogue: catalogue, options: Options(), watch: FileWatch(url), notice: nil)
    }

    /// Makes an existing GeoPackage the data of a service, in place: its tables get what they lack (global ids, change
    /// log, counts) and stay editable by every other tool. Does nothing when it has been done already.
    ///
    /// - Parameter layerName: the name of the layer, where the file has one; its table's by default.
    package static func prepare(at url: URL, as name: ServiceName, layerName: String? = nil) async throws {
        try await onQueue { try ForeignFile(url: url).prepare(as: name, layerName: layerName) }
    }

    /// Copies a GeoPackage as its last commit left it, also while another program has it open. A plain copy of the file
    /// would miss what still lies in its write-ahead log.
    package static func copy(from source: URL, to target: URL) async throws {
        try await onQueue { try FileCopy(source: source, target: target).make() }
    }

    /// Runs blocking work away from Swift's shared threads.
    private static func onQueue<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
        -> Result
    {
        try await OneTimeWorker().run(body)
    }

    // MARK: Definition

    package var catalogueSnapshot: ServiceCatalogue { catalogue.withLock { $0 } }

    package var definition: ServiceDefinition { catalogue.withLock { $0.definition } }

    package func layer(_ id: Int) throws -> StoredLayer { try catalogue.withLock { try $0.layer(id) } }

    package func adopt(_ fresh: ServiceCatalogue) { catalogue.withLock { $0 = fresh } }

    /// Replaces the definition; see `FeatureStore.updateService`.
    package func updateDefinition(
        _ new: ServiceDefinition, allowing changes: DefinitionChanges = [], replacing old: ServiceDefinition? = nil
    ) async throws {
        let updated = try await writer.update(to: new, allowing: changes, replacing: old)
        catalogue.withLock { $0 = updated }
    }

    // MARK: Transactions

    /// Opens a transaction: all batches from now on belong to it, whoever applies them. Reads see them, other programs
    /// don't. Throws `StoreError.busy` inside another transaction.
    package func beginTransaction() throws { try writer.begin() }

    /// Makes all batches since `beginTransaction` durable at once.
    package func commitTransaction() throws { try writer.end(keeps: true) }

    /// Takes back all batches since `beginTransaction`.
    package func rollbackTransaction() throws { try writer.end(keeps: false) }

    // MARK: Notes

    /// A text that was kept in the file under a name; nil when there is none.
    package func note(_ name: String) async throws -> String? {
        try await read { try FileNotes(connection: $0).value(name) }
    }

    /// Keeps a text in the file, in a transaction of its own; nil forgets it. Throws `StoreError.busy` while one is open.
    package func keepNote(_ value: String?, as name: String) async throws {
        try await writer.write { try FileNotes(connection: $0).keep(value, as: name) }
    }

    // MARK: Care

    /// What is wrong with the file, in words; empty when all is well.
    package func check() async throws -> [String] {
        let relationships = catalogue.withLock { RelationshipRules($0) }
        let layers = catalogue.withLock { $0.definition.layers.compactMap { [layers = $0.layers] in layers[$0.id] } }
        return try await writer.inspect {
            try IntegrityCheck(connection: $0, layers: layers, relationships: relationships).run()
        }
    }

    /// Moves the write-ahead log into the file.
    package func checkpoint() async throws { try await writer.checkpoint() }

    package func close() async {
        counter.close()
        await readers.close()
        await writer.close()
    }

    /// Moves all that is committed into the file itself, without suspending: from then on the file alone may be copied or
    /// moved. Readers are let go soon after.
    package func closeNow() {
        counter.close()
        writer.closeNow()
        Task { await close() }
    }
}
