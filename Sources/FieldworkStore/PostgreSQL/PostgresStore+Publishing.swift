package import FieldworkREST
import Foundation

extension PostgresStore {
    /// Makes a service of a file that holds one. It is there whole or not at all: nobody sees it before its last feature has come.
    /// Object ids and global ids stay.
    /// - Parameter progress: is told how many features have come so far.
    /// - Returns: the number of features.
    package func publish(
        _ file: GeoPackageFile, as name: ServiceName, progress: (Int) -> Void
    ) async throws -> Int {
        var definition = file.definition
        definition.name = name
        try DefinitionRules.check(definition)
        let schema = try await catalogue.create(definition, isListed: false)
        do {
            let service = try await opened(schema)
            var count = 0
            for layer in definition.layers {
                let before = count
                try await copy(layer, from: file, to: service) { progress(before + $0) }
                count += try await service.count(FeatureQuery(), in: layer.id)
            }
            await service.close()
            try Task.checkCancellation()
            try await catalogue.list(name)
            return count
        } catch {
            try? await catalogue.delete(name)
            throw error
        }
    }

    /// In pieces by object id, each a transaction.
    private func copy(
        _ layer: LayerDefinition, from file: GeoPackageFile, to service: PostgresService,
        progress: (Int) -> Void
    ) async throws {
        var last = Int64.min
        var count = 0
        while true {
            try Task.checkCancellation()
            let rest = FeatureQuery(
                condition: .binary(.greater, .field(layer.objectIDField), .literal(.integer(last))),
                limit: Limits.rowsOfPage)
            let records = try await file.records(rest, in: layer.id)
            guard let newest = records.last?.objectID else { return }
            last = newest
            let adds = records.map { record in
                FeatureEdit(
                    objectID: record.objectID, globalID: record.globalID,
                    attributes: record.attributes.map { (name: $0.key, value: $0.value) },
                    geometry: record.geometry.map { .geometry($0) } ?? .null)
            }
            let result = try await service.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: layer.id, adds: adds)], usesGlobalIDs: true, moment: .now,
                    origin: .load))
            if let error = result.layers.first?.adds.compactMap(\.error).first(where: { $0 != .rolledBack }) {
                throw StoreError(.invalidDefinition, "A feature of \(layer.name) can't be taken: \(error.description)")
            }
            count += records.count
            progress(count)
        }
    }
}
