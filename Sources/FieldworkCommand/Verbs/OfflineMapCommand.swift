import ArgumentParser
import Fieldwork
import FieldworkTiles
import Foundation

/// Takes a whole map offline: `fieldwork offline create MAP --area …`.
struct OfflineMapMaker: Sendable {
    let map: String
    let basemap: String?
    /// In the plane of web maps.
    let area: Envelope
    let target: URL

    func make() async throws -> String {
        let job: GenerateOfflineMapJob
        if let begun = try begun() { job = begun } else { job = try await newJob() }
        let result: GenerateOfflineMapResult
        do {
            result = try await JobProgress.run(job, title: "Taking offline", done: "Taken offline")
        } catch let failure as CommandFailure where failure.code == .interrupted {
            throw CommandFailure(.interrupted, "Interrupted. The same command again continues from here.")
        }
        defer { result.mobileMapPackage.close() }
        try? FileManager.default.removeItem(at: stateURL)
        for message in job.messages where message.severity == .warning { Terminal.error(message.message) }
        var count = 0
        for table in result.mobileMapPackage.geodatabases.flatMap(\.featureTables) {
            count += try await table.queryFeatureCount(using: QueryParameters())
        }
        return "Wrote \(target.path) with \(count) features, \((result.mobileMapPackage.size + 1_023) / 1_024) KB"
    }

    private var stateURL: URL { URL(filePath: "\(target.path).job") }

    /// The job of the same command that was broken off.
    private func begun() throws -> GenerateOfflineMapJob? {
        guard let state = try? Data(contentsOf: stateURL) else { return nil }
        return try Job.fromJSON(state) as? GenerateOfflineMapJob
    }

    private func newJob() async throws -> GenerateOfflineMapJob {
        let online = try await MapArgument.map(map, basemap: basemap)
        let task = OfflineMapTask(onlineMap: online)
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(areaOfInterest: area)
        if parameters.itemInfo?.title.isEmpty != false {
            parameters.itemInfo?.title = target.deletingPathExtension().lastPathComponent
        }
        let job = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: target)
        try job.toJSON().write(to: stateURL, options: .atomic)
        return job
    }
}

/// A map package that a verb is given.
private struct PackageArgument {
    let url: URL

    init(_ path: String) {
        url = URL(filePath: (path as NSString).expandingTildeInPath, directoryHint: .isDirectory)
    }

    func opened() async throws -> MobileMapPackage {
        let package = MobileMapPackage(fileURL: url)
        do {
            try await package.load()
        } catch let error as CommonError {
            throw CommandFailure(.badData, error.details)
        }
        return package
    }
}

/// `fieldwork offline list`.
struct OfflineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the map packages in a folder.",
        discussion: """
            A line for each package: its name, when it was taken, its size, and how many edits wait in it.

            EXAMPLES
              fieldwork offline list
              fieldwork offline list ~/maps
            """)

    @Argument(help: "The folder that holds them.")
    var folder = "."

    func run() async throws {
        try await runVerb {
            let url = URL(filePath: (folder as NSString).expandingTildeInPath, directoryHint: .isDirectory)
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path) else {
                throw CommandFailure(.noInput, "There is no folder \(url.path).")
            }
            var count = 0
            for name in names.sorted() where !name.hasSuffix(".making") {
                let place = url.appending(path: name, directoryHint: .isDirectory)
                guard FileManager.default.fileExists(atPath: place.appending(path: "package.json").path) else {
                    continue
                }
                count += 1
                let package = MobileMapPackage(fileURL: place)
                do {
                    try await package.load()
                    let edits = try await package.unsentCount()
                    let taken = package.made.map { $0.formatted(.iso8601.year().month().day()) } ?? ""
                    Terminal.output(
                        "\(name)  taken \(taken)  \((package.size + 1_023) / 1_024) KB  \(edits) edits wait")
                    package.close()
                } catch let error as CommonError {
                    Terminal.output("\(name)  can't be opened: \(error.details)")
                }
            }
            if count == 0 { Terminal.error("There is no map package in \(url.path).") }
        }
    }
}

