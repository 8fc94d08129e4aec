import ArgumentParser
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork restore-backup`.
struct RestoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore-backup", abstract: "Put a backup back in the place of a service.",
        discussion: """
            The backup is checked first. The state that it replaces is kept beside it, as NAME.gpkg.replaced-TIME. A server may go
            on meanwhile: it notices, and answers requests that fall into the exchange with an error, never with a success.

            Devices that took the service offline keep their edits: what they sent after the backup they send again with their
            next synchronisation, once, and all of them get the rows as they are now. Edits that were made directly on the
            service after the backup are in the kept file alone.

            People and rights (portal.sqlite) are put back by hand, while no server runs: move the present file and those beside it
            with -wal and -shm away, and copy the one of the backup into the folder.

            EXAMPLES
              fieldwork restore-backup /backup/2026-07-16/Trees.gpkg
              fieldwork restore-backup /backup/2026-07-16/City/Hydrants.gpkg --service City/Hydrants
            """)

    @Argument(help: "The backup, a .gpkg.")
    var file: String

    @Option(help: "The service: Name or Folder/Name. Without it, the name of the file.")
    var service: String?

    @OptionGroup var data: DataOption

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            let backup = URL(filePath: (file as NSString).expandingTildeInPath)
            guard FileManager.default.isReadableFile(atPath: backup.path) else {
                throw CommandFailure(.noInput, "\(backup.path) is not there, or can't be read.")
            }
            guard backup.lastPathComponent != Portal.file(in: data.url).lastPathComponent else {
                throw CommandFailure(
                    .badData,
                    "\(backup.path) holds people and rights, and is no service. Stop the server, move "
                        + "\(Portal.file(in: data.url).path) and what stands beside it with -wal and -shm away, and copy it there."
                )
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
}
