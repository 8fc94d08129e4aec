import ArgumentParser
import FieldworkCollect
import FieldworkStore
import Foundation

/// `fieldwork collect`.
struct CollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect", abstract: "Run the collection app on this device.",
        discussion: """
            The app is a page of this device alone: open the printed address in a browser. The address holds a key, which no
            other user of the machine has; it stays the same over starts. A map is a web map's document,
            in a file or behind an address, or a feature service. Without --map the one of last time opens.

            A GeoPackage is opened in its place: one that `fieldwork offline create` made is an area that the app syncs, any
            other is edited without a server, and gets ids and a log of changes for that.

            EXAMPLES
              fieldwork collect area.gpkg
              fieldwork collect --map trees.webmap.json
              fieldwork collect --map http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer --data ~/collect
            """)

    @Argument(help: ArgumentHelp("A GeoPackage to work in.", valueName: "file.gpkg"))
    var file: String?

    @Option(help: ArgumentHelp("A web map or feature service to open.", valueName: "file-or-url"))
    var map: String?

    @Option(help: ArgumentHelp("The folder of unsent edits, drafts and settings.", valueName: "dir"))
    var data = "Fieldwork-collect"

    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 8081

    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        guard file == nil || map == nil else { throw ValidationError("Give a file or --map, not both.") }
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            try certificates.use()
            if let file { try await Self.requireGeoPackage(file) }
            let configuration = CollectConfiguration(
                port: port, webMap: try map.map(Self.address), file: try file.map(Self.file),
                dataDirectory: URL(
                    filePath: (data as NSString).expandingTildeInPath, directoryHint: .isDirectory),
                mapLibraryDirectory: MapLibrary.directory)
            let logger = Serving.logger()
            let listen = try ListenOptions.parse(["--port", String(port)])
            try await Serving.run(
                [CollectService(configuration: configuration, logger: logger)], on: listen, logger: logger)
        }
    }

    /// Refuses a file that is no GeoPackage before the app starts: whoever chose the file is at the terminal, not in the browser.
    private static func requireGeoPackage(_ file: String) async throws {
        do {
            _ = try await OfflineFile(file).summary()
        } catch let failure as CommandFailure where failure.code == .temporary {
            // Another program has it for a moment.
        }
    }

    /// A web address, or else a file that is there.
    private static func address(_ text: String) throws -> URL {
        if let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased() ?? "") { return url }
        return try file(text)
    }

    private static func file(_ text: String) throws -> URL {
        let file = URL(filePath: (text as NSString).expandingTildeInPath)
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw CommandFailure(.noInput, "\(file.path) is not there, or can't be read.")
        }
        return file.standardizedFileURL
    }
}
