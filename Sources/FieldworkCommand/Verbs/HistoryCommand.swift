import ArgumentParser
import FieldworkGeometry
import FieldworkREST
import Foundation

/// `fieldwork history`.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List what a feature was before, the newest version first.",
        discussion: """
            Each line begins with the version's number, which `fieldwork restore` takes, and says what ended it, when, who did it,
            and which values it had that the next version has not. Deleted features have a history too; the last version of one is
            shown whole.

            EXAMPLES
              fieldwork history http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 12
              fieldwork history http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 \\
                  '{41F5A3E7-…}' --format json
              fieldwork history Trees 12
              fieldwork history Trees/0 12 --store postgres://localhost/field
            """)

    @OptionGroup var feature: FeatureArguments
    @OptionGroup var services: PlaceOption
    @OptionGroup var format: ListFormat

    func run() async throws {
        try await runVerb {
            let (versions, lines) = try await feature.layer(in: services.place).read { reader in
                let json = try await reader.get("\(feature.id)/history")
                let versions = json["versions"]?.arrayValue ?? []
                return try await (versions, format.format == .json ? [] : self.lines(versions, reader))
            }
            if format.format == .text, versions.isEmpty { Terminal.error("The feature has no earlier version.") }
            try format.print(.array(versions), lines)
        }
    }

    private func lines(_ versions: [JSONValue], _ reader: ServiceReader) async throws -> [String] {
        let layer = try await reader.layer()
        let shown = ValueText(fields: layer.fields)
        var later = try await current(reader, layer)
        var lines: [String] = []
        for version in versions {
            let feature = version["feature"]
            let head = [
                "\(version["toGeneration"]?.integerValue ?? 0)", version["endedBy"]?.stringValue ?? "",
                MomentText.text(version["endedAt"]), version["editor"]?.stringValue ?? "",
            ].filter { !$0.isEmpty }
            let changes = Self.changes(from: feature, to: later, shown)
            lines.append("\(head.joined(separator: "  ")): \(changes.joined(separator: ", "))")
            later = feature
        }
        return lines
    }

    /// The feature as it stands; nil where it was deleted.
    private func current(_ reader: ServiceReader, _ layer: LayerDefinition) async throws -> JSONValue? {
        let condition =
            Int64(feature.id).map { "\(layer.objectIDField) = \($0)" }
            ?? layer.globalIDField.map { "\($0) = '{\(feature.id)}'" } ?? "1=0"
        let answer = try await reader.get(
            "query", [("where", condition), ("outFields", "*"), ("returnGeometry", "true")])
        return answer["features"]?.arrayValue?.first
    }

    /// What a version had, and what came after it: only what is different. Of one that nothing followed, all that it had.
    private static func changes(from version: JSONValue?, to later: JSONValue?, _ shown: ValueText) -> [String] {
        var words: [String] = []
        for member in version?["attributes"]?.objectValue?.members ?? [] {
            let after = later?["attributes"]?[member.key] ?? .null
            if later == nil {
                if member.value != .null { words.append("\(member.key) = \(shown.text(member.key, member.value))") }
            } else if after != member.value {
                words.append(
                    "\(member.key) = \(shown.text(member.key, member.value)) became \(shown.text(member.key, after))")
            }
        }
        let (before, after) = (version?["geometry"] ?? .null, later?["geometry"] ?? .null)
        if later == nil, before != .null { words.append("geometry = \(before.text)") }
        if later != nil, !isSamePlace(before, after) { words.append("geometry = \(before.text) became \(after.text)") }
        return words.isEmpty ? ["nothing that is shown"] : words
    }

    /// One of the two may name its reference where the other leaves it to the layer.
    private static func isSamePlace(_ one: JSONValue, _ other: JSONValue) -> Bool {
        func bare(_ json: JSONValue) -> JSONValue {
            guard let members = json.objectValue?.members else { return json }
            var object = JSONObject()
            for member in members where member.key != "spatialReference" { object.append(member.key, member.value) }
            return .object(object)
        }
        return bare(one) == bare(other)
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
              fieldwork restore Trees 12
            """)

    @OptionGroup var feature: FeatureArguments
    @OptionGroup var services: PlaceOption

    @Option(
        help: ArgumentHelp("The version, as history shows it; the newest by default.", valueName: "number"))
    var versionNumber: Int64?

    func run() async throws {
        try await runVerb {
            let id = try await feature.layer(in: services.place).read { reader in
                let json = try await reader.get("\(feature.id)/history")
                let newest = json["versions"]?.arrayValue?.first?["toGeneration"]?.integerValue
                guard let number = versionNumber ?? newest else {
                    throw CommandFailure(.noInput, "The feature has no earlier version.")
                }
                let answer = try await reader.get("\(feature.id)/history/\(number)/restore")
                return answer["objectId"]?.integerValue ?? 0
            }
            Terminal.output("Feature \(id) is what it was")
        }
    }
}

struct FeatureArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The layer or table: its address, …/FeatureServer/0, or a name in the folder or the database, Service or Service/0.",
            valueName: "layer"))
    var address: String

    @Argument(help: "The feature's object id or global id.")
    var feature: String

    func layer(in place: ServicePlace) -> NamedLayer { NamedLayer(text: address, place: place) }

    /// As a segment of the address.
    var id: String { Int64(feature).map(String.init) ?? globalID?.uuidString ?? "" }

    private var globalID: UUID? { UUID(uuidString: feature.trimmingCharacters(in: CharacterSet(charactersIn: "{}"))) }

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("\(feature) is neither an object id nor a global id.") }
    }
}
