import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation

/// `fieldwork sync`.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Synchronise an offline file with its service.",
        discussion: """
            Sends the edits of the file, those that QGIS made in it too, and takes over what others have changed. A sync \
            that was broken off can be given again at any time: nothing is sent twice. It prints a line for each edit that \
            was refused, that lost, or that replaced another one's; refused edits stay in the file.

            EXIT CODES
              0 all edits stand (with --direction both, the file and its service have the same) · 3 an edit lost to the \
            service's rule · 4 the replica was ended: edits were sent, the file gets no changes · 65 the service refused \
            edits · 75 something is left to send or to fetch, sync again
              Several at once give 65 before 4 before 3. The codes of `fieldwork --help` stand for a sync that failed.
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

    @Option(help: "How to print what happened.")
    var format = DiffCommand.Format.text

    @OptionGroup var certificates: CertificateOption

    func run() async throws {
        try await runVerb {
            try certificates.use()
            try StoredCredentials.use()
            let file = OfflineFile(file)
            try await file.requireReplica()
            let outcome = try await Interruption.cancelling { [self] in try await sync(file) }
            switch format {
            case .text: for line in outcome.lines { Terminal.output(line) }
            case .json: Terminal.output(outcome.json.text)
            }
            if let code = outcome.code { throw ExitCode(code.rawValue) }
        }
    }

    private func sync(_ file: OfflineFile) async throws -> SyncOutcome {
        let use = try GeodatabaseUse.forVerb(file.url)
        defer { use.end() }
        let geodatabase = Geodatabase(fileURL: file.url)
        try await geodatabase.load()
        defer { geodatabase.close() }
        let task = GeodatabaseSyncTask(geodatabase: geodatabase)
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(
            geodatabase: geodatabase, syncDirection: direction.value)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        let results = try await JobProgress.run(job, title: "Synchronizing", done: "Synchronized")
        let address = geodatabase.serviceURL?.absoluteString ?? ""
        let differences = try await geodatabase.differences()
        let attachments = results.flatMap { layer in
            layer.editResults.flatMap { result in
                result.attachmentResults.map { attachment in
                    SyncOutcome.RefusedAttachment(
                        feature: "\(layer.tableName) \(result.objectID) \(result.globalID?.uuidString ?? "")",
                        reason: (attachment.error as? any ArcGISError)?.details ?? "no reason given")
                }
            }
        }
        return SyncOutcome(
            fileName: file.name, serviceAddress: address, direction: direction, report: job.report,
            conflicts: await conflicts(job.report.conflictIDs, at: address),
            refused: differences.filter { $0.refusal != nil }, refusedAttachments: attachments,
            unsentCount: differences.count + attachments.count)
    }

    /// What the service tells of conflicts that the sync made. The sync is done: one that can't be asked for now is named by its
    /// number alone.
    private func conflicts(_ ids: [Int64], at address: String) async -> [SyncOutcome.Conflict] {
        var conflicts: [SyncOutcome.Conflict] = []
        var layers: [Int64: LayerDefinition] = [:]
        for id in ids {
            var conflict = SyncOutcome.Conflict(id: id)
            if let json = try? await ServiceReader(address).get("conflicts/\(id)") {
                let number = json["layerId"]?.integerValue ?? 0
                if layers[number] == nil { layers[number] = try? await ServiceReader("\(address)/\(number)").layer() }
                let values = ValueText(fields: layers[number]?.fields ?? [])
                conflict.json = json
                conflict.layer = layers[number]?.name ?? "layer \(number)"
                conflict.lost = ConflictsCommand.summary(json["lost"], values)
                conflict.won = ConflictsCommand.summary(json["won"], values)
            }
            conflicts.append(conflict)
        }
        return conflicts
    }
}
