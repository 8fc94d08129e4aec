import ArgumentParser
import FieldworkPortal
import FieldworkPublishing
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

            With --keep N the copies come into a folder of the moment, such as 2026-07-16T02-00-00Z, and when all of them are whole
            the oldest such folders beyond N are deleted. --every repeats it until it is ended; a failed round is said, deletes
            nothing, and the next one tries again. portal.sqlite, with people and rights, is copied as well.

            EXAMPLES
              fieldwork backup --to /backup --every 6h --keep 28
              fieldwork backup --to /backup --keep 7
                  For a timer of systemd or cron.
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

    @Option(help: ArgumentHelp("Repeat it: 30m, 6h, 1d.", valueName: "time"))
    var every: String?

    @Option(help: ArgumentHelp("Make folders of the moment, and keep so many; 7 with --every.", valueName: "number"))
    var keep: Int?

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
        guard !isFile || (every == nil && keep == nil) else {
            throw ValidationError("--every and --keep make folders: --to names the folder for them.")
        }
        if let every, BackupRounds.interval(every) == nil {
            throw ValidationError("--every takes a number and s, m, h or d, such as 6h.")
        }
        guard keep ?? 1 >= 1 else { throw ValidationError("--keep must be at least 1.") }
    }

    func run() async throws {
        try await runVerb {
            PrivateFiles.begin()
            guard FileManager.default.fileExists(atPath: data.url.path) else {
                throw CommandFailure(.noInput, "\(data.url.path) is not there.")
            }
            guard every != nil || keep != nil else {
                return try await Interruption.cancelling { [self] in try await backUp(to: target) }
            }
            let rounds = BackupRounds(folder: target, keep: keep ?? BackupRounds.kept)
            try await Interruption.cancelling { [self] in
                try await rounds.run(every: every.flatMap(BackupRounds.interval)) {
                    try await backUp(to: $0, isRound: true)
                }
            }
        }
    }

    /// - Parameter isRound: the folder gets another name when all of it is whole: its present one is not said.
    private func backUp(to target: URL, isRound: Bool = false) async throws {
        let names = try services.isEmpty ? GeoPackageStore.names(in: data.url) : services.map(DefinitionFiles.name)
        var failures: [String] = []
        for name in names {
            do {
                try await copy(name, to: target, isRound)
            } catch let error as StoreError where names.count > 1 {
                // The other services are worth having.
                failures.append("\(name.path): \(error.message)")
            }
        }
        if services.isEmpty { try await copyPeople(to: target, isRound) }
        guard failures.isEmpty else {
            for failure in failures { Terminal.error(failure) }
            throw CommandFailure(
                .badData, "No backup was made of \(failures.count) of \(Counted.text(names.count, "service")).")
        }
    }

    /// People, groups, items and their sharing, where a folder has them.
    private func copyPeople(to target: URL, _ isRound: Bool) async throws {
        let source = Portal.file(in: data.url)
        guard !isFile, FileManager.default.fileExists(atPath: source.path) else { return }
        let place = Portal.file(in: target)
        let partial = target.appending(path: ".portal.\(UUID().uuidString).making", directoryHint: .notDirectory)
        defer { try? FileManager.default.removeItem(at: partial) }
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try await GeoPackageFile.copy(from: source, to: partial)
        if overwrite {
            try DurableFile.replace(place, with: partial)
        } else {
            try DurableFile.place(partial, at: place)
        }
        Terminal.output("Backed up people and rights" + (isRound ? "" : " to \(place.path)"))
    }

    private func copy(_ name: ServiceName, to target: URL, _ isRound: Bool) async throws {
        let source = try GeoPackageStore.place(of: name, in: data.url)
        guard FileManager.default.fileExists(atPath: source.path) else {
            throw StoreError(.serviceNotFound, "There is no service \(name.path).")
        }
        let place = isFile ? target : try GeoPackageStore.place(of: name, in: target)
        let generation = try await FileBackup(of: source, to: place).make(replaces: overwrite)
        Terminal.output("Backed up \(name.path) at generation \(generation)" + (isRound ? "" : " to \(place.path)"))
    }
}
