import ArgumentParser
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// `fieldwork validate`.
struct ValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Ask the validation rules of layers about the features that are there.",
        discussion: """
            Edits do not run the rules of the type esriARTValidation; this does, and changes nothing. Each feature that does not
            keep a rule is named with the rule and its message, on a line of its own. The exit code is 0 when all rules are kept
            and 65 when one is not.

            EXAMPLES
              fieldwork validate Trees
              fieldwork validate Trees/0 --where "planted > DATE '2026-01-01'" --format json
              fieldwork validate http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0
            """)

    @Argument(
        help: ArgumentHelp(
            "The service or the layer: its address, …/FeatureServer or …/FeatureServer/0, or a name in the folder or the database, Service or Service/0.",
            valueName: "layer"))
    var address: String

    @Option(name: .customLong("where"), help: "Which features, in the protocol's SQL.")
    var condition = "1=1"

    @OptionGroup var format: ListFormat
    @OptionGroup var services: PlaceOption
    @OptionGroup var certificates: CertificateOption

    func run() async throws {
        try await runVerb {
            try certificates.use()
            let found = try await Interruption.cancelling { [self] in
                try await NamedLayer(text: address, place: services.place).read(orService: true, validate)
            }
            try format.print(
                .array(found.violations), found.violations.map(Self.line))
            let features = Counted.features(found.features)
            guard found.violations.isEmpty else {
                let broken = Set(found.violations.map { "\($0["layerId"] ?? 0)/\($0["objectId"] ?? 0)" }).count
                throw CommandFailure(
                    .badData, "\(broken) of \(features) \(broken == 1 ? "does" : "do") not keep the rules.")
            }
            guard format.format == .text else { return }
            Terminal.error(
                found.rules == 0
                    ? "There are no validation rules: nothing was looked at."
                    : "\(features) \(found.features == 1 ? "keeps" : "keep") \(Counted.text(found.rules, "rule")).")
        }
    }

    /// What was found in all layers that were asked for.
    private struct Found: Sendable {
        var violations: [JSONValue] = []
        var features = 0
        var rules = 0
    }

    private func validate(_ reader: ServiceReader) async throws -> Found {
        let root = try await reader.get()
        if root["layers"]?.arrayValue == nil { return try await validate([reader]) }
        let layers = ["layers", "tables"].flatMap { root[$0]?.arrayValue ?? [] }.compactMap { $0["id"]?.integerValue }
        return try await validate(
            layers.map { id in
                var layer = reader
                layer.url.append(path: String(id))
                return layer
            })
    }

    private func validate(_ layers: [ServiceReader]) async throws -> Found {
        var found = Found()
        for reader in layers {
            let layer = try await reader.layer()
            let rules = layer.attributeRules.filter { $0.isEnabled && $0.kind == .validation }
            guard !rules.isEmpty else { continue }
            found.rules += rules.count
            let answer = try await reader.get("query", [("where", condition), ("returnIdsOnly", "true")])
            let ids = (answer["objectIds"]?.arrayValue ?? []).compactMap(\.integerValue).sorted()
            var service = reader
            service.url = reader.url.deletingLastPathComponent().deletingLastPathComponent()
            var bar = ProgressBar("Validating \(layer.name)", total: ids.count)
            for start in stride(from: 0, to: ids.count, by: Self.featuresAtOnce) {
                try Task.checkCancellation()
                let piece = ids[start..<min(start + Self.featuresAtOnce, ids.count)]
                try await validate(piece, of: layer, service, &found)
                bar.advance(to: start + piece.count)
            }
            bar.finish("Validated \(Counted.features(ids.count)) of \(layer.name)")
        }
        return found
    }

    private func validate(
        _ ids: ArraySlice<Int64>, of layer: LayerDefinition, _ service: ServiceReader, _ found: inout Found
    ) async throws {
        let selection: JSONValue = [["id": JSONValue(layer.id), "objectIds": .array(ids.map(JSONValue.integer))]]
        let answer = try await service.get(
            "ValidationServer/evaluate",
            [("evaluationType", #"["validationRules"]"#), ("selection", selection.text)])
        guard let violations = answer["validationErrors"]?.arrayValue else {
            throw CommandFailure(
                .unavailable, "The service does not say which features do not keep its rules.")
        }
        // Half of them have fewer violations than one answer may tell of.
        if answer["exceededTransferLimit"]?.boolValue == true, ids.count > 1 {
            let middle = ids.startIndex + ids.count / 2
            try await validate(ids[..<middle], of: layer, service, &found)
            return try await validate(ids[middle...], of: layer, service, &found)
        }
        found.violations += violations
        found.features += Int(answer["evaluatedFeatures"]?.integerValue ?? 0)
    }

    private static func line(_ violation: JSONValue) -> String {
        let layer = violation["layerId"]?.integerValue ?? 0
        let feature = violation["objectId"]?.integerValue ?? 0
        let rule = violation["ruleName"]?.stringValue ?? ""
        let message = violation["errorMessage"]?.stringValue ?? ""
        return "\(layer)/\(feature)  \(rule): \(message.split(whereSeparator: \.isNewline).joined(separator: " "))"
    }

    private static let featuresAtOnce = 2_000
}
