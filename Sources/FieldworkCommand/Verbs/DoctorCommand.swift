import ArgumentParser
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check services and files for damage, and tell what is open.",
        discussion: """
            Checks each file: its integrity, its spatial index, its counts, its change log and history, the triggers that write
            them, the contents of attachments, and whether the log beside it is its own. It changes nothing and needs no right
            to write. One broken file does not keep the others from being checked.

            It also tells what is open: services that whoever has not signed in may see or edit, and settings of the server's
            last start that let others in or read along. What is open is no damage: the exit code does not tell it.

            It names what a killed publish or copy left in the folder; --remove-leftovers removes what nothing has written to for
            an hour.

            EXAMPLES
              fieldwork doctor
              fieldwork doctor --data ~/fieldwork-demo
              fieldwork doctor trees.gpkg offline/area.gpkg
            """)

    @Argument(help: "Files to check, in place of the services of the folder.")
    var files: [String] = []

    @Flag(help: "Remove what a killed publish or copy left in the folder.")
    var removeLeftovers = false

    @OptionGroup var data: DataOption

    func run() async throws {
        try await runVerb {
            let subjects =
                try files.isEmpty
                ? services() : files.map { ($0, URL(filePath: ($0 as NSString).expandingTildeInPath)) }
            var (findings, broken) = (0, 0)
            for (name, url) in subjects {
                let found = await FileCheck(url).findings()
                for finding in found { Terminal.output("\(name): \(finding)") }
                findings += found.count
                broken += found.isEmpty ? 0 : 1
            }
            if files.isEmpty {
                try tellLeftovers()
                for line in try await OpennessReport(folder: data.url).lines() { Terminal.output("Open: \(line)") }
            }
            guard findings == 0 else {
                throw CommandFailure(
                    .badData,
                    "Findings: \(findings), in \(broken) of \(Self.counted(subjects.count, files.isEmpty ? "service" : "file"))."
                )
            }
            Terminal.output(
                "\(Self.counted(subjects.count, files.isEmpty ? "service" : "file")) \(subjects.count == 1 ? "is" : "are") sound"
            )
        }
    }

    private static func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }

    private func services() throws -> [(String, URL)] {
        guard FileManager.default.fileExists(atPath: data.url.path) else {
            throw CommandFailure(.noInput, "\(data.url.path) is not there.")
        }
        return try GeoPackageStore.names(in: data.url).map { name in
            let url = try GeoPackageStore.place(of: name, in: data.url)
            return ("\(name.path) (\(url.path))", url)
        }
    }

    private func tellLeftovers() throws {
        for leftover in try Leftover.all(in: data.url) {
            if removeLeftovers, leftover.isAbandoned() {
                try leftover.remove()
                Terminal.output("Removed \(leftover.url.path)")
            } else {
                Terminal.error("\(leftover.url.path): \(leftover.words)")
            }
        }
    }
}
