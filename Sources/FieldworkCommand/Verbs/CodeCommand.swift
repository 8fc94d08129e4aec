import ArgumentParser
import FieldworkCollect
import FieldworkPublishing
import Foundation

/// `fieldwork code`.
struct CodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code", abstract: "Make the code that opens a map: crews scan it in the app.",
        discussion: """
            Prints a QR code of the address of a feature service, of a web map's document or of a services directory; with \
            --out it becomes a picture to print or to send. The app shows the address before it opens it.

            EXAMPLES
              fieldwork code https://maps.example/arcgis/rest/services/Trees/FeatureServer
              fieldwork code https://maps.example/trees.webmap.json --out trees.svg
            """)

    @Argument(help: "The address, http:// or https://.")
    var address: String

    @Option(help: ArgumentHelp("Write the code as a picture (SVG).", valueName: "file.svg"))
    var out: String?

    @Flag(help: "Replace the picture when it is there.")
    var overwrite = false

    func run() async throws {
        try await runVerb {
            let judged = CodeAddress(address)
            guard let url = judged.url else {
                throw CommandFailure(.badData, "\(judged.shown): \(judged.refusal ?? "No address.")")
            }
            guard let code = CodeMaker(url.absoluteString) else {
                throw CommandFailure(.badData, "The address is too long for a code.")
            }
            guard let out else {
                try Terminal.result(code.text(isColoured: isatty(STDOUT_FILENO) == 1))
                Terminal.error(url.absoluteString)
                return
            }
            let target = URL(filePath: (out as NSString).expandingTildeInPath)
            guard target.pathExtension.lowercased() == "svg" else {
                throw CommandFailure(.badData, "\(target.lastPathComponent) has to end in .svg.")
            }
            let part = URL(filePath: "\(target.path).part")
            try Data(code.svg.utf8).write(to: part)
            defer { try? FileManager.default.removeItem(at: part) }
            if overwrite {
                try DurableFile.replace(target, with: part)
            } else {
                try DurableFile.place(part, at: target)
            }
            Terminal.output("Wrote \(target.path)")
        }
    }
}
