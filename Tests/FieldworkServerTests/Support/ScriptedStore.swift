import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Synchronization

/// A store whose answers a test writes, for what a real one can't be made to do at a chosen moment: fail in the middle of an
/// answer, be slow, be out of order.
final class ScriptedStore: FeatureStore {
    /// Gives the pieces of every query's answer; nil is the end.
    private let piece: @Sendable (_ index: Int) async throws -> [UInt8]?
    private let failure: StoreError?
    private let closings = Mutex(0)
    private let idCount: Int
    private let counted: @Sendable () async throws -> Int

    /// - Parameters:
    ///   - failure: what every question is answered with.
    ///   - idCount: how many features there are.
    ///   - counted: answers a count of features.
    init(
        failure: StoreError? = nil, idCount: Int = 0,
        piece: @escaping @Sendable (_ index: Int) async throws -> [UInt8]? = { _ in nil },
        counted: @escaping @Sendable () async throws -> Int = { 0 }
    ) {
        self.failure = failure
        self.idCount = idCount
        self.counted = counted
        self.piece = piece
    }

    var closeCount: Int { closings.withLock { $0 } }

    private func check() throws { if let failure { throw failure } }

    func serviceNames() async throws -> [ServiceName] {
        try check()
        return [TreesService.name]
    }

    func service(_ name: ServiceName) async throws -> ServiceDefinition {
        try check()
        return TreesService.definition
    }

    func encodedFeatures<Encoder: FeatureEncoder>(
        _ query: FeatureQuery, in layer: LayerAddress, encoder: Encoder
    ) async throws -> EncodedFeatures {
        let pieces = Counter()
        return EncodedFeatures { [piece] in try await piece(pieces.next()) }
    }

    func validate(_ query: FeatureQuery, in layer: LayerAddress, most: Int) async throws -> RuleFindings {
        try check()
        return RuleFindings()
    }

    func encodedStatistics<Encoder: FeatureEncoder>(
        _ query: StatisticsQuery, in layer: LayerAddress, encoder: Encoder
    ) async throws -> EncodedFeatures {
        let pieces = Counter()
        return EncodedFeatures { [piece] in try await piece(pieces.next()) }
    }

    func encodedRelatedFeatures<Encoder: FeatureEncoder>(
        _ query: RelatedQuery, in service: ServiceName, encoder: Encoder
    ) async throws -> EncodedFeatures {
        let pieces = Counter()
        return EncodedFeatures { [piece] in try await piece(pieces.next()) }
    }

    func createService(_ definition: ServiceDefinition) async throws { try check() }
    func updateService(
        _ definition: ServiceDefinition, allowing changes: DefinitionChanges, replacing old: ServiceDefinition?
    ) async throws { try check() }
    func deleteService(_ name: ServiceName) async throws { try check() }
    func records(_ query: FeatureQuery, in layer: LayerAddress) async throws -> [FeatureRecord] { [] }
    func objectIDs(_ query: FeatureQuery, in layer: LayerAddress) async throws -> [Int64] {
        Array(repeating: 1, count: min(idCount, query.limit ?? .max))
    }
    func count(_ query: FeatureQuery, in layer: LayerAddress) async throws -> Int { try await counted() }
    func extent(_ query: FeatureQuery, in layer: LayerAddress) async throws -> (extent: Envelope?, count: Int) {
        (nil, 0)
    }
    func apply(_ batch: EditBatch, to service: ServiceName) async throws -> EditBatchResult {
        throw StoreError(.full, "no space left")
    }
    func generation(of service: ServiceName) async throws -> Int64 { 0 }
    func changes(after generation: Int64, in layer: LayerAddress, limit: Int) async throws -> [FeatureChange] { [] }
    func historyStart(in layer: LayerAddress) async throws -> Int64? { nil }
    func history(of feature: FeatureIdentifier, in layer: LayerAddress) async throws -> [FeatureVersion] { [] }
    func close() async throws { closings.withLock { $0 += 1 } }
}

/// Counts up from zero.
private final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock { value in
            defer { value += 1 }
            return value
        }
    }
}
