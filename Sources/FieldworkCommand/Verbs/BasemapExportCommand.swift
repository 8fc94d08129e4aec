import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkPublishing
import FieldworkTiles
import Foundation

extension BasemapCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Take a part of a basemap into a package for a device.",
            discussion: """
                Vector tiles become a .vtpk with their style, pictures and fonts, images a .tpkx. A file whose name ends in \
                .mbtiles or .pmtiles gets the tiles alone, in that form. The source is the name of a basemap in the folder of the \
                services, a file of tiles, or the address of a service (…/VectorTileServer, …/MapServer).

                A package appears when it is whole. A command that takes tiles from a service continues when it is given again.

                EXAMPLES
                  fieldwork basemap export SanFrancisco --area -122.43,37.77,-122.40,37.79 --out mission.vtpk
                  fieldwork basemap export city.mbtiles --levels 0-12 --out city.vtpk
                  fieldwork basemap export SanFrancisco --out sf.pmtiles
                  fieldwork basemap export SanFrancisco --area -122.43,37.77,-122.40,37.79 --estimate
                  fieldwork basemap export http://127.0.0.1:8080/arcgis/rest/services/SanFrancisco/VectorTileServer \\
                      --area -122.43,37.77,-122.40,37.79 --out mission.vtpk
                """)

        @Argument(help: "A basemap's name, a file of tiles, or the address of a service.")
        var source: String

        // Western longitudes begin with a minus sign; they are no option.
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("The area in degrees; everywhere, if none is given.", valueName: "west,south,east,north")
        )
        var area: String?

        @Option(
            help: ArgumentHelp(
                "The levels; all, if none are given. Of a service's vector tiles only the last counts.",
                valueName: "first-last"))
        var levels: String?

        @Option(help: "The file to make.")
        var out: String?

        @Flag(help: "Say how large the package would be, and make none.")
        var estimate = false

        @OptionGroup var data: DataOption
        @OptionGroup var certificates: CertificateOption

        func validate() throws {
            _ = try box()
            _ = try range()
            guard estimate != (out != nil) else { throw ValidationError("Give either --out or --estimate.") }
        }

        private func box() throws -> Envelope? { try area.map { try DegreeBox($0).envelope } }

        private func range() throws -> ClosedRange<Int>? {
            guard let levels else { return nil }
            let numbers = levels.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = numbers.first ?? nil, let last = numbers.last ?? nil, numbers.count <= 2, first >= 0,
                first <= last, last <= FieldworkTiles.Limits.tileLevel
            else { throw ValidationError("--levels is FIRST-LAST, such as 0-14.") }
            return first...last
        }

        func run() async throws {
            try await runVerb {
                let target = out.map { URL(filePath: ($0 as NSString).expandingTildeInPath) }
                if let target, FileManager.default.fileExists(atPath: target.path) {
                    throw CommandFailure(.cannotCreate, "\(target.path) is there already.")
                }
                let form = TileFileForm(fileExtension: target?.pathExtension ?? "")
                if let url = URL(string: source), ["http", "https"].contains(url.scheme), url.host() != nil {
                    guard form == .compact else {
                        throw ValidationError(
                            "A service gives .vtpk and .tpkx; `fieldwork basemap export` makes .mbtiles and .pmtiles of those."
                        )
                    }
                    PrivateFiles.begin()
                    try certificates.use()
                    try StoredCredentials.use()
                    let service = ServiceExport(url: url, area: try box(), levels: try range())
                    let text = try await Interruption.cancelling { try await service.run(to: target) }
                    return Terminal.output(text)
                }
                let file = try file()
                let export = try BasemapVerbs.failing(file) {
                    TileExport(
                        of: try TilePackages.open(file.path),
                        title: file.deletingPathExtension().lastPathComponent,
                        coverage: try box().flatMap { TileCoverage($0) }, levels: try range().map(Array.init))
                }
                guard let target else {
                    let estimate = try BasemapVerbs.failing(file) { try export.estimate() }
                    return Terminal.output(Self.text(estimate))
                }
                let tiles = try await Interruption.cancelling { try Self.write(export, of: file, to: target, form) }
                Terminal.output("Wrote \(target.path) with \(tiles) tiles")
            }
        }

        fileprivate static func text(_ estimate: TileExport.Estimate) -> String {
            "\(estimate.tiles) tiles, about \((estimate.bytes + 1_023) / 1_024) KB"
        }

        /// A basemap of the folder, else a file.
        private func file() throws -> URL {
            let folder = BasemapFolder(data: data.url)
            if let name = folder.names().first(where: { $0.lowercased() == source.lowercased() }) {
                return folder.file(name)
            }
            let file = URL(filePath: (source as NSString).expandingTildeInPath)
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw CommandFailure(
                    .noInput, "There is no basemap \(source) in \(data.url.path), and no file of that name.")
            }
            return file
        }

        private static func write(_ export: TileExport, of file: URL, to target: URL, _ form: TileFileForm) throws
            -> Int
        {
            let draft = URL(filePath: "\(target.path).making")
            let shown = ShownProgress()
            defer {
                shown.end()
                try? FileManager.default.removeItem(at: draft)
            }
            let tiles = try BasemapVerbs.failing(file) {
                try export.write(to: draft, as: form) { looked in
                    try Task.checkCancellation()
                    shown.show("Writing tiles", looked)
                }
            }
            guard rename(draft.path, target.path) == 0 else {
                throw CommandFailure(.cannotCreate, "\(target.path) can't be written.")
            }
            return tiles
        }
    }
}

