import ArgumentParser
import Fieldwork
import FieldworkGeometry

/// `fieldwork diff`.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the edits in a file that its service does not have.",
        discussion: """
            One line an edit, and one a changed value: + was added, ~ was changed, - was deleted. An edit that the service \
            refused stays here with its reason until a sync brings it home or it is undone. The file is only read.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Argument(help: "The file that `fieldwork offline create` made, or one that `fieldwork collect` works in.")
    var file: String

    @Option(help: "How to print it.")
    var format = Format.text

    func run() async throws {
        try await runVerb {
            let file = OfflineFile(file)
            try await file.requirePrepared()
            let differences = try await Geodatabase.differences(in: file.url)
            switch format {
            case .text: for line in differences.flatMap(DifferenceText.lines) { Terminal.output(line) }
            case .json: Terminal.output(JSONValue.array(differences.map(DifferenceText.json)).text)
            }
        }
    }
}
