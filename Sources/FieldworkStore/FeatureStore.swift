package import FieldworkGeometry
package import FieldworkREST
package import Foundation

/// Where services, their layers and features are kept. There are two: folders of GeoPackages and PostgreSQL. Both
/// give equal answers: one suite of tests runs over every store.
///
/// All writes of features go through `apply`, in one transaction that also writes the change log. A write that `apply`
/// returned from survives the loss of power.
package protocol FeatureStore: Sendable {
    // MARK: Catalogue

    func serviceNames() async throws -> [ServiceName]
    /// The definition of a service. Throws `StoreError.serviceNotFound`.
    func service(_ name: ServiceName) async throws -> ServiceDefinition
    /// Creates a service with its layers and tables, all empty. Throws `StoreError.serviceExists`,
    /// `StoreError.invalidDefinition`.
    func createService(_ definition: ServiceDefinition) async throws
    /// Replaces the definition of a service, in one transaction that is a generation of its own. Looks, rights, domains and
    /// descriptions may always change; layers and fields come and go as far as `changes` says. What a removed field or
    /// layer held stays in the history. Throws `StoreError.invalidDefinition`, and nothing has changed then.
    /// - Parameter old: the definition from which the new one was made. When another has taken its place meanwhile, nothing
    ///   changes and `StoreError.busy` is thrown: nobody's change is overwritten unseen.
    func updateService(
        _ definition: ServiceDefinition, allowing changes: DefinitionChanges, replacing old: ServiceDefinition?
    ) async throws
    func deleteService(_ name: ServiceName) async throws

    // MARK: Reading

    /// The features of a query as bytes of an encoder, in pieces. The rows are read while the pieces are taken: a slow
    /// reader holds one piece in memory, not the answer.
    func encodedFeatures<Encoder: FeatureEncoder>(
        _ query: FeatureQuery, in layer: LayerAddress, encoder: Encoder
    ) async throws -> EncodedFeatures
    /// Statistics over the features of a query as bytes of an encoder: a row a group, which the database computes.
    func encodedStatistics<Encoder: FeatureEncoder>(
        _ query: StatisticsQuery, in layer: LayerAddress, encoder: Encoder
    ) async throws -> EncodedFeatures
    /// The related features of a query as bytes of an encoder, whose first column is the object id of the source; rows of
    /// one source follow each other. With `countsOnly` the second column is their number and the last.
    func encodedRelatedFeatures<Encoder: FeatureEncoder>(
        _ query: RelatedQuery, in service: ServiceName, encoder: Encoder
    ) async throws -> EncodedFeatures
    /// The features of a query as values. For callers that want few: bounded by the query's limit.
    func records(_ query: FeatureQuery, in layer: LayerAddress) async throws -> [FeatureRecord]
    func objectIDs(_ query: FeatureQuery, in layer: LayerAddress) async throws -> [Int64]
    func count(_ query: FeatureQuery, in layer: LayerAddress) async throws -> Int
    /// The extent of the features of a query in the layer's reference, nil without geometry, and their number.
    func extent(_ query: FeatureQuery, in layer: LayerAddress) async throws -> (extent: Envelope?, count: Int)

    /// Asks the validation rules of a layer about features; without such rules no feature is looked at. Nothing is changed.
    /// - Parameter most: the number of violations after which it ends.
    func validate(_ query: FeatureQuery, in layer: LayerAddress, most: Int) async throws -> RuleFindings

    // MARK: Writing

    /// Applies edits in one transaction. Throws only for what concerns the whole batch; the failure of an item is in its
    /// result. When `rollsBackOnFailure` is set and an item failed, nothing was changed and all the others carry
    /// `EditError.rolledBack`. A batch with a turn is refused as a whole (`StoreError.turnPassed`) once its sender has had
    /// this or a later one; the turn counts as had whatever becomes of the items.
    func apply(_ batch: EditBatch, to service: ServiceName) async throws -> EditBatchResult

    // MARK: Change log

    /// The generation of the last committed edit of a service; 0 before the first.
    func generation(of service: ServiceName) async throws -> Int64
    /// What changed after a generation, oldest first: one entry a feature and generation.
    func changes(after generation: Int64, in layer: LayerAddress, limit: Int) async throws -> [FeatureChange]
    /// The superseded versions of a feature, newest first.
    func history(of feature: FeatureIdentifier, in layer: LayerAddress) async throws -> [FeatureVersion]
    /// Milliseconds since 1970 of the first moment that a query may name; -1 for a service that was never edited, nil when
    /// the store keeps no history.
    func historyStart(in layer: LayerAddress) async throws -> Int64?

    func close() async throws
}

