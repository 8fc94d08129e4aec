import ArgumentParser
import FieldworkPortal
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork restore-backup`.
struct RestoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore-backup",
        abstract: "Put a backup back in the place of a service, or of people and rights.",
        discussion: """
            The backup is checked first. The state that it replaces is kept beside it, as NAME.gpkg.replaced-TIME. A server may go
            on meanwhile: it notices, and answers requests that fall into the exchange with an error, never with a success.

            Devices that took the service offline keep their edits: what they sent after the backup they send again with their
            next synchronisation, once, and all of them get the rows as they are now. Edits that were made directly on the
            service after the backup are in the kept file alone.

            With portal.sqlite people, groups, items and their sharing come back as they were; what was made since stays. Where \
            that would bring back rights that were taken away since (a person who was removed, a sharing that was ended, a \
            password that was changed), they are listed and nothing is changed: --bring-back-rights says that they are meant. \
            Nobody's token comes back, so that everybody signs in anew. The former file is kept as portal.sqlite.replaced-TIME. \
            Without a present file nothing tells what was taken away since the backup: look at fieldwork users list and \
            fieldwork rights before the server starts.

            EXAMPLES
              fieldwork restore-backup /backup/2026-07-16/Trees.gpkg
              fieldwork restore-backup /backup/2026-07-16/City/Hydrants.gpkg --service City/Hydrants
              fieldwork restore-backup /backup/2026-07-16/portal.sqlite
            """)

    @Argument(help: "The backup, a .gpkg or portal.sqlite.")
    var file: String

    @Option(help: "The service: Name or Folder/Name. Without it, the name of the file.")
    var service: String?

    @Flag(help: "With portal.sqlite: rights come back too that were taken away since the backup.")
    var bringBackRights = false

    @OptionGroup var data: DataOption

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            let backup = URL(filePath: (file as NSString).expandingTildeInPath)
            guard FileManager.default.isReadableFile(atPath: backup.path) else {
                throw CommandFailure(.noInput, "\(backup.path) is not there, or can't be read.")
            }
            if service == nil, backup.lastPathComponent == Portal.file(in: data.url).lastPathComponent {
                return try await restorePeople(backup)
            }
            let name = try DefinitionFiles.name(service ?? backup.deletingPathExtension().lastPathComponent)
            let place = try GeoPackageStore.place(of: name, in: data.url)
            guard FileManager.default.fileExists(atPath: data.url.path) else {
                throw CommandFailure(
                    .noInput, "\(data.url.path) is not there: --data names the folder of the services.")
            }
            let outcome = try await Interruption.cancelling { try await BackupRestorer(backup, to: place).run() }
            let restoration = outcome.restoration
            Terminal.output(
                "Put \(name.path) back to generation \(restoration.from); it goes on at \(restoration.to).")
            if let kept = outcome.kept { Terminal.output("What was there before is kept as \(kept.path)") }
        }
    }

    private func restorePeople(_ backup: URL) async throws {
        guard FileManager.default.fileExists(atPath: data.url.path) else {
            throw CommandFailure(.noInput, "\(data.url.path) is not there: --data names the folder of the services.")
        }
        let outcome: PortalRestorer.Outcome
        do {
            outcome = try await PortalRestorer(backup, to: Portal.file(in: data.url)).run(
                bringsBackRights: bringBackRights)
        } catch let error as PortalRestorer.RightsWouldReturn {
            for sentence in error.rights { Terminal.error(sentence) }
            throw CommandFailure(
                .badData,
                "Nothing was changed: these rights were taken away since the backup. --bring-back-rights gives them back."
            )
        }
        Terminal.output("Put people and rights back: \(Counted.text(outcome.people, "person", "people")).")
        for sentence in outcome.returned { Terminal.output(sentence) }
        for name in outcome.stayed { Terminal.output("\(name) is not in the backup, and stays.") }
        Terminal.output("No token came back: everybody signs in anew.")
        if let kept = outcome.kept {
            Terminal.output("What was there before is kept as \(kept.path)")
        } else {
            Terminal.error(
                "There was no file to compare with: who was removed and what was taken away since the backup holds again."
                    + " Look at fieldwork users list, fieldwork rights and fieldwork doctor before the server starts.")
        }
    }
}
