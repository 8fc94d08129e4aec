import ArgumentParser
import FieldworkGeometry
import FieldworkPublishing
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

            A folder that `fieldwork offline create --area` made is checked as a whole: whether its files are there, whether those \
            that never change are what was downloaded, and its geodatabases like other files.

            EXAMPLES
              fieldwork doctor
              fieldwork doctor --data ~/fieldwork-demo
              fieldwork doctor trees.gpkg offline/area.gpkg concordia
              fieldwork doctor --format json
            """)

    @Argument(help: "Files to check, in place of the services of the folder.")
    var files: [String] = []

    @Flag(help: "Remove what a killed publish or copy left in the folder.")
    var removeLeftovers = false

    @OptionGroup var data: DataOption
    @OptionGroup var format: ListFormat

    func run() async throws {
        try await runVerb {
            let subjects =
                try files.isEmpty
                ? services() : files.map { ($0, URL(filePath: ($0 as NSString).expandingTildeInPath)) }
            var findings: [(name: String, text: String)] = []
            for (name, url) in subjects {
                let found =
                    try await MapPackageCheck.isPackage(url)
                    ? MapPackageCheck(url).findings() : FileCheck(url).findings()
                for finding in found {
                    findings.append((name, finding))
                    if format.format == .text { Terminal.output("\(name): \(finding)") }
                }
            }
            if files.isEmpty { try tellLeftovers() }
            let open = files.isEmpty ? try await OpennessReport(folder: data.url).lines() : []
            let noun = files.isEmpty ? "service" : "file"
            if format.format == .json {
                let list = findings.map {
                    ["subject": JSONValue.string($0.name), "finding": .string($0.text)] as JSONValue
                }
                let answer: JSONValue = [
                    "checked": JSONValue(subjects.count), "findings": .array(list),
                    "open": .array(open.map(JSONValue.string)),
                ]
                try Terminal.result(answer.text + "\n")
            } else {
                for line in open { Terminal.output("Open: \(line)") }
            }
            let broken = Set(findings.map(\.name)).count
            guard findings.isEmpty else {
                throw CommandFailure(
                    .badData,
                    "\(Counted.text(findings.count, "finding")) in \(broken) of \(Counted.text(subjects.count, noun)).")
            }
            if format.format == .text {
                Terminal.output("\(Counted.text(subjects.count, noun)) \(subjects.count == 1 ? "is" : "are") sound")
            }
        }
    }

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
