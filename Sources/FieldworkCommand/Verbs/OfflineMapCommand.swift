import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkPublishing
import Foundation

/// `fieldwork offline list`.
struct OfflineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the map packages in a folder.",
        discussion: """
            A line for each package: its name, when it was taken, its size, and how many edits are in it alone.

            EXAMPLES
              fieldwork offline list
              fieldwork offline list ~/maps
            """)

    @Argument(help: "The folder that holds them.")
    var folder = "."

    @OptionGroup var format: ListFormat

    func run() async throws {
        try await runVerb {
            let url = URL(filePath: (folder as NSString).expandingTildeInPath, directoryHint: .isDirectory)
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path) else {
                throw CommandFailure(.noInput, "There is no folder \(url.path).")
            }
            var (lines, list): ([String], [JSONValue]) = ([], [])
            for name in names.sorted() where !name.hasSuffix(".making") {
                let place = url.appending(path: name)
                guard (try? await MobileMapPackage.isDirectReadSupported(fileURL: place)) != nil else { continue }
                let package = MobileMapPackage(fileURL: place)
                do {
                    try await package.load()
                    let edits = try await package.unsentCount()
                    let taken = package.made.map { $0.formatted(.iso8601.year().month().day()) } ?? ""
                    lines.append(
                        "\(name)  taken \(taken)  \((package.size + 1_023) / 1_024) KB  \(Counted.text(edits, "unsent edit"))"
                    )
                    list.append([
                        "name": .string(name), "taken": .string(taken), "bytes": .integer(package.size),
                        "unsentEdits": JSONValue(edits),
                    ])
                    package.close()
                } catch let error as CommonError {
                    lines.append("\(name)  can't be opened: \(error.details)")
                    list.append(["name": .string(name), "problem": .string(error.details)])
                }
            }
            if list.isEmpty { Terminal.error("There is no map package in \(url.path).") }
            try format.print(.array(list), lines)
        }
    }
}

/// `fieldwork offline update`.
struct OfflineUpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Synchronise a map package with its services, or bring it up to date.",
        discussion: """
            Sends the edits of the package and takes over what others have changed, service by service. One that can't be reached \
            does not keep the others back. Edits that a service refuses stay in the package. A package that was downloaded with \
            --scheduled-updates takes over what has changed when its author has prepared the area anew.

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
            let taken = try await PackageArgument(package).taken()
            defer { taken.end() }
            guard let map = taken.package.maps.first else {
                throw CommandFailure(.badData, "The package has no map.")
            }
            let task = OfflineMapSyncTask(map: map)
            try await task.load()
            if task.updateCapabilities?.supportsScheduledUpdatesForFeatures == true { return try await bring(task) }
            guard task.updateCapabilities?.supportsSyncWithFeatureServices != false else {
                throw CommandFailure(.badData, "\(package) was taken with --no-updates: it is not synchronised.")
            }
            let count = try await run(task, title: "Synchronizing", done: "Synchronized")
            Terminal.output("Synchronised \(count)")
        }
    }

    /// Takes over what has changed in an area, where its author has prepared it anew.
    private func bring(_ task: OfflineMapSyncTask) async throws {
        guard try await task.checkForUpdates().downloadAvailability == .available else {
            // Photos that could not be had the last time may come now.
            _ = try await run(task, title: "Updating", done: "Updated")
            return Terminal.output("The area has not been prepared anew since: there is nothing to take over.")
        }
        let count = try await run(task, title: "Updating", done: "Updated")
        Terminal.output("Updated \(count)")
    }

    /// - Returns: of what the results are.
    private func run(_ task: OfflineMapSyncTask, title: String, done: String) async throws -> String {
        let job = task.makeSyncOfflineMapJob(parameters: try await task.makeDefaultOfflineMapSyncParameters())
        let result = try await JobProgress.run(job, title: title, done: done)
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
            let stay = "\(Counted.text(refused, "refused edit")) \(refused == 1 ? "stays" : "stay") in the package"
            throw CommandFailure(
                .badData, refused == 0 ? "Not all is synchronised." : "Not all is synchronised; \(stay).")
        }
        let count = layers.count + tables.count
        return count == 1 ? "1 layer" : "\(count) layers and tables"
    }
}

/// `fieldwork offline delete`.
struct OfflineDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a map package and tell its services.",
        discussion: """
            A package with edits that were not sent is not deleted unless --lose-edits says so: they are nowhere else. Nor is \
            one that the app has open.

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
            // Held until the package is gone: what somebody saved after the count would be lost with it.
            let taken = try await argument.taken()
            defer { taken.end() }
            let waiting = try await taken.package.unsentCount()
            guard waiting == 0 || loseEdits else {
                throw CommandFailure(
                    .cannotCreate,
                    """
                    \(Counted.text(waiting, "edit")) in \(argument.url.lastPathComponent) \(waiting == 1 ? "is" : "are") \
                    nowhere else. `fieldwork offline update` sends those of a map that is synchronised; --lose-edits deletes \
                    the package with them.
                    """)
            }
            for geodatabase in taken.package.geodatabases where geodatabase.syncID != nil {
                do {
                    try await GeodatabaseSyncTask(geodatabase: geodatabase).unregisterGeodatabase(geodatabase)
                } catch {
                    // A replica that nobody asks for any more expires by itself.
                    Terminal.error("\(geodatabase.fileURL.lastPathComponent): its service could not be told.")
                }
            }
            taken.package.close()
            // Half a package is none: its name goes first.
            let going = URL(filePath: "\(argument.url.path).deleting", directoryHint: .isDirectory)
            guard rename(argument.url.path, going.path) == 0 else {
                throw CommandFailure(.inputOutput, "\(argument.url.path) can't be deleted.")
            }
            try FileManager.default.removeItem(at: going)
            // Of a command that was killed when it had made the package.
            JobTarget(argument.url).forgetState()
            Terminal.output("Deleted \(argument.url.path)")
        }
    }
}
