import ArgumentParser
import FieldworkGeometry
import FieldworkPortal
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork publish`.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Make a service of a file.",
        discussion: """
            Reads GeoPackage (.gpkg), GeoJSON (.geojson, .json, also a feature a line) and tables (.csv, .tsv, .txt), all but the
            first also packed (.gz). Spreadsheets (.xlsx, .ods), zipped shapefiles and other formats are converted by ogr2ogr where
            it is installed. A server that is running shows the new service at once.

            Of a table are found out, and said: its delimiter and encoding, decimal commas, the order of its dates, columns of
            coordinates (lon and lat, longitude and latitude, x and y, x_3857 and y_3857), geometries as Well-Known Text (wkt, geom),
            and ids (GlobalID, OBJECTID) such as fieldwork export writes. What is not certain stays text. Dates without a zone are
            taken for UTC.

            A layer has one kind of geometry: a file that mixes points, lines and polygons gives a layer of each, named
            …_points, …_lines, …_polygons. Curves become straight pieces. What is changed or left out is said.

            --append and --replace bring the rows into a layer that is there, as one edit that is in the history and goes to those
            who have the layer offline. --replace COLUMN knows features by the values of a column: they keep their ids, only values
            that differ are changed, and features that the file has not stay, unless --delete-missing is given.

            A file with rows that the layer has already is not appended, so that nothing comes in twice when a file is sent
            twice: --new-rows adds the other rows, --again adds all of them as new features. With --key COLUMN a row is there
            when a feature has its value of that column, whatever else the row says.

            EXAMPLES
              fieldwork publish trees.csv --service Trees --sync
                  Columns lon and lat are found; crews may take it offline.
              fieldwork publish bäume.csv --service Trees --delimiter semicolon --encoding windows-1252 --dates dmy
              fieldwork publish trees.csv --service Trees --x east --y north --wkid 2913
              fieldwork publish stock.xlsx --service Stock --sheet 2026
              fieldwork publish more-trees.csv --service Trees --append
              fieldwork publish all-trees.csv --service Trees --append --key number
                  Adds the trees whose number the layer has not.
              fieldwork publish trees.csv --service Trees --replace number --dry-run
                  Says what would be added and changed.
              fieldwork publish parcels.gpkg --service Parcels
              fieldwork publish survey.gpkg --service Survey --in-place
              fieldwork publish hydrants.geojson.gz --service City/Hydrants --layer Hydrants
              fieldwork publish trees.geojson --service Trees --store postgres://localhost/field
              fieldwork publish trees.csv --service Trees --to https://maps.example.org/arcgis
                  On a portal, as the person who has signed in to it (fieldwork sign-in).
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

    @Flag(help: "Make a table without places, whatever its columns are called.")
    var asTable = false

    @OptionGroup(title: "Tables") var tableOptions: TableOptions

    @Option(help: ArgumentHelp("The sheet of a workbook; its first by default.", valueName: "name"))
    var sheet: String?

    @Option(
        help: ArgumentHelp(
            "The column of the features' global ids; GlobalID by default, where it holds such.", valueName: "column"))
    var globalId: String?

    @Flag(help: "Let crews take the service offline.")
    var sync = false

    @Flag(help: "Add the rows to the layer of a service that is there.")
    var append = false

    @Flag(help: "With --append, add the rows that the layer has not, and leave out the others.")
    var newRows = false

    @Flag(help: "With --append, add all rows, also those that the layer has.")
    var again = false

    @Option(
        help: ArgumentHelp(
            "With --append, leave out rows whose value of this column a feature has.", valueName: "column"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Bring the rows into the layer of a service that is there, known by this column.", valueName: "column"))
    var replace: String?

    @Flag(help: "With --replace, delete features that the file has not. The history keeps them.")
    var deleteMissing = false

    @Flag(help: "With --append or --replace, leave out columns that the layer has no field for.")
    var skipColumns = false

    @Flag(help: "With --append or --replace, only say what would be done.")
    var dryRun = false

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

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("Publish on this portal, as the person who has signed in to it.", valueName: "portal"))
    var portal: String?

    @OptionGroup var services: PlaceOption
    @OptionGroup var certificates: CertificateOption
    @OptionGroup var format: ListFormat

    func validate() throws {
        if portal != nil { try validateRemote() }
        guard services.database.store == nil || !inPlace else {
            throw ValidationError("What is published in a database is copied there: leave out --in-place.")
        }
        guard (table == nil) == !TablePublisher.isAddress(file) else {
            throw ValidationError("A table is published with the address of its database and --table.")
        }
        guard table != nil || !globalIds else { throw ValidationError("--global-ids goes with --table.") }
        let asksOfFile =
            x != nil || wkid != nil || skipBadRows || asTable || sheet != nil || globalId != nil || tableOptions.isGiven
        guard !inPlace || !asksOfFile else {
            throw ValidationError(
                "A file in place stays as it is: leave out --x, --y, --wkid, --skip-bad-rows and what concerns tables.")
        }
        guard append == false || replace == nil else { throw ValidationError("Give --append or --replace, not both.") }
        if !isUpdate, deleteMissing || skipColumns || dryRun {
            throw ValidationError("--delete-missing, --skip-columns and --dry-run go with --append or --replace.")
        }
        let choices = [newRows, again, key != nil].count { $0 }
        guard choices == 0 || append else { throw ValidationError("--new-rows, --again and --key go with --append.") }
        guard choices <= 1 else { throw ValidationError("Give one of --new-rows, --again and --key.") }
        guard replace != nil || !deleteMissing else { throw ValidationError("--delete-missing goes with --replace.") }
        guard !isUpdate || (!inPlace && definition == nil && !sync) else {
            throw ValidationError(
                "--append and --replace change the features of a service alone: leave out --in-place, --definition and --sync."
            )
        }
        let plain = services.database.store == nil && !inPlace && definition == nil && !asksOfFile && !isUpdate && !sync
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

    /// A portal decides by itself how a file is read, but for what its protocol has words for.
    private func validateRemote() throws {
        let others =
            services.database.store != nil || table != nil || inPlace || isUpdate || definition != nil || sheet != nil
            || globalId != nil || skipBadRows || sync || tableOptions.encoding != nil || tableOptions.decimal != nil
            || tableOptions.dates != nil
        guard !others else {
            throw ValidationError(
                "--to goes with --service, --layer, --x, --y, --wkid, --as-table and --delimiter: a portal makes the rest out."
            )
        }
        guard !service.contains("/") else { throw ValidationError("A portal has no folders of services.") }
    }

    /// The service on a portal.
    private func publish(_ input: URL, to portal: String) async throws {
        try certificates.use()
        var publisher = try RemotePublisher(portal, service: name.name, layerName: layer ?? name.name)
        if asTable { publisher.parameters["locationType"] = "none" }
        if let x, let y {
            publisher.parameters["locationType"] = "coordinates"
            publisher.parameters["longitudeFieldName"] = .string(x)
            publisher.parameters["latitudeFieldName"] = .string(y)
            publisher.parameters["sourceSR"] = ["wkid": JSONValue(wkid ?? 4_326)]
        }
        if let delimiter = tableOptions.settings.delimiter {
            publisher.parameters["columnDelimiter"] = .string(String(UnicodeScalar(delimiter)))
        }
        let made = try await Interruption.cancelling { [publisher] in try await publisher.publish(input) }
        try format.print(
            ["service": .string(name.path), "itemId": .string(made.item), "url": .string(made.address)],
            ["Published \(name.path): \(made.address)"])
    }

    private var isUpdate: Bool { append || replace != nil }

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
                let publication = try await publisher.publish(addsGlobalIDs: globalIds)
                return try format.print(
                    publication.json(of: name),
                    ["Published \(name.path): \(Counted.features(publication.featureCount))"])
            }
            let input = URL(filePath: (file as NSString).expandingTildeInPath)
            if let portal { return try await publish(input, to: portal) }
            if isUpdate { return try await update(from: input) }
            try await requireNoView()
            let document = try definition.map { try DefinitionFiles.read($0) }
            let offline = sync || asksForSync()
            let publication = try await Interruption.cancelling { [self] in
                guard let address = services.database.store else {
                    return try await make(input, document, offline, in: services.data.url)
                }
                return try await DatabasePublisher(address: address, service: name).publish {
                    try await make(input, document, offline, in: $0)
                }
            }
            let skipped = publication.skippedCount > 0 ? ", skipped \(publication.skippedCount)" : ""
            try format.print(
                publication.json(of: name),
                ["Published \(name.path): \(Counted.features(publication.featureCount))\(skipped)"])
            if services.database.store == nil, (try? await Openness.hasPeople(in: services.data.url)) == true {
                Terminal.error(
                    "People who have signed in see it. fieldwork share \(name.path) --everyone lets everyone see it;"
                        + " --editing lets everyone edit it as well.")
            }
        }
    }

    /// A view hides a service of its name.
    private func requireNoView() async throws {
        let file = Portal.file(in: services.data.url)
        guard services.database.store == nil, FileManager.default.fileExists(atPath: file.path) else { return }
        let portal = Portal(lookingInto: file)
        // A portal of an earlier version has no views.
        let view = try? await portal.view(name.path)
        await portal.close()
        guard view == nil else {
            throw CommandFailure(
                .cannotCreate, "\(name.path) is a view. fieldwork views remove \(name.path) removes it.")
        }
    }

    /// Somebody at a terminal is asked; a script says --sync.
    private func asksForSync() -> Bool {
        guard Prompt.isOnTerminal, definition == nil else { return false }
        let answer = Prompt.line("May crews take \(name.path) offline? [y/N] ")
        return ["y", "yes"].contains(answer?.lowercased() ?? "")
    }

    private func update(from input: URL) async throws {
        let store = try await services.place.open()
        let rule: AppendedRows.Rule = again ? .addAgain : newRows ? .addOthers : .refuse
        let mode =
            replace.map { LayerUpdate.Mode.replace(key: $0, deletesMissing: deleteMissing) }
            ?? key.map { .appendOthers(key: $0) } ?? .append(rule)
        let outcome: LayerUpdate.Outcome
        do {
            let layer = try LayerUpdate.layer(layer, of: try await store.service(name))
            outcome = try await Interruption.cancelling { [self] in
                try await opener.open(input) { opened in
                    guard case .source(let source) = opened else {
                        throw CommandFailure(
                            .badData,
                            "--append and --replace take tables and GeoJSON. Make GeoJSON of it: ogr2ogr OUT.geojson \(input.lastPathComponent)"
                        )
                    }
                    let update = LayerUpdate(
                        store: store, service: name, layer: layer, skipsBadRows: skipBadRows, skipsColumns: skipColumns)
                    return try await update.run(source, mode, isTrial: dryRun)
                }
            }
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
        let words = outcome.words(deletesMissing: deleteMissing)
        try format.print(
            outcome.json(of: name, isTrial: dryRun),
            [dryRun ? "\(name.path) would change: \(words)" : "Updated \(name.path): \(words)"])
    }

    private func make(_ input: URL, _ document: JSONValue?, _ offline: Bool, in folder: URL) async throws -> Publication
    {
        let publication = try await publish(
            input,
            with: Publisher(
                folder: folder, service: name, layerName: layer ?? name.name, skipsBadRows: skipBadRows,
                listener: .terminal))
        if document != nil || offline { try await define(document, offline, in: folder) }
        return publication
    }

    /// Gives the new service its definition, or takes it back.
    private func define(_ document: JSONValue?, _ offline: Bool, in folder: URL) async throws {
        let store = try await GeoPackageStore.open(at: folder)
        do {
            let current = try await store.service(name)
            var changed =
                try document.map { try DefinitionFiles.definition(DefinitionFiles.merged($0, into: current), name) }
                ?? current
            if offline { changed.allowSync() }
            try await store.updateService(changed, allowing: [], replacing: current)
            try await store.close()
        } catch {
            // Only what this command made a moment ago: of a file in place, the link.
            try? await store.deleteService(name)
            try? await store.close()
            throw error
        }
    }

    private var opener: SourceOpener {
        var options = SourceOptions()
        if let x, let y { options.coordinates = (x, y) }
        (options.reference, options.globalID) = (spatialReference, globalId)
        (options.isTable, options.settings) = (asTable, tableOptions.settings)
        return SourceOpener(options: options, sheet: sheet)
    }

    private func publish(_ input: URL, with publisher: Publisher) async throws -> Publication {
        if inPlace { return try await InPlacePublisher(publisher: publisher, layerName: layer).publish(input) }
        // Before the long work: a taken name is no reason to convert.
        _ = try publisher.place()
        return try await opener.open(input) { opened in
            switch opened {
            case .source(let source): try await publisher.publish(source)
            case .geoPackage(let file): try await publisher.publish(geoPackage: file, importOptions)
            }
        }
    }
}