/// Takes a part of a service's tiles along by the SDK.
private struct ServiceExport: Sendable {
    let url: URL
    let area: Envelope?
    let levels: ClosedRange<Int>?

    func run(to target: URL?) async throws -> String {
        let isVector = url.pathComponents.contains("VectorTileServer")
        guard isVector || url.lastPathComponent == "MapServer" else {
            throw CommandFailure(
                .noInput, "\(url.absoluteString) is no address of tiles: …/VectorTileServer, …/MapServer.")
        }
        guard let area else { throw CommandFailure(.badData, "A part of a service needs --area.") }
        guard let target else { return try await size(area, isVector: isVector) }
        do {
            isVector ? try await vectors(area, target) : try await images(area, target)
        } catch let failure as CommandFailure where failure.code == .interrupted {
            throw CommandFailure(.interrupted, "Interrupted. The same command again continues from here.")
        }
        return "Wrote \(target.path)"
    }

    private func size(_ area: Envelope, isVector: Bool) async throws -> String {
        // The task of images asks what the protocol has for both.
        let root = isVector ? ExportVectorTilesTask(url: url).url : url
        let task = ExportTileCacheTask(url: root)
        let parameters = try await chosen(task, area)
        let result = try await JobProgress.run(
            task.makeEstimateTileCacheSizeJob(parameters: parameters), title: "Counting", done: "Counted")
        return "\(result.tileCount) tiles, about \((result.fileSize + 1_023) / 1_024) KB"
    }

    private func chosen(_ task: ExportTileCacheTask, _ area: Envelope) async throws -> ExportTileCacheParameters {
        let parameters = try await task.makeDefaultExportTileCacheParameters(
            areaOfInterest: area, minScale: 0, maxScale: 0)
        if let levels {
            let wanted = parameters.levelIDs.filter(levels.contains)
            parameters.removeAllLevelIDs()
            parameters.addLevelIDs(wanted)
        }
        return parameters
    }

    private func images(_ area: Envelope, _ target: URL) async throws {
        let job: ExportTileCacheJob
        if let begun = try begun(target) as? ExportTileCacheJob {
            job = begun
        } else {
            let task = ExportTileCacheTask(url: url)
            job = task.makeExportTileCacheJob(parameters: try await chosen(task, area), downloadFileURL: target)
        }
        _ = try await JobProgress.run(job, title: "Taking tiles", done: "Taken")
    }

    private func vectors(_ area: Envelope, _ target: URL) async throws {
        let job: ExportVectorTilesJob
        if let begun = try begun(target) as? ExportVectorTilesJob {
            job = begun
        } else {
            let task = ExportVectorTilesTask(url: url)
            let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: area)
            if let levels { parameters.maxLevel = levels.upperBound }
            job = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: target)
        }
        _ = try await JobProgress.run(job, title: "Taking tiles", done: "Taken")
    }

    /// The job of the same command that was broken off.
    private func begun(_ target: URL) throws -> Job? {
        guard let state = try? Data(contentsOf: JobTarget(target).stateURL) else { return nil }
        return try Job.fromJSON(state)
    }
}
