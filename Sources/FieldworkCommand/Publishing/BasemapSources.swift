import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkTiles
import Foundation

/// Files that a basemap is made of: OpenStreetMap extracts, GeoJSON, and what `ogr2ogr` makes GeoJSON of.
struct BasemapSources {
    var levels: ClosedRange<Int>
    var name: String
    var progress: ShownProgress

    /// Makes a package of tiles of a file.
    /// - Returns: what there is, and remarks about the file.
    func make(_ file: URL, at target: URL) async throws -> (summary: BasemapMaker.Summary, remarks: [String]) {
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw CommandFailure(.noInput, "\(file.path) is not there, or can't be read.")
        }
        switch file.pathExtension.lowercased() {
        case "pbf": return try extract(file, target)
        case "geojson", "json": return try features(file, layer: Self.layer(file), target)
        default: return try await converted(file, target)
        }
    }

    private static func layer(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }

    private func extract(_ file: URL, _ target: URL) throws -> (BasemapMaker.Summary, [String]) {
        let progress = progress
        var maker = BasemapMaker(
            BasemapMaker.Options(
                name: name, attribution: OSMBasemap.attribution, levels: levels, schema: BasemapSchema.mark,
                box: try OSMBasemap.box(of: file)),
            at: target, layers: BasemapSchema.Layer.allCases.map(\.rawValue), directed: BasemapSchema.directed
        ) { progress.show($0.step, $0.count) }
        let report = try OSMBasemap.read(file, into: &maker) { progress.show($0.step, $0.count) }
        var remarks: [String] = []
        if report.missingNodes > 0 {
            remarks.append(
                "The extract lacks \(report.missingNodes) nodes of its ways; the ways are drawn as far as it has them.")
        }
        if report.openAreas > 0 {
            remarks.append("The extract lacks ways of \(report.openAreas) areas; only their whole rings are drawn.")
        }
        if report.hasOpenCoast { remarks.append("A coastline ends within the extract; no sea is drawn.") }
        return (try maker.finish(), remarks)
    }

    /// Features of a layer of their own.
    private func features(_ file: URL, layer: String, _ target: URL) throws -> (BasemapMaker.Summary, [String]) {
        let progress = progress
        let source = GeoJSONSource(url: file)
        let schema = try source.schema { progress.show("Reading \(file.lastPathComponent)", $0) }
        guard !schema.kinds.isEmpty else {
            throw CommandFailure(.badData, "\(file.lastPathComponent) has nothing that can be drawn.")
        }
        var maker = BasemapMaker(BasemapMaker.Options(name: name, levels: levels), at: target) {
            progress.show($0.step, $0.count)
        }
        var bad = 0
        try source.forEach(schema) { row, _ in
            guard case .success(let feature) = row else {
                bad += 1
                return
            }
            guard case .geometry(let geometry) = feature.geometry else { return }
            let tags = feature.attributes.compactMap { attribute in
                Self.value(attribute.value).map { MapFeature.Tag(attribute.name, $0) }
            }
            for shape in try MapFeature.Shape.shapes(of: geometry) {
                try maker.add(MapFeature(layer: layer, tags: tags, shape: shape, leastPixels: 1))
            }
        }
        let remarks = bad > 0 ? ["\(bad) features can't be read and are left out."] : []
        return (try maker.finish(), remarks)
    }

    private static func value(_ value: AttributeValue) -> VectorLayer.Value? {
        switch value {
        case .text(let text): .text(String(text.prefix(FieldworkTiles.Limits.tileTextCharacters)))
        case .integer(let number): .integer(number)
        case .real(let number): number.isFinite ? .real(number) : nil
        default: nil
        }
    }

    private func converted(_ file: URL, _ target: URL) async throws -> (BasemapMaker.Summary, [String]) {
        guard let converter = Converter.find() else {
            throw CommandFailure(
                .badData,
                """
                Fieldwork makes basemaps of .osm.pbf and .geojson. Install gdal-bin (ogr2ogr) to make them of GeoPackages, \
                shapefiles and other formats.
                """)
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let geoJSON = folder.appending(path: "converted.geojson", directoryHint: .notDirectory)
        try await converter.convert(file, to: geoJSON, as: .geoJSON)
        return try features(geoJSON, layer: Self.layer(file), target)
    }
}
