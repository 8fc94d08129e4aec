package import FieldworkREST
import FieldworkStore
package import Foundation

/// Writes the features of layers into a file that `fieldwork publish` reads again.
package struct FeatureExport: Sendable {
    package enum Format: String, Sendable, CaseIterable {
        case geoPackage = "gpkg"
        case geoJSON = "geojson"
        case csv
    }

    /// A layer, and how its features are read.
    package struct Layer: Sendable {
        package var definition: LayerDefinition
        /// Gives the features in pages, in the reference of the EPSG code, or in the layer's own.
        package var pages: @Sendable (_ outSR: Int?, _ body: (FeatureSet) async throws -> Void) async throws -> Void

        package init(
            _ definition: LayerDefinition,
            pages: @escaping @Sendable (Int?, (FeatureSet) async throws -> Void) async throws -> Void
        ) {
            self.definition = definition
            self.pages = pages
        }
    }

    package var format: Format
    /// Is told how many features are written.
    package var progress: @Sendable (Int) -> Void

    package init(_ format: Format, progress: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.format = format
        self.progress = progress
    }

    /// Writes a file, which is not there yet. A table or GeoJSON takes one layer, a GeoPackage any number.
    /// - Parameter name: of the service in a GeoPackage.
    /// - Returns: the number of features.
    package func write(_ layers: [Layer], name: String, to file: URL) async throws -> Int {
        switch format {
        case .geoPackage: return try await writeGeoPackage(layers, name, file)
        case .geoJSON: return try await writeText(try Self.only(layers), .geojson, file)
        case .csv: return try await writeText(try Self.only(layers), .csv, file)
        }
    }

    private static func only(_ layers: [Layer]) throws(PublishingError) -> Layer {
        guard let layer = layers.first, layers.count == 1 else {
            let names = layers.map { "\($0.definition.id) (\($0.definition.name))" }.joined(separator: ", ")
            throw PublishingError(
                .badData, "A table and GeoJSON hold one layer. Say which: \(names). A GeoPackage holds all of them.")
        }
        return layer
    }

    private func writeText(_ layer: Layer, _ format: FeatureFileText.Format, _ file: URL) async throws -> Int {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var count = 0
        var writer = FeatureFileText(format: format) { try handle.write(contentsOf: Data($0.utf8)) }
        try await layer.pages(format == .geojson ? 4_326 : nil) { set in
            // A full disk has to end the export, not to cut the file.
            try writer.write(set)
            count += set.features.count
            progress(count)
        }
        try writer.finish()
        return count
    }

    private func writeGeoPackage(_ layers: [Layer], _ name: String, _ file: URL) async throws -> Int {
        let definitions = layers.enumerated().map { id, layer in
            var own = layer.definition
            own.id = id
            own.relationships = []
            own.hasAttachments = false
            return own
        }
        let definition = ServiceDefinition(
            name: ServiceName(name: name), spatialReference: definitions.first?.spatialReference, layers: definitions)
        let geoPackage = try await GeoPackageStore.createFile(
            at: file, definition: definition, options: GeoPackageFile.Options(keepsObjectIDs: true))
        var count = 0
        do {
            for (id, layer) in layers.enumerated() {
                try await layer.pages(nil) { set in
                    count += try await Self.write(set, into: geoPackage, id, layer.definition)
                    progress(count)
                }
            }
            try await geoPackage.checkpoint()
            await geoPackage.close()
        } catch {
            await geoPackage.close()
            throw error
        }
        // Whoever is given the file gets the features, not the bookkeeping of this program.
        try await GeoPackageFile.makePlain(file)
        return count
    }

    private static func write(
        _ set: FeatureSet, into file: GeoPackageFile, _ layerID: Int, _ layer: LayerDefinition
    ) async throws -> Int {
        let adds = set.records.map { record in
            FeatureEdit(
                objectID: record.objectID, globalID: record.globalID,
                attributes: record.attributes.map { (name: $0.key, value: $0.value) },
                geometry: record.geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null)
        }
        let result = try await file.apply(
            EditBatch(
                layers: [LayerEdits(layerID: layerID, adds: adds)], usesGlobalIDs: layer.globalIDField != nil,
                moment: Date(), origin: .cache))
        if let error = result.layers.flatMap(\.adds).compactMap(\.error).first {
            throw PublishingError(.badData, error.description)
        }
        return adds.count
    }
}
