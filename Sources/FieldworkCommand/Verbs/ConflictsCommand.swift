import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import Foundation

/// `fieldwork conflicts`.
struct ConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts", abstract: "Look at what lost when two had changed the same, and bring it back.",
        discussion: """
            EXAMPLES
              fieldwork conflicts list http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer --open
              fieldwork conflicts show http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer 3
              fieldwork conflicts restore http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer 3
              fieldwork conflicts list Trees --format json
              fieldwork conflicts list Trees --store postgres://localhost/field
            """,
        subcommands: [List.self, Show.self, Restore.self, Close.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List conflicts, the newest first.")

        @OptionGroup var service: ConflictService

        @Flag(help: "Only those that wait for somebody to look at them.")
        var open = false

        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let (conflicts, lines) = try await service.read { reader in
                    let list = try await reader.get("conflicts", open ? [("state", "open")] : [])
                    let conflicts = list["conflicts"]?.arrayValue ?? []
                    return try await (conflicts, format.format == .json ? [] : self.lines(conflicts, reader))
                }
                if format.format == .text, conflicts.isEmpty { Terminal.error("There are none.") }
                try format.print(.array(conflicts), lines)
            }
        }

        private func lines(_ conflicts: [JSONValue], _ reader: ServiceReader) async throws -> [String] {
            var shown: [Int64: ValueText] = [:]
            var lines: [String] = []
            for conflict in conflicts {
                let layer = conflict["layerId"]?.integerValue ?? 0
                if shown[layer] == nil { shown[layer] = try await ConflictsCommand.values(of: layer, reader) }
                let text = [
                    "\(conflict["id"]?.integerValue ?? 0)", conflict["state"]?.stringValue ?? "",
                    conflict["kind"]?.stringValue ?? "",
                    "feature \(layer)/\(conflict["objectId"]?.integerValue ?? 0)",
                    MomentText.text(conflict["moment"]),
                    "lost: \(ConflictsCommand.summary(conflict["lost"], shown[layer] ?? ValueText()))",
                ]
                lines.append(text.joined(separator: "  "))
            }
            return lines
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show both sides of a conflict.")

        @OptionGroup var conflict: ConflictArguments

        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let (json, values) = try await conflict.service.read { reader in
                    let json = try await reader.get("conflicts/\(conflict.number)")
                    return try await (json, ConflictsCommand.values(of: json["layerId"]?.integerValue ?? 0, reader))
                }
                let lines = ["lost", "won"].flatMap { side in
                    let editor = json[side]?["editor"]?.stringValue ?? "somebody"
                    return [
                        "\(side) (\(editor), \(MomentText.text(json[side]?["moment"]))):",
                        "  \(ConflictsCommand.summary(json[side], values))",
                    ]
                }
                try format.print(json, lines)
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Bring back what lost, as an edit of its own.")

        @OptionGroup var conflict: ConflictArguments

        func run() async throws {
            try await runVerb {
                let answer = try await conflict.service.read {
                    try await $0.get("conflicts/\(conflict.number)/restore")
                }
                if answer["success"]?.boolValue != true {
                    throw CommandFailure(.unavailable, answer["error"]?.stringValue ?? "It could not be restored.")
                }
                Terminal.output("Conflict \(conflict.number): what lost is there again; what stood is in the history")
            }
        }
    }

    struct Close: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Keep the winning values and close the conflict.")

        @OptionGroup var conflict: ConflictArguments

        func run() async throws {
            try await runVerb {
                _ = try await conflict.service.read { try await $0.get("conflicts/\(conflict.number)/close") }
                Terminal.output("Conflict \(conflict.number): what won stays; what lost is in the history")
            }
        }
    }

    /// How to show the values of a layer. One that the service has no more still has its conflicts.
    static func values(of layer: Int64, _ reader: ServiceReader) async throws -> ValueText {
        do {
            return ValueText(fields: try LayerDefinition(json: try await reader.get("\(layer)")).fields)
        } catch is FieldworkREST.ServiceError {
            return ValueText()
        }
    }

    /// The values of one side in a line.
    static func summary(_ side: JSONValue?, _ values: ValueText) -> String {
        let attachment = side?["attachment"].map { value in
            "attachment \(value["name"]?.stringValue ?? "") (\(value["size"]?.integerValue ?? 0) bytes)"
        }
        if side?["deleted"]?.boolValue == true {
            return [attachment, "deleted"].compactMap(\.self).joined(separator: " ")
        }
        var parts = (side?["attributes"]?.objectValue?.members ?? []).map {
            "\($0.key) = \(values.text($0.key, $0.value))"
        }
        if let geometry = side?["geometry"] { parts.append("geometry = \(geometry.text)") }
        if let attachment { parts.append(attachment) }
        return parts.joined(separator: ", ")
    }
}

/// The service that conflicts are of.
struct ConflictService: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The feature service: its address, or a name in the folder or the database.", valueName: "service"))
    var address: String

    @OptionGroup var services: PlaceOption

    func read<Result: Sendable>(
        _ body: @Sendable (ServiceReader) async throws -> Result
    ) async throws -> Result {
        try await NamedService(text: address, place: services.place).read(body)
    }
}

struct ConflictArguments: ParsableArguments {
    @OptionGroup var service: ConflictService

    @Argument(help: "The conflict's number, as conflicts list shows it.")
    var number: Int64
}