/// One layer or table of one service.
package struct LayerAddress: Sendable, Hashable {
    package var service: ServiceName
    package var layerID: Int

    package init(service: ServiceName, layerID: Int) {
        self.service = service
        self.layerID = layerID
    }
}

/// An entry of the change log.
package struct FeatureChange: Sendable, Hashable {
    package enum Operation: String, Sendable, Hashable {
        case add, update, delete
    }

    package var generation: Int64
    package var operation: Operation
    package var objectID: Int64
    package var globalID: UUID?
    /// Names of the fields that an update changed; the geometry is listed under `geometryName`.
    package var changedFields: [String]

    /// Stands for the geometry among the changed fields.
    package static let geometryName = "$geometry"

    package init(generation: Int64, operation: Operation, objectID: Int64, globalID: UUID?, changedFields: [String]) {
        self.generation = generation
        self.operation = operation
        self.objectID = objectID
        self.globalID = globalID
        self.changedFields = changedFields
    }
}

/// A version of a feature that an edit replaced or deleted.
package struct FeatureVersion: Sendable, Hashable {
    package var record: FeatureRecord
    /// The first generation in which this version stood and the one that ended it.
    package var fromGeneration: Int64
    package var toGeneration: Int64
    package var endedBy: FeatureChange.Operation
    package var endedAt: Date
    /// Who ended it.
    package var editor: String?
    /// The replica from which the edit came that ended it; nil for an edit that was made on the service itself.
    package var replicaID: UUID?

    package init(
        record: FeatureRecord, fromGeneration: Int64, toGeneration: Int64, endedBy: FeatureChange.Operation,
        endedAt: Date, editor: String?, replicaID: UUID? = nil
    ) {
        self.record = record
        self.fromGeneration = fromGeneration
        self.toGeneration = toGeneration
        self.endedBy = endedBy
        self.endedAt = endedAt
        self.editor = editor
        self.replicaID = replicaID
    }
}

/// The bytes of an answer in pieces, read on demand: `next` steps the store's cursor until about
/// `pieceSize` bytes are there. Dropping it releases the cursor.
package struct EncodedFeatures: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    /// A page of a thousand features is smaller: the hop to the store's thread is paid once for a common answer.
    package static let pieceSize = 512 * 1_024

    private let source: @Sendable () async throws -> [UInt8]?

    /// - Parameter source: gives the next piece, nil at the end.
    package init(source: @escaping @Sendable () async throws -> [UInt8]?) {
        self.source = source
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        let source: @Sendable () async throws -> [UInt8]?

        package mutating func next() async throws -> [UInt8]? { try await source() }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// What a store refuses, or what went wrong in it.
package struct StoreError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable {
        case serviceNotFound, serviceExists, layerNotFound, invalidDefinition, invalidQuery
        /// A database that `fieldwork store init` has not prepared, or can't be.
        case notPrepared
        case notAGeoPackage, unsupportedVersion, busy, corrupt, full, closed, failure, turnPassed
        /// Another file came into the place of the one that was open; what was asked for is in neither.
        case replaced
        /// What was to be written may have been committed, or not: its COMMIT was not confirmed. After every other error of an
        /// edit nothing was changed.
        case inDoubt
        /// The work would go beyond the limits of whoever asked for it.
        case overLimit
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
