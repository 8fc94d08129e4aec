import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork export`.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the features of a layer into a file.",
        discussion: """
            The file appears when it is whole. fieldwork publish reads each format again, with the features' ids, dates and types; a
            GeoPackage keeps the definition of the layer as well, as metadata, and nothing of history, replicas or conflicts. Tables (.csv) have coordinates in columns whose names tell the
            reference (x and y for degrees, x_3857 and y_3857), and lines and areas as Well-Known Text.

            EXAMPLES
              fieldwork export http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 --to trees.geojson
              fieldwork export Trees --to trees.gpkg
              fieldwork export City/Hydrants/0 --where "pressure < 3" --to weak.csv --data ~/fieldwork
              fieldwork export Trees --to trees.csv --store postgres://localhost/field
            """)

    @Argument(
        help: ArgumentHelp(
            "The layer: its address, …/FeatureServer/0, or a name in the folder or the database, Service or Service/0.",
            valueName: "layer"))
    var address: String

    @Option(help: "The file to write: .gpkg, .geojson or .csv.")
    var to: String

    @Option(name: .customLong("where"), help: "The condition, in the protocol's SQL.")
    var condition = "1=1"

    @Flag(help: "Replace the file when it is there.")
    var overwrite = false

    @OptionGroup var services: PlaceOption

    func validate() throws {
        guard ["gpkg", "geojson", "csv"].contains(URL(filePath: to).pathExtension.lowercased()) else {
            throw ValidationError("The file has to end in .gpkg, .geojson or .csv.")
        }
    }

    func run() async throws {
        try await runVerb {
            let target = URL(filePath: (to as NSString).expandingTildeInPath)
            guard FileManager.default.fileExists(atPath: target.deletingLastPathComponent().path) else {
                throw CommandFailure(
                    .cannotCreate, "\(target.deletingLastPathComponent().path) is not there: make the folder first.")
            }
            guard overwrite || !FileManager.default.fileExists(atPath: target.path) else {
                throw CommandFailure(.cannotCreate, "\(target.path) is there already; --overwrite replaces it.")
            }
            let count = try await Interruption.cancelling { [self] in
                try await NamedLayer(text: address, place: services.place).read {
                    try await export(from: $0, to: target)
                }
            }
            Terminal.output("Wrote \(Counted.features(count)) to \(target.path)")
        }
    }

    private func export(from reader: ServiceReader, to target: URL) async throws -> Int {
        let layer = try await reader.layer()
        let partial = target.deletingLastPathComponent()
            .appending(path: ".\(target.lastPathComponent).\(UUID().uuidString).part", directoryHint: .notDirectory)
        defer {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: partial.path + suffix)
            }
        }
        let count: Int
        switch target.pathExtension.lowercased() {
        case "gpkg": count = try await writeGeoPackage(partial, reader, layer)
        case "geojson": count = try await writeText(partial, .geojson, reader, layer)
        case "csv": count = try await writeText(partial, .csv, reader, layer)
        default: throw CommandFailure(.badData, "The file has to end in .gpkg, .geojson or .csv.")
        }
        try DurableFile.requireNoLog(beside: partial)
        if overwrite {
            try DurableFile.requireNoLog(beside: target)
            try DurableFile.replace(target, with: partial)
        } else {
            try DurableFile.place(partial, at: target)
        }
        return count
    }

    private func writeText(
        _ file: URL, _ format: QueryCommand.Format, _ reader: ServiceReader, _ layer: LayerDefinition
    ) async throws -> Int {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var count = 0
        var bar = ProgressBar("Exporting")
        var writer = FeatureText(format: format, isFile: true) { try handle.write(contentsOf: Data($0.utf8)) }
        try await reader.pages(
            of: layer, condition: condition, outFields: "*", limit: nil, outSR: format == .geojson ? 4_326 : nil
        ) { set in
            // A full disk has to end the export, not to cut the file.
            try writer.write(set)
            count += set.features.count
            bar.advance(to: count)
        }
        try writer.finish()
        bar.finish("Read \(Counted.features(count))")
        return count
    }

    private func writeGeoPackage(_ file: URL, _ reader: ServiceReader, _ layer: LayerDefinition) async throws -> Int {
        var own = layer
        own.id = 0
        own.relationships = []
        own.hasAttachments = false
        let definition = ServiceDefinition(
            name: ServiceName(
                name: file.deletingPathExtension().lastPathComponent.filter { $0.isLetter || $0.isNumber }),
            spatialReference: layer.spatialReference, layers: [own])
        let geoPackage = try await GeoPackageStore.createFile(
            at: file, definition: definition, options: GeoPackageFile.Options(keepsObjectIDs: true))
        var count = 0
        var bar = ProgressBar("Exporting")
        do {
            try await reader.pages(of: layer, condition: condition, outFields: "*", limit: nil) { set in
                let adds = set.records.map { record in
                    FeatureEdit(
                        objectID: record.objectID, globalID: record.globalID,
                        attributes: record.attributes.map { (name: $0.key, value: $0.value) },
                        geometry: record.geometry.map(FeatureEdit.GeometryEdit.geometry) ?? .null)
                }
                let result = try await geoPackage.apply(
                    EditBatch(
                        layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: layer.globalIDField != nil,
                        moment: Date(), origin: .cache))
                if let error = result.layers.flatMap(\.adds).compactMap(\.error).first {
                    throw CommandFailure(.badData, error.description)
                }
                count += adds.count
                bar.advance(to: count)
            }
            try await geoPackage.checkpoint()
            await geoPackage.close()
        } catch {
            await geoPackage.close()
            throw error
        }
        // Whoever is given the file gets the features, not the bookkeeping of this program.
        try await GeoPackageFile.makePlain(file)
        bar.finish("Read \(Counted.features(count))")
        return count
    }
}
