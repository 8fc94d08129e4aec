import ArgumentParser
import Fieldwork
import Foundation

/// `fieldwork sync`.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Bring a file that was taken offline and its service together.",
        discussion: """
            Sends the edits of the file, those that QGIS made in it too, and takes over what others have changed. A sync \
            that was broken off can be given again at any time: nothing is sent twice. What the service refuses stays in \
            the file and is told; the exit code is then 65.
            """)

    enum Direction: String, ExpressibleByArgument, CaseIterable {
        case both, upload, download

        var value: SyncGeodatabaseParameters.SyncDirection {
            switch self {
            case .both: .bidirectional
            case .upload: .upload
            case .download: .download
            }
        }
    }

    @Argument(help: "The file that `fieldwork offline create` made.")
    var file: String

    @Option(help: "Which way changes go.")
    var direction = Direction.both

    func run() async throws {
        try await runVerb {
            let url = URL(filePath: (file as NSString).expandingTildeInPath)
            let refused = try await Interruption.cancelling { [self] in try await sync(url) }
            for line in refused { Terminal.output(line) }
            guard refused.isEmpty else {
                throw CommandFailure(
                    .badData, "The service refused \(refused.count) edits; they are still in the file.")
            }
            Terminal.output("\(url.lastPathComponent) and its service have the same")
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

    private func sync(_ url: URL) async throws -> [String] {
        let use = try Self.use(of: url)
        defer { use.end() }
        let geodatabase = Geodatabase(fileURL: url)
        try await geodatabase.load()
        defer { geodatabase.close() }
        guard geodatabase.serviceURL != nil else {
            throw CommandFailure(.badData, "\(url.lastPathComponent) was not taken from a service.")
        }
        let task = GeodatabaseSyncTask(geodatabase: geodatabase)
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(
            geodatabase: geodatabase, syncDirection: direction.value)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        let results = try await JobProgress.run(job, title: "Synchronizing", done: "Synchronized")
        return results.flatMap { layer in
            layer.editResults.map { result in
                let reason = (result.error as? any ArcGISError)?.details ?? "no reason given"
                return "\(layer.tableName) \(result.editOperation) \(result.globalID?.uuidString ?? ""): \(reason)"
            }
        }
    }
}
