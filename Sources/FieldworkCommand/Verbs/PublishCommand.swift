import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork publish`.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Make a service of a file.",
        discussion: """
            Reads GeoPackage (.gpkg), GeoJSON (.geojson, .json) and tables (.csv); the latter two also packed (.gz). Other
            formats are converted by ogr2ogr where it is installed. A server that is running shows the new service at once.

            A layer has one kind of geometry: a file that mixes points, lines and polygons gives a layer of each, named
            …_points, …_lines, …_polygons. Curves become straight pieces. What is changed or left out is said.

            EXAMPLES
              fieldwork publish trees.csv --service Trees --x lon --y lat --wkid 4326
              fieldwork publish parcels.gpkg --service Parcels
              fieldwork publish survey.gpkg --service Survey --in-place
              fieldwork publish hydrants.geojson.gz --service City/Hydrants --layer Hydrants
              fieldwork publish trees.geojson --service Trees --store postgres://localhost/field
              fieldwork publish postgres://localhost/field --table land.parcels --service Parcels --global-ids
            """)

    @Argument(help: "The file to publish, or the address of a database with --table.")
    var file: String

    @Option(help: "The name of the new service, with its folder if it has one: Name or Folder/Name.")
    var service: String

    @Option(help: "The name of the layer; by default the service's name, in a GeoPackage the table's.")
    var layer: String?

    @Option(help: ArgumentHelp("The column of the x coordinate (east or longitude).", valueName: "column"))
    var x: String?

    @Option(help: ArgumentHelp("The column of the y coordinate (north or latitude).", valueName: "column"))
    var y: String?

    @Option(
        help:
            "The spatial reference of --x and --y (4326 by default), or of a file that names none: 4326, 3857, 2913 …")
    var wkid: Int?

    @Flag(help: "Leave out rows that can't become features, and say which.")
    var skipBadRows = false

    @Flag(help: "Leave the GeoPackage where it is: QGIS and others go on editing the very file that is served.")
    var inPlace = false

    @Option(
        help:
            "A table of the database that is published where it is: schema.table, with a primary key of whole numbers.")
    var table: String?

    @Flag(help: "Give that table a column of global ids, without which nobody can work offline on it.")
    var globalIds = false

    @Option(help: "A definition document whose members the new service gets; see fieldwork service.")
    var definition: String?

    @OptionGroup var data: DataOption
    @OptionGroup var database: StoreOption

    func validate() throws {
        guard database.store == nil || !inPlace else {
            throw ValidationError("What is published in a database is copied there: leave out --in-place.")
        }
        guard (table == nil) == !TablePublisher.isAddress(file) else {
            throw ValidationError("A table is published with the address of its database and --table.")
        }
        guard table != nil || !globalIds else { throw ValidationError("--global-ids goes with --table.") }
        guard !inPlace || (x == nil && wkid == nil && !skipBadRows) else {
            throw ValidationError("A file in place stays as it is: leave out --x, --y, --wkid and --skip-bad-rows.")
        }
        let plain = database.store == nil && !inPlace && definition == nil && x == nil && wkid == nil && !skipBadRows
        guard table == nil || plain else {
            throw ValidationError(
                "A table is published as it is: of the other options only --service and --layer go with it.")
        }
        guard (x == nil) == (y == nil) else { throw ValidationError("Give both --x and --y, or neither.") }
        if let wkid, spatialReference == nil { throw ValidationError("The spatial reference \(wkid) is unknown.") }
        // A name becomes a file's: nothing of it may lead out of the data folder.
        let parts = service.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            part.first.map { $0.isLetter || $0 == "_" } == true
                && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
        }
        guard (1...2).contains(parts.count), isPlain else {
            throw ValidationError("A service's name is Name or Folder/Name, of letters, digits, _ and -.")
        }
    }

    /// The one that was asked for.
    private var spatialReference: SpatialReference? { wkid.flatMap { WKID($0) }.flatMap { SpatialReference(wkid: $0) } }

    private var importOptions: ForeignImportOptions {
        ForeignImportOptions(layerName: layer, spatialReference: spatialReference, skipsBadRows: skipBadRows)
    }

    private var name: ServiceName {
        let parts = service.split(separator: "/", maxSplits: 1).map(String.init)
        return parts.count == 2
            ? ServiceName(folder: parts[0], name: parts[1]) : ServiceName(name: parts.first ?? "")
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            if let table {
                let publisher = TablePublisher(
                    address: file, table: table, service: name, layerName: layer ?? name.name)
                return try await publisher.publish(addsGlobalIDs: globalIds)
            }
            let input = URL(filePath: (file as NSString).expandingTildeInPath)
            let document = try definition.map { try DefinitionFiles.read($0) }
            let publication = try await Interruption.cancelling { [self] in
                guard let address = database.store else { return try await make(input, document, in: data.url) }
                return try await DatabasePublisher(address: address, service: name).publish {
                    try await make(input, document, in: $0)
                }
            }
            let skipped = publication.skippedCount > 0 ? ", skipped \(publication.skippedCount)" : ""
            Terminal.output("Published \(name.path): \(publication.featureCount) features\(skipped)")
            if database.store == nil, (try? await Openness.hasPeople(in: data.url)) == true {
                Terminal.error(
                    "People who have signed in see it. fieldwork share \(name.path) --everyone lets everyone see it;"
                        + " --editing lets everyone edit it as well.")
            }
        }
    }

    private func make(_ input: URL, _ document: JSONValue?, in folder: URL) async throws -> Publication {
        let publication = try await publish(
            input,
            with: Publisher(
                folder: folder, service: name, layerName: layer ?? name.name, skipsBadRows: skipBadRows))
        if let document { try await define(document, in: folder) }
        return publication
    }

    /// Gives the new service its definition, or takes it back.
    private func define(_ document: JSONValue, in folder: URL) async throws {
        let store = try await GeoPackageStore.open(at: folder)
        do {
            let current = try await store.service(name)
            let changed = try DefinitionFiles.definition(DefinitionFiles.merged(document, into: current), name)
            try await store.updateService(changed, allowing: [], replacing: current)
            try await store.close()
        } catch {
            // Only what this command made a moment ago: of a file in place, the link.
            try? await store.deleteService(name)
            try? await store.close()
            throw error
        }
    }

    private func publish(_ input: URL, with publisher: Publisher) async throws -> Publication {
        if inPlace { return try await InPlacePublisher(publisher: publisher, layerName: layer).publish(input) }
        let unpacked = input.pathExtension == "gz" ? input.deletingPathExtension() : input
        switch unpacked.pathExtension.lowercased() {
        case "csv":
            guard x != nil || wkid == nil else {
                throw CommandFailure(.badData, "--wkid is the reference of --x and --y: name the columns of both.")
            }
            return try await publisher.publish(table(input))
        case "geojson", "json":
            try refuseColumns(of: input)
            return try await publisher.publish(GeoJSONSource(url: input, expectedReference: spatialReference))
        case "gpkg" where input.pathExtension != "gz":
            try refuseColumns(of: input)
            return try await publisher.publish(geoPackage: input, importOptions)
        default: return try await publishConverted(input, with: publisher)
        }
    }

    private func table(_ url: URL) -> CSVSource {
        CSVSource(url: url, xColumn: x, yColumn: y, spatialReference: spatialReference ?? .wgs84)
    }

    private func refuseColumns(of input: URL) throws {
        guard x != nil else { return }
        throw CommandFailure(
            .badData,
            """
            --x and --y name columns of a table; \(input.lastPathComponent) has geometries of its own. Leave them out, or make a \
            table of it: ogr2ogr -f CSV OUT.csv \(input.lastPathComponent)
            """)
    }

    /// What other programs read, they may convert.
    private func publishConverted(_ input: URL, with publisher: Publisher) async throws -> Publication {
        guard FileManager.default.fileExists(atPath: input.path) else {
            throw CommandFailure(.noInput, "\(input.path) is not there.")
        }
        guard let converter = Converter.find() else {
            throw CommandFailure(
                .badData,
                "Fieldwork reads .gpkg, .geojson and .csv. Install gdal-bin (ogr2ogr) to publish other formats.")
        }
        // Before the long work: a taken name is no reason to convert.
        _ = try publisher.place()
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Columns of coordinates are a table's, whatever program wrote it.
        if x != nil {
            let converted = folder.appending(path: "converted.csv", directoryHint: .notDirectory)
            try await converter.convert(input, to: converted, as: .csv)
            return try await publisher.publish(table(converted))
        }
        let converted = folder.appending(path: "converted.gpkg", directoryHint: .notDirectory)
        try await converter.convert(input, to: converted)
        return try await publisher.publish(geoPackage: converted, importOptions)
    }
}
