import ArgumentParser
import FieldworkArcade
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork calculate`.
struct CalculateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calculate", abstract: "Set a field of a layer's features to what an Arcade expression gives.",
        discussion: """
            Every feature is calculated before the first is changed: an expression that fails with one changes none. Then the
            features whose value differs are changed, 1,000 at a time, as edits of their own: they keep the layer's rules, and the
            history has them. Broken off in the midst, it goes on when it is started again.

            EXAMPLES
              fieldwork calculate Trees label 'Upper($feature.species) + " " + Round($feature.dbh)'
              fieldwork calculate Trees/0 circumference '$feature.dbh * PI' --where "dbh > 0" --dry-run
              fieldwork calculate http://127.0.0.1:8080/arcgis/rest/services/Trees/FeatureServer/0 x 'Geometry($feature).x'
            """)

    @Argument(
        help: ArgumentHelp(
            "The layer: its address, …/FeatureServer/0, or a name in the folder or the database, Service or Service/0.",
            valueName: "layer"))
    var address: String

    @Argument(help: "The field to set.")
    var field: String

    @Argument(help: "The expression, in Arcade.")
    var expression: String

    @Option(name: .customLong("where"), help: "Which features, in the protocol's SQL.")
    var condition = "1=1"

    @Flag(help: "Say how many would change, and change nothing.")
    var dryRun = false

    @OptionGroup var services: PlaceOption
    @OptionGroup var certificates: CertificateOption

    func run() async throws {
        try await runVerb {
            try certificates.use()
            let script = ArcadeScript(expression, profile: .fieldCalculation)
            if let problem = script.problems.first {
                throw CommandFailure(.badData, ArcadePlaces.message(problem, in: script))
            }
            guard !script.reads.needsData else {
                throw CommandFailure(.badData, "The expression reads other layers, which a calculation here can't.")
            }
            let said = try await Interruption.cancelling { [self] in
                try await NamedLayer(text: address, place: services.place).read { reader in
                    try await calculate(script, reader)
                }
            }
            Terminal.output(said)
        }
    }

    /// What is to become of one feature.
    private struct Change: Sendable {
        var objectID: Int64
        var value: JSONValue
    }

    private func calculate(_ script: ArcadeScript, _ reader: ServiceReader) async throws -> String {
        let layer = try await reader.layer()
        guard let target = layer.field(named: field) else {
            let names = layer.fields.map(\.name).joined(separator: ", ")
            throw CommandFailure(.badData, "\(layer.name) has no field \(field). It has \(names).")
        }
        guard target.isEditable, ![.oid, .globalID, .geometry].contains(target.type) else {
            throw CommandFailure(.badData, "The field \(target.name) can't be edited.")
        }
        let (changes, count) = try await changes(script, target, layer, reader)
        let features = Counted.features(count)
        guard !dryRun else { return "\(changes.count) of \(features) would change." }
        try await apply(changes, to: target, of: layer, reader)
        return "Changed \(changes.count) of \(features)."
    }

    private func changes(
        _ script: ArcadeScript, _ target: FieldDefinition, _ layer: LayerDefinition, _ reader: ServiceReader
    ) async throws -> (changes: [Change], count: Int) {
        let schema = ArcadeSchema(layer)
        let now = (Date.now.timeIntervalSince1970 * 1_000).rounded(.down)
        var (changes, count): ([Change], Int) = ([], 0)
        var bar = ProgressBar("Calculating")
        try await reader.pages(of: layer, condition: condition, outFields: "*", limit: nil) { set in
            for feature in set.features {
                guard let id = feature.attributes[layer.objectIDField]?.integerValue else { continue }
                var context = ArcadeContext(profile: script.profile, now: now, seed: .random(in: 0 ... .max))
                context.spatialReference = layer.spatialReference
                context.feature = Self.arcadeFeature(feature, schema)
                let result: ArcadeValue
                do throws(ArcadeError) { result = try script.value(context) } catch {
                    throw CommandFailure(
                        .badData,
                        "Feature \(id): \(ArcadePlaces.message(error, in: script))\nNothing was changed.")
                }
                guard let value = Self.json(result) else {
                    throw CommandFailure(
                        .badData, "Feature \(id): the result is no value of a field. Nothing was changed.")
                }
                if !Self.isSame(value, feature.attributes[target.name] ?? .null) {
                    changes.append(Change(objectID: id, value: value))
                }
            }
            count += set.features.count
            bar.advance(to: count)
        }
        bar.finish("Calculated \(Counted.features(count))")
        return (changes, count)
    }

    /// A feature of an answer as scripts read it.
    static func arcadeFeature(_ feature: FieldworkREST.FeatureSet.Feature, _ schema: ArcadeSchema) -> ArcadeFeature {
        ArcadeFeature(
            schema: schema, values: schema.fields.map { value(feature.attributes[$0.name] ?? .null, $0.type) },
            geometry: feature.geometry)
    }

    private static func value(_ value: AttributeValue, _ type: String) -> ArcadeValue {
        switch value {
        case .null, .data: .null
        case .integer(let number): .number(Double(number))
        case .real(let number): .number(number)
        case .text(let text): FeatureJSON.value(text, ofType: type)
        }
    }

    /// A result as a field takes it; nil for what is none.
    private static func json(_ value: ArcadeValue) -> JSONValue? {
        switch value {
        case .boolean(let truth): .integer(truth ? 1 : 0)
        case .number(let number) where !number.isFinite: nil
        case .null, .number, .text, .date, .dateOnly, .time: value.json
        default: nil
        }
    }

    private static func isSame(_ value: JSONValue, _ current: AttributeValue) -> Bool {
        let value = AttributeValue(json: value)
        if let one = value.doubleValue, let other = current.doubleValue { return one == other }
        return value == current
    }

    private func apply(
        _ changes: [Change], to target: FieldDefinition, of layer: LayerDefinition, _ reader: ServiceReader
    ) async throws {
        var bar = ProgressBar("Changing", total: changes.count)
        for start in stride(from: 0, to: changes.count, by: Self.editsAtOnce) {
            try Task.checkCancellation()
            let piece = changes[start..<min(start + Self.editsAtOnce, changes.count)]
            let updates = JSONValue.array(
                piece.map { change in
                    var attributes = JSONObject()
                    attributes.append(layer.objectIDField, .integer(change.objectID))
                    attributes.append(target.name, change.value)
                    return .object(JSONObject(["attributes": .object(attributes)]))
                })
            let answer = try await reader.get(
                "applyEdits", [("updates", updates.text), ("rollbackOnFailure", "true")])
            let results = answer["updateResults"]?.arrayValue ?? []
            for (change, result) in zip(piece, results) where result["success"]?.boolValue != true {
                let why = result["error"]?["description"]?.stringValue ?? "it was refused"
                // Those of the same piece that could have been made were undone with it.
                guard result["error"]?["code"]?.integerValue != 1003 else { continue }
                throw CommandFailure(
                    .badData, "Feature \(change.objectID): \(why) \(start) features were changed before it.")
            }
            guard results.count == piece.count, results.allSatisfy({ $0["success"]?.boolValue == true }) else {
                throw CommandFailure(.unavailable, "The service did not say what became of the edits.")
            }
            bar.advance(to: start + piece.count)
        }
        bar.finish("Changed \(Counted.features(changes.count))")
    }

    private static let editsAtOnce = 1_000
}
