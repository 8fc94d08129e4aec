import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkPublishing
import FieldworkStore
import Foundation

/// `fieldwork offline`.
struct OfflineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline", abstract: "Download areas and maps for offline use.",
        subcommands: [
            OfflineCreateCommand.self, OfflineListCommand.self, OfflineUpdateCommand.self, OfflineDeleteCommand.self,
            OfflinePackCommand.self, OfflineUnpackCommand.self,
        ])
}

/// `fieldwork offline create`.
struct OfflineCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Download an area of a feature service into a file, or a whole map into a folder.",
        discussion: """
            The file is a GeoPackage that QGIS opens and edits; `fieldwork sync` synchronises it with the service. It appears \
            when it is complete. A command that was interrupted continues when it is given again: FILE.job beside the file \
            remembers how far it was. To give it up, delete that file, and end the replica that the service may have made \
            already (`fieldwork replicas --end`); one that nobody synchronises expires by itself.

            With --area a whole map comes along as a folder: its features, attachments and tables, its basemap with style and \
            fonts, and the addresses of the area where the server gives them. What can't come along is named. `fieldwork \
            offline list`, `update` and `delete` work with such folders, `fieldwork doctor` checks them.

            EXAMPLES
              fieldwork offline create http://127.0.0.1:8080/arcgis/rest/services/SaveTheBaySync/FeatureServer \\
                  --extent -95.3,28.9,-94.4,29.8 --out bay.gpkg
              fieldwork offline create trees.webmap.json --area -122.65,45.55,-122.60,45.58 --out concordia
              fieldwork offline create http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer \\
                  --basemap http://127.0.0.1:8080/arcgis/rest/services/Portland/VectorTileServer \\
                  --area -122.65,45.55,-122.60,45.58 --out concordia
            """)

    @Argument(
        help:
            "The address of the service, …/FeatureServer; with --area also a web map: its file, its address or its item's page."
    )
    var address: String

    // Western longitudes begin with a minus sign; they are no option.
    @Option(parsing: .unconditional, help: "The area of a file: xmin,ymin,xmax,ymax.")
    var extent: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The area of a whole map, in degrees.", valueName: "west,south,east,north"))
    var area: String?

    @Option(help: "The address of a basemap for the map, in place of its own.")
    var basemap: String?

    @Flag(
        help:
            "Take a whole map that is never synchronised: its services keep nothing for it, and edits in it go nowhere."
    )
    var noUpdates = false

    @Option(help: "The spatial reference of the area; 4326 is longitude and latitude.")
    var wkid = 4_326

    @Option(help: "The ids of the layers and tables to take, with commas between them; all by default.")
    var layers: String?

    @Option(help: "The file to make, or the folder of the whole map.")
    var out: String

    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        guard (extent == nil) != (area == nil) else {
            throw ValidationError("Give --extent for a file, or --area for a whole map.")
        }
        if extent != nil { _ = try extentArea() }
        guard area == nil || layers == nil else { throw ValidationError("--layers goes with --extent.") }
        guard area != nil || basemap == nil else { throw ValidationError("--basemap goes with --area.") }
        guard area != nil || !noUpdates else { throw ValidationError("--no-updates goes with --area.") }
        if let area { _ = try DegreeBox(area) }
        guard area != nil || URL(filePath: out).pathExtension.lowercased() == "gpkg" else {
            throw ValidationError("The file has to end in .gpkg: it is a GeoPackage.")
        }
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            try certificates.use()
            try StoredCredentials.use()
            let place = JobTarget(out)
            try place.require()
            let target = place.url
            if let area {
                let maker = OfflineMapMaker(
                    map: address, basemap: basemap, area: try DegreeBox(area).envelope, target: target,
                    updates: !noUpdates)
                let text = try await Interruption.cancelling { try await maker.make() }
                return Terminal.output(text)
            }
            let count = try await Interruption.cancelling { [self] in try await create(target) }
            Terminal.output("Wrote \(target.path) with \(Counted.features(count))")
        }
    }

    private func create(_ target: URL) async throws -> Int {
        let job: GenerateGeodatabaseJob
        let begun = try unfinished(target)
        if let begun, !begun.serverJobID.isEmpty {
            job = begun
        } else {
            // One that the service may not even have heard of gives way to a command that was corrected.
            let new = try await newJob(target)
            job = try begun.map { try Self.isSame($0, new) ? $0 : new } ?? new
        }
        let geodatabase: Geodatabase
        do {
            geodatabase = try await JobProgress.run(job, title: "Taking offline", done: "Taken offline")
        } catch let failure as CommandFailure where failure.code == .interrupted {
            throw CommandFailure(.interrupted, interruption(target))
        }
        try await geodatabase.load()
        defer { geodatabase.close() }
        var count = 0
        for table in geodatabase.featureTables { count += try await table.queryFeatureCount(using: QueryParameters()) }
        return count
    }

    /// What is left of a command that was broken off, and what to do about it.
    private func interruption(_ target: URL) -> String {
        let state = JobTarget(target).stateURL
        guard FileManager.default.fileExists(atPath: state.path) else {
            return
                """
                Interrupted. Nothing is left here; fieldwork replicas lists what the service may have begun, and it expires by \
                itself.
                """
        }
        return
            """
            Interrupted. The same command again continues from here: \(state.lastPathComponent) remembers how far it was. To give \
            it up, delete that file; the replica that the service may have made is listed by fieldwork replicas, and ended with \
            --end.
            """
    }

    /// The job of the same command that was broken off.
    private func unfinished(_ target: URL) throws -> GenerateGeodatabaseJob? {
        guard let state = try? Data(contentsOf: JobTarget(target).stateURL) else { return nil }
        return try Job.fromJSON(state) as? GenerateGeodatabaseJob
    }

    /// Whether two jobs ask the same service for the same.
    private static func isSame(_ one: GenerateGeodatabaseJob, _ other: GenerateGeodatabaseJob) throws -> Bool {
        let (one, other) = (try JSONParser.parse(one.toJSON()), try JSONParser.parse(other.toJSON()))
        return one["service"] == other["service"] && one["parameters"] == other["parameters"]
    }

    private func newJob(_ target: URL) async throws -> GenerateGeodatabaseJob {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme), url.host() != nil else {
            throw CommandFailure(.noInput, "\(address) is not the address of a service.")
        }
        try await requireSync(url)
        let task = GeodatabaseSyncTask(url: url)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: try extentArea())
        if let layers {
            let wanted = try Set(layers.split(separator: ",").map(Self.layerID))
            for option in parameters.layerOptions where !wanted.contains(option.layerID) {
                parameters.removeLayerOption(option)
            }
            guard parameters.layerOptions.count == wanted.count else {
                throw CommandFailure(.noInput, "The service does not have all of the layers \(layers).")
            }
        }
        return task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: target)
    }

    /// A service that nobody may take along says so, and how that is changed.
    private func requireSync(_ url: URL) async throws {
        let service = try await ServiceReader(url.absoluteString).get()
        let capabilities = service["capabilities"]?.stringValue ?? ""
        guard service["layers"] != nil, !capabilities.isEmpty, !capabilities.split(separator: ",").contains("Sync")
        else { return }
        let name = url.pathComponents.dropLast().last ?? ""
        throw CommandFailure(
            .badData,
            """
            \(name) can't be taken offline: its capabilities are \(capabilities), without Sync. Its owner lets crews take it: \
            echo '{"capabilities":"\(capabilities),Sync"}' | fieldwork service edit \(name) --merge. \
            fieldwork publish --sync does so from the beginning.
            """)
    }

    private static func layerID(_ text: Substring) throws -> Int {
        guard let id = Int(text.trimmingCharacters(in: .whitespaces)) else {
            throw CommandFailure(.badData, "\(text) is not the id of a layer.")
        }
        return id
    }

    private func extentArea() throws -> Envelope {
        let numbers = (extent ?? "").split(separator: ",").map { Double($0.trimmingCharacters(in: .whitespaces)) }
        guard numbers.count == 4, let xMin = numbers[0], let yMin = numbers[1], let xMax = numbers[2],
            let yMax = numbers[3], xMin < xMax, yMin < yMax, [xMin, yMin, xMax, yMax].allSatisfy(\.isFinite)
        else { throw ValidationError("The extent has to be four numbers: xmin,ymin,xmax,ymax.") }
        guard let reference = WKID(wkid).flatMap({ SpatialReference(wkid: $0) }) else {
            throw ValidationError("There is no spatial reference \(wkid).")
        }
        return Envelope(xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax, spatialReference: reference)
    }
}
