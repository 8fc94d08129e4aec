import ArgumentParser
import FieldworkLocator
import FieldworkTiles
import Foundation

extension BasemapCommand {
    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "make", abstract: "Make a basemap of an OpenStreetMap extract or a file of features.",
            discussion: """
                An OpenStreetMap extract (.osm.pbf) becomes a whole map: water, land use, roads, railways, buildings, places, \
                house numbers. Documentation/basemap-schema.md says which layers its tiles have.

                GeoJSON, and what ogr2ogr reads where it is installed (GeoPackages, shapefiles and others), becomes one layer \
                with the name of the file.

                A basemap appears when it is whole. An interruption leaves everything as it was.

                EXAMPLES
                  fieldwork basemap make san-francisco.osm.pbf --name SanFrancisco
                  fieldwork basemap make norway.osm.pbf --name Norway --levels 4-14 --locator NorwayAddresses
                  fieldwork basemap make parks.gpkg --name Parks
                """)

        @Argument(help: "The file to make it of.")
        var file: String

        @Option(help: "The name under which it is served; that of the file, if none is given.")
        var name: String?

        @Option(help: ArgumentHelp("The levels of its tiles. Maps enlarge the deepest.", valueName: "first-last"))
        var levels = "0-14"

        @Option(help: ArgumentHelp("Make a locator of the same extract as well.", valueName: "name"))
        var locator: String?

        @Flag(help: "Put it in the place of the basemap that has the name.")
        var replace = false

        @OptionGroup var data: DataOption

        func validate() throws {
            _ = try range()
            if let locator { try LocatorCommand.check(locator) }
        }

        private func range() throws -> ClosedRange<Int> {
            let numbers = levels.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = numbers.first ?? nil, let last = numbers.last ?? nil, numbers.count <= 2, first >= 0,
                first <= last, last <= TileLevels.deepest
            else {
                throw ValidationError("--levels is FIRST-LAST, such as 0-14; \(TileLevels.deepest) is the deepest.")
            }
            return first...last
        }

        func run() async throws {
            try await runVerb {
                let source = URL(filePath: (file as NSString).expandingTildeInPath)
                let first = source.lastPathComponent.split(separator: ".").first.map(String.init) ?? ""
                let name = name ?? first
                let folder = BasemapFolder(data: data.url)
                try folder.check(name, replaces: replace)
                try await BasemapVerbs.refuseService(name, in: data)
                let (levels, replace, locator, data) = (try range(), replace, locator, data.url)
                try await Interruption.cancelling {
                    let started = ContinuousClock.now
                    let draft = try folder.draft(name)
                    defer { try? FileManager.default.removeItem(at: draft) }
                    let shown = ShownProgress()
                    let made: (summary: BasemapMaker.Summary, remarks: [String])
                    do {
                        defer { shown.end() }
                        made = try await BasemapSources(levels: levels, name: name, progress: shown)
                            .make(source, at: draft)
                    }
                    for remark in made.remarks { Terminal.error(remark) }
                    if let locator { try await Self.makeLocator(locator, of: source, in: data) }
                    try Task.checkCancellation()
                    try folder.add(draft, as: name, replaces: replace, moves: true)
                    Terminal.output(Self.text(name, levels, made.summary, started.duration(to: .now)))
                }
            }
        }

        private static func makeLocator(_ name: String, of source: URL, in data: URL) async throws {
            let zone = AddressZone(city: "", region: "", country: "")
            let sources = LocatorSources(chosen: [:], zone: zone)
            let maker = LocatorMaker(name: name, target: LocatorFile.url(name: name, in: data))
            Terminal.output(try await maker.make { try await sources.read(source, into: $0) })
        }

        private static func text(
            _ name: String, _ levels: ClosedRange<Int>, _ summary: BasemapMaker.Summary, _ time: Duration
        ) -> String {
            let thinned = summary.thinnedTiles > 0 ? ", \(summary.thinnedTiles) tiles thinned" : ""
            return """
                Made \(name): \(summary.features) features in \(summary.tiles) tiles of the levels \(levels.lowerBound) to \
                \(levels.upperBound), \(summary.bytes / 1_024) KB, the largest \(summary.largestTile / 1_024) KB\(thinned); \
                in \(time.inSeconds) s
                """
        }
    }
}
