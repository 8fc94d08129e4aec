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
            """,
        subcommands: [List.self, Show.self, Restore.self, Close.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List conflicts, the newest first.")

        @Argument(help: "The address of a feature service.")
        var address: String

        @Flag(help: "Only those that wait for somebody to look at them.")
        var open = false

        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let list = try await ServiceReader(address).get("conflicts", open ? [("state", "open")] : [])
                if format.format == .json {
                    return try Terminal.result((list["conflicts"] ?? .array([])).text + "\n")
                }
                if list["conflicts"]?.arrayValue?.isEmpty != false { Terminal.error("There are none.") }
                var shown: [Int64: ValueText] = [:]
                for conflict in list["conflicts"]?.arrayValue ?? [] {
                    let layer = conflict["layerId"]?.integerValue ?? 0
                    if shown[layer] == nil { shown[layer] = try await ConflictsCommand.values(of: layer, at: address) }
                    let values = shown[layer] ?? ValueText()
                    let text = [
                        "\(conflict["id"]?.integerValue ?? 0)", conflict["state"]?.stringValue ?? "",
                        conflict["kind"]?.stringValue ?? "",
                        "feature \(layer)/\(conflict["objectId"]?.integerValue ?? 0)",
                        MomentText.text(conflict["moment"]),
                        "lost: \(ConflictsCommand.summary(conflict["lost"], values))",
                    ]
                    Terminal.output(text.joined(separator: "  "))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show both sides of a conflict.")

        @OptionGroup var conflict: ConflictArguments

        func run() async throws {
            try await runVerb {
                let json = try await ServiceReader(conflict.address).get("conflicts/\(conflict.number)")
                let values = try await ConflictsCommand.values(
                    of: json["layerId"]?.integerValue ?? 0, at: conflict.address)
                for side in ["lost", "won"] {
                    let editor = json[side]?["editor"]?.stringValue ?? "somebody"
                    Terminal.output("\(side) (\(editor), \(MomentText.text(json[side]?["moment"]))):")
                    Terminal.output("  \(ConflictsCommand.summary(json[side], values))")
                }
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Bring back what lost, as an edit of its own.")

        @OptionGroup var conflict: ConflictArguments

        func run() async throws {
            try await runVerb {
                let answer = try await ServiceReader(conflict.address).get("conflicts/\(conflict.number)/restore")
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
                _ = try await ServiceReader(conflict.address).get("conflicts/\(conflict.number)/close")
                Terminal.output("Conflict \(conflict.number): what won stays; what lost is in the history")
            }
        }
    }

    /// How to show the values of a layer. One that the service has no more still has its conflicts.
    static func values(of layer: Int64, at address: String) async throws -> ValueText {
        do {
            return ValueText(fields: try await ServiceReader("\(address)/\(layer)").layer().fields)
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

struct ConflictArguments: ParsableArguments {
    @Argument(help: "The address of a feature service.")
    var address: String

    @Argument(help: "The conflict's number, as conflicts list shows it.")
    var number: Int64
}