/// `fieldwork offline update`.
struct OfflineUpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Synchronise a map package with its services.",
        discussion: """
            Sends the edits of the package and takes over what others have changed, service by service. One that can't be reached \
            does not keep the others back. Edits that a service refuses stay in the package.

            EXAMPLES
              fieldwork offline update mission
            """)

    @Argument(help: "The folder of the package.")
    var package: String

    @OptionGroup var certificates: CertificateOption

    func run() async throws {
        try await runVerb {
            try certificates.use()
            try StoredCredentials.use()
            let opened = try await PackageArgument(package).opened()
            defer { opened.close() }
            let uses = try opened.geodatabases.map { try Self.use(of: $0.fileURL) }
            defer { for use in uses { use.end() } }
            guard let map = opened.maps.first else { throw CommandFailure(.badData, "The package has no map.") }
            let task = OfflineMapSyncTask(map: map)
            let job = task.makeSyncOfflineMapJob(parameters: try await task.makeDefaultOfflineMapSyncParameters())
            let result = try await JobProgress.run(job, title: "Synchronizing", done: "Synchronized")
            let layers = result.layerResults.map { ($0.key.name, $0.value) }
            let tables = result.tableResults.map { ($0.key.displayName, $0.value) }
            var refused = 0
            for (name, outcome) in (layers + tables).sorted(by: { $0.0 < $1.0 }) {
                if let error = outcome.error {
                    Terminal.output("\(name): not synchronised: \((error as? any ArcGISError)?.details ?? "\(error)")")
                }
                for edit in outcome.editResults where edit.didCompleteWithErrors {
                    refused += 1
                    let reason = (edit.error as? any ArcGISError)?.details ?? "no reason given"
                    Terminal.output("\(name): refused: \(reason)")
                }
            }
            guard !result.hasErrors else {
                throw CommandFailure(.badData, "Not all is synchronised; \(refused) edits were refused and stay.")
            }
            Terminal.output("Synchronised \(layers.count + tables.count) layers and tables")
        }
    }

    /// The app may have it open, and sync it too.
    private static func use(of url: URL) throws -> GeodatabaseUse {
        do {
            return try GeodatabaseUse.begin(url)
        } catch CommonError.illegalState(let details) {
            throw CommandFailure(.temporary, details)
        }
    }
}

/// `fieldwork offline delete`.
struct OfflineDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a map package and tell its services.",
        discussion: """
            A package in which edits wait is not deleted unless --lose-edits says so: they are nowhere else.

            EXAMPLES
              fieldwork offline delete mission
            """)

    @Argument(help: "The folder of the package.")
    var package: String

    @Flag(help: "Delete it although edits in it were not sent; they are lost.")
    var loseEdits = false

    @OptionGroup var certificates: CertificateOption

    func run() async throws {
        try await runVerb {
            try certificates.use()
            try StoredCredentials.use()
            let argument = PackageArgument(package)
            let opened = try await argument.opened()
            let waiting = try await opened.unsentCount()
            guard waiting == 0 || loseEdits else {
                opened.close()
                throw CommandFailure(
                    .cannotCreate,
                    """
                    \(waiting) edits in \(argument.url.lastPathComponent) were not sent. `fieldwork offline update` sends them; \
                    --lose-edits deletes the package with them.
                    """)
            }
            for geodatabase in opened.geodatabases where geodatabase.syncID != nil {
                do {
                    try await GeodatabaseSyncTask(geodatabase: geodatabase).unregisterGeodatabase(geodatabase)
                } catch {
                    // A replica that nobody asks for any more expires by itself.
                    Terminal.error("\(geodatabase.fileURL.lastPathComponent): its service could not be told.")
                }
            }
            opened.close()
            // Half a package is none: its name goes first.
            let going = URL(filePath: "\(argument.url.path).deleting", directoryHint: .isDirectory)
            guard rename(argument.url.path, going.path) == 0 else {
                throw CommandFailure(.inputOutput, "\(argument.url.path) can't be deleted.")
            }
            try FileManager.default.removeItem(at: going)
            Terminal.output("Deleted \(argument.url.path)")
        }
    }
}

extension MobileMapPackage {
    /// How many edits wait to be sent.
    fileprivate func unsentCount() async throws -> Int {
        var count = 0
        for geodatabase in geodatabases where geodatabase.syncID != nil {
            let found = try await geodatabase.differences().count
            // Where nobody writes down who edited, a photo leaves its feature as it was.
            count += max(found, geodatabase.hasLocalEdits ? 1 : 0)
        }
        return count
    }
}
