import ArgumentParser
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

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
        guard let format = FeatureExport.Format(rawValue: target.pathExtension.lowercased()) else {
            throw CommandFailure(.badData, "The file has to end in .gpkg, .geojson or .csv.")
        }
        let bar = Mutex<ProgressBar?>(ProgressBar("Exporting"))
        let condition = condition
        let wanted = FeatureExport.Layer(layer) { outSR, body in
            try await reader.pages(
                of: layer, condition: condition, outFields: "*", limit: nil, outSR: outSR, body)
        }
        let count = try await FeatureExport(format) { count in bar.withLock { $0?.advance(to: count) } }
            .write(
                [wanted], name: partial.deletingPathExtension().lastPathComponent.filter { $0.isLetter || $0.isNumber },
                to: partial)
        bar.withLock { $0.take()?.finish("Read \(Counted.features(count))") }
        try DurableFile.requireNoLog(beside: partial)
        if overwrite {
            try DurableFile.requireNoLog(beside: target)
            try DurableFile.replace(target, with: partial)
        } else {
            try DurableFile.place(partial, at: target)
        }
        return count
    }
}
