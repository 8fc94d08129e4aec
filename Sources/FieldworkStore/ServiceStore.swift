package import FieldworkGeometry
package import FieldworkREST

/// A store that keeps the data of each service by itself.
package protocol ServiceStore: FeatureStore {
    associatedtype Service: ServiceData

    /// The data of a service, opened when they are not yet. Throws `StoreError.serviceNotFound`.
    func data(of service: ServiceName) async throws -> Service

    /// Makes a service that is all that another one is, wherever that lies: whole or not at all. Throws
    /// `StoreError.serviceExists`.
    /// - Parameters:
    ///   - verifies: reads all of it again and compares it before anybody sees it.
    ///   - progress: is told what has come.
    /// - Returns: the checksums of its tables, by their labels.
    func takeOver(
        _ original: ConnectionSource, as name: ServiceName, verifies: Bool,
        progress: @escaping @Sendable (CopyProgress) -> Void
    ) async throws -> [String: TableChecksum]
}

extension ServiceStore {
    // MARK: Reading

    package func encodedFeatures<Encoder: FeatureEncoder>(
        _ query: FeatureQuery, in layer: LayerAddress, encoder: Encoder
    ) async throws -> EncodedFeatures {
        try await data(of: layer.service).encodedFeatures(query, in: layer.layerID, encoder: encoder)
    }

    package func encodedStatistics<Encoder: FeatureEncoder>(
        _ query: StatisticsQuery, in layer: LayerAddress, encoder: Encoder
    ) async throws -> EncodedFeatures {
        try await data(of: layer.service).encodedStatistics(query, in: layer.layerID, encoder: encoder)
    }

    package func encodedRelatedFeatures<Encoder: FeatureEncoder>(
        _ query: RelatedQuery, in service: ServiceName, encoder: Encoder
    ) async throws -> EncodedFeatures {
        try await data(of: service).encodedRelatedFeatures(query, encoder: encoder)
    }

    package func records(_ query: FeatureQuery, in layer: LayerAddress) async throws -> [FeatureRecord] {
        try await data(of: layer.service).records(query, in: layer.layerID)
    }

    package func objectIDs(_ query: FeatureQuery, in layer: LayerAddress) async throws -> [Int64] {
        try await data(of: layer.service).objectIDs(query, in: layer.layerID)
    }

    package func count(_ query: FeatureQuery, in layer: LayerAddress) async throws -> Int {
        try await data(of: layer.service).count(query, in: layer.layerID)
    }

    package func extent(_ query: FeatureQuery, in layer: LayerAddress) async throws -> (extent: Envelope?, count: Int) {
        try await data(of: layer.service).extent(query, in: layer.layerID)
    }

    package func validate(
        _ query: FeatureQuery, in layer: LayerAddress, most: Int
    ) async throws -> RuleFindings {
        try await data(of: layer.service).validate(query, in: layer.layerID, most: most)
    }

    // MARK: Writing

    package func apply(_ batch: EditBatch, to service: ServiceName) async throws -> EditBatchResult {
        try await data(of: service).apply(batch)
    }

    // MARK: Change log

    package func generation(of service: ServiceName) async throws -> Int64 {
        try await data(of: service).generation()
    }

    package func changes(after generation: Int64, in layer: LayerAddress, limit: Int) async throws -> [FeatureChange] {
        try await data(of: layer.service).changes(after: generation, in: layer.layerID, limit: limit)
    }

    package func history(of feature: FeatureIdentifier, in layer: LayerAddress) async throws -> [FeatureVersion] {
        try await data(of: layer.service).history(of: feature, in: layer.layerID)
    }

    package func historyStart(in layer: LayerAddress) async throws -> Int64? {
        try await data(of: layer.service).historyStart(in: layer.layerID)
    }
}
