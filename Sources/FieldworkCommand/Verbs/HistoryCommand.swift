import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import Foundation

/// `fieldwork history`.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List what a feature was before, the newest version first.",
        discussion: """
            Each line begins with the version's number, which `fieldwork restore` takes, and says what ended it, when and \
            who did it. Deleted features have a history too.

            EXAMPLES
              fieldwork history http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 12
              fieldwork history http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 \\
                  '{41F5A3E7-…}' --format json
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @OptionGroup var feature: FeatureArguments

    @Option(help: "How to print it.")
    var format = Format.text

    func run() async throws {
        try await runVerb {
            let reader = try ServiceReader(feature.address)
            let json = try await reader.get("\(feature.id)/history")
            let versions = json["versions"]?.arrayValue ?? []
            if format == .json { return Terminal.output(JSONValue.array(versions).text) }
            let shown = ValueText(fields: try await reader.layer().fields)
            for version in versions {
                let values = (version["feature"]?["attributes"]?.objectValue?.members ?? []).filter {
                    $0.value != .null
                }.map { "\($0.key) = \(shown.text($0.key, $0.value))" }
                let place = version["feature"]?["geometry"].map { $0 == .null ? [] : ["geometry = \($0.text)"] } ?? []
                let head = [
                    "\(version["toGeneration"]?.integerValue ?? 0)", version["endedBy"]?.stringValue ?? "",
                    MomentText.text(version["endedAt"]), version["editor"]?.stringValue ?? "",
                ].filter { !$0.isEmpty }
                Terminal.output("\(head.joined(separator: "  ")): \((values + place).joined(separator: ", "))")
            }
        }
    }
}

/// `fieldwork restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore an earlier version of a feature.",
        discussion: """
            It is an edit like any other: what stands now becomes a version. A deleted feature comes back under its ids.

            EXAMPLES
              fieldwork restore http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 12 --version-number 408
              fieldwork restore http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 12
            """)

    @OptionGroup var feature: FeatureArguments

    @Option(
        help: ArgumentHelp("The version, as history shows it; the newest by default.", valueName: "number"))
    var versionNumber: Int64?

    func run() async throws {
        try await runVerb {
            let reader = try ServiceReader(feature.address)
            let json = try await reader.get("\(feature.id)/history")
            let newest = json["versions"]?.arrayValue?.first?["toGeneration"]?.integerValue
            guard let number = versionNumber ?? newest else {
                throw CommandFailure(.noInput, "The feature has no earlier version.")
            }
            let answer = try await reader.get("\(feature.id)/history/\(number)/restore")
            Terminal.output("Feature \(answer["objectId"]?.integerValue ?? 0) is what it was")
        }
    }
}

struct FeatureArguments: ParsableArguments {
    @Argument(help: "The address of a layer or table, …/FeatureServer/0.")
    var address: String

    @Argument(help: "The feature's object id or global id.")
    var feature: String

    /// As a segment of the address.
    var id: String { Int64(feature).map(String.init) ?? globalID?.uuidString ?? "" }

    private var globalID: UUID? { UUID(uuidString: feature.trimmingCharacters(in: CharacterSet(charactersIn: "{}"))) }

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("\(feature) is neither an object id nor a global id.") }
    }
}
