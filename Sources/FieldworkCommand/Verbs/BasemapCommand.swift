import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

/// `fieldwork basemap`.
struct BasemapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "basemap", abstract: "Make and serve basemaps: what maps are drawn on.",
        discussion: """
            fieldwork basemap make makes vector tiles of an OpenStreetMap extract or of other files of features.

            A package of tiles goes into the folder of the services and is served as it is: vector tiles under \
            NAME/VectorTileServer, images under NAME/MapServer. A server that is running notices at once.

            Packages can be MBTiles, PMTiles (version 3), GeoPackages with tiles, .vtpk and .tpkx. Their tiles have to be in \
            the Web Mercator grid that web maps share.

            EXAMPLES
              fieldwork basemap make norway.osm.pbf --name Norway
              fieldwork basemap add city.mbtiles --name City
              fieldwork basemap list
              fieldwork basemap export City --area -122.43,37.77,-122.40,37.79 --out mission.vtpk
              fieldwork basemap remove City
            """,
        subcommands: [Make.self, Add.self, List.self, Export.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Take a package of tiles into the folder of the services.")

        @Argument(help: ArgumentHelp("MBTiles, PMTiles, a GeoPackage with tiles, .vtpk or .tpkx.", valueName: "file"))
        var file: String

        @Option(help: "The name under which it is served; that of the file, if none is given.")
        var name: String?

        @Flag(help: "Put it in the place of the basemap that has the name.")
        var replace = false

        @OptionGroup var data: DataOption

        func run() async throws {
            try await runVerb {
                let source = URL(filePath: (file as NSString).expandingTildeInPath)
                guard FileManager.default.fileExists(atPath: source.path) else {
                    throw CommandFailure(.noInput, "\(source.path) is not there.")
                }
                let name = name ?? source.deletingPathExtension().lastPathComponent
                let description = try BasemapVerbs.failing(source) { try TilePackages.open(source.path).description }
                try await BasemapVerbs.refuseService(name, in: data)
                try BasemapVerbs.failing(source) {
                    try BasemapFolder(data: data.url).add(source, as: name, replaces: replace)
                }
                Terminal.output("Added \(BasemapVerbs.line(name, description))")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the basemaps.")

        @OptionGroup var data: DataOption

        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let folder = BasemapFolder(data: data.url)
                var (lines, list): ([String], [JSONValue]) = ([], [])
                for name in folder.names() {
                    do throws(TileError) {
                        let description = try TilePackages.open(folder.file(name).path).description
                        lines.append(BasemapVerbs.line(name, description))
                        list.append([
                            "name": .string(name), "face": .string(BasemapVerbs.face(description)),
                            "format": .string(description.format.rawValue),
                            "levels": [
                                JSONValue(description.levels.lowerBound), JSONValue(description.levels.upperBound),
                            ],
                        ])
                    } catch {
                        lines.append("\(name)  can't be served: \(error.message)")
                        list.append(["name": .string(name), "problem": .string(error.message)])
                    }
                }
                try format.print(.array(list), lines)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Stop serving a basemap and delete its package from the folder.")

        @Argument(help: "The basemap's name.")
        var name: String

        @OptionGroup var data: DataOption

        func run() async throws {
            try await runVerb {
                guard try BasemapFolder(data: data.url).remove(name) else {
                    throw CommandFailure(.noInput, "There is no basemap \(name) in \(data.url.path).")
                }
                Terminal.output("Removed \(name)")
            }
        }
    }
}

/// What the verbs of basemaps share.
enum BasemapVerbs {
    static func line(_ name: String, _ description: TileSetDescription) -> String {
        let levels = "levels \(description.levels.lowerBound) to \(description.levels.upperBound)"
        return "\(name)  \(face(description))  \(description.format.rawValue)  \(levels)"
    }

    /// The type of the service that shows it.
    static func face(_ description: TileSetDescription) -> String {
        description.format == .vector ? "VectorTileServer" : "MapServer"
    }

    /// Errors of packages as the command tells them.
    static func failing<Result>(_ file: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as TileError {
            let code: CommandFailure.Code = error.code == .unreadable ? .inputOutput : .badData
            throw CommandFailure(code, "\(file.lastPathComponent): \(error.message)")
        }
    }

    /// A service of the name would hide the basemap.
    static func refuseService(_ name: String, in data: DataOption) async throws {
        guard FileManager.default.fileExists(atPath: data.url.path) else { return }
        let store = try await GeoPackageStore.open(at: data.url)
        let names = try await store.serviceNames()
        try await store.close()
        if names.contains(where: { $0.path.lowercased() == name.lowercased() }) {
            throw CommandFailure(
                .cannotCreate, "There is a service \(name) already. --name gives the basemap another name.")
        }
    }
}
