import ArgumentParser
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy services into files that can be put back, while they are served.",
        discussion: """
            Each copy is one state of its service with everything in it: features, attachments, history, replicas. It is checked
            as fieldwork doctor does, and appears when it is whole and on the disk. The server goes on. What the server is
            working on (jobs, parts of uploads, in the hidden folder .fieldwork) is not copied: clients ask again.

            A database is backed up with its own tools, pg_dump or pg_basebackup; fieldwork store copy writes the services of
            one into a folder of GeoPackages.

            EXAMPLES
              fieldwork backup --to /backup/2026-07-16
              fieldwork backup Trees City/Hydrants --to /backup/2026-07-16 --data /srv/fieldwork
              fieldwork backup Trees --to trees-before-the-storm.gpkg
            """)

    @Argument(help: "The services: Name or Folder/Name. Without one, all of the folder.")
    var services: [String] = []

    @Option(help: ArgumentHelp("The folder for the copies, or a .gpkg for one service.", valueName: "place"))
    var to: String

    @Flag(help: "Replace copies that are there.")
    var overwrite = false

    @OptionGroup var data: DataOption
    @OptionGroup var database: StoreOption

    private var target: URL { URL(filePath: (to as NSString).expandingTildeInPath) }
    private var isFile: Bool { target.pathExtension.lowercased() == "gpkg" }

    func validate() throws {
        guard database.store == nil else {
            throw ValidationError(
                "A database is backed up with pg_dump or pg_basebackup. fieldwork store copy ADDRESS FOLDER writes its services as GeoPackages."
            )
        }
        guard !isFile || services.count == 1 else { throw ValidationError("A .gpkg takes one service: name it.") }
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            guard FileManager.default.fileExists(atPath: data.url.path) else {
                throw CommandFailure(.noInput, "\(data.url.path) is not there.")
            }
            let names = try services.isEmpty ? GeoPackageStore.names(in: data.url) : services.map(DefinitionFiles.name)
            var failures: [String] = []
            for name in names {
                do {
                    try await Interruption.cancelling { [self] in try await copy(name) }
                } catch let error as StoreError where names.count > 1 {
                    // The other services are worth having.
                    failures.append("\(name.path): \(error.message)")
                }
            }
            guard failures.isEmpty else {
                for failure in failures { Terminal.error(failure) }
                throw CommandFailure(.badData, "No backup was made of \(failures.count) of \(names.count) services.")
            }
        }
    }

    private func copy(_ name: ServiceName) async throws {
        let source = try GeoPackageStore.place(of: name, in: data.url)
        guard FileManager.default.fileExists(atPath: source.path) else {
            throw StoreError(.serviceNotFound, "There is no service \(name.path).")
        }
        let place = isFile ? target : try GeoPackageStore.place(of: name, in: target)
        let generation = try await FileBackup(of: source, to: place).make(replaces: overwrite)
        Terminal.output("Backed up \(name.path) at generation \(generation) to \(place.path)")
    }
}
