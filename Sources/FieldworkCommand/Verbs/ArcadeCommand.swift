import ArgumentParser
import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork arcade`.
struct ArcadeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "arcade", abstract: "Check and run Arcade expressions, as maps carry them.",
        subcommands: [ArcadeEvalCommand.self, ArcadeCheckCommand.self])
}

/// `fieldwork arcade eval`.
struct ArcadeEvalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eval", abstract: "Run an expression and print its result as one line of JSON.",
        discussion: """
            Dates are printed in milliseconds since 1970; NaN and Infinity are null. What the script writes with Console goes \
            to standard error, and so does its error, with its line, its column and exit code 65.

            The feature is JSON as services give it: {"attributes": {…}, "geometry": {…}}, with "fields" beside when the types \
            of the fields matter (dates, domains).

            With --layer it runs for each feature of a layer, and prints a line with its object id and the result for each; the first \
            error ends it. With --explain, what the expression reads goes to standard error.

            EXAMPLES
              fieldwork arcade eval 'Round(2.567, 1)'
              fieldwork arcade eval 'Round($feature.dbh)' --layer Trees/0 --where "dbh > 0" --limit 20
              fieldwork arcade eval 'Upper($feature.species)' --feature tree.json --profile labeling
            """)

    @Argument(help: "The expression.")
    var expression: String

    @Option(help: ArgumentHelp("A feature for $feature.", valueName: "file.json"))
    var feature: String?

    @Option(
        help: ArgumentHelp(
            "Run it for the features of a layer: …/FeatureServer/0, or Service/0 in the folder or the database.",
            valueName: "layer"))
    var layer: String?

    @Option(name: .customLong("where"), help: "Which features of the layer, in the protocol's SQL.")
    var condition = "1=1"

    @Option(help: "At most so many features of the layer.")
    var limit: Int?

    @Flag(help: "Say which fields, globals and layers it reads.")
    var explain = false

    @OptionGroup var services: PlaceOption
    @OptionGroup var certificates: CertificateOption

    @Option(help: "Where the expression stands: \(ArcadePlaces.names).")
    var profile = "any"

    @Option(name: .customLong("time-zone"), help: ArgumentHelp("The zone of dates; UTC without.", valueName: "zone"))
    var timeZone = "UTC"

    func run() async throws {
        try await runVerb {
            let script = ArcadeScript(expression, profile: try ArcadePlaces.profile(profile))
            guard let zone = timeZone.lowercased() == "system" ? ArcadeZone(.current) : ArcadeZone(timeZone) else {
                throw CommandFailure(.badData, "There is no time zone \(timeZone).")
            }
            var context = ArcadeContext(
                profile: script.profile, now: (Date.now.timeIntervalSince1970 * 1_000).rounded(.down), zone: zone,
                systemZone: ArcadeZone(.current), seed: .random(in: 0 ... .max), spatialReference: .wgs84)
            if let feature { context.feature = try ArcadePlaces.feature(feature) }
            if explain { for line in ArcadePlaces.explanation(script.reads) { Terminal.error(line) } }
            if let layer { return try await run(script, context, over: layer) }
            do {
                let outcome = try await script.evaluate(context)
                for line in outcome.console { Terminal.error(line) }
                Terminal.output(outcome.value.json.text)
            } catch let error as ArcadeError {
                throw CommandFailure(.badData, ArcadePlaces.message(error, in: script))
            }
        }
    }
}

extension ArcadeEvalCommand {
    func validate() throws {
        if feature != nil, layer != nil { throw ValidationError("Either --feature or --layer.") }
    }

    /// The result for each feature of a layer.
    private func run(_ script: ArcadeScript, _ context: ArcadeContext, over address: String) async throws {
        guard !script.reads.needsData else {
            throw CommandFailure(.badData, "The expression reads other layers, which it can't here.")
        }
        try certificates.use()
        try await Interruption.cancelling { [self] in
            try await NamedLayer(text: address, place: services.place).read { reader in
                let layer = try await reader.layer()
                let schema = ArcadeSchema(layer)
                var context = context
                context.spatialReference = layer.spatialReference
                try await reader.pages(of: layer, condition: condition, outFields: "*", limit: limit) { set in
                    for feature in set.features {
                        context.feature = CalculateCommand.arcadeFeature(feature, schema)
                        let id = feature.attributes[layer.objectIDField]?.integerValue
                        do throws(ArcadeError) {
                            let value = try script.value(context)
                            let line: JSONValue = ["objectID": id.map(JSONValue.integer) ?? .null, "value": value.json]
                            Terminal.output(line.text)
                        } catch {
                            let which = id.map { "Feature \($0): " } ?? ""
                            throw CommandFailure(.badData, which + ArcadePlaces.message(error, in: script))
                        }
                    }
                }
            }
        }
    }
}

/// `fieldwork arcade check`.
struct ArcadeCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Find all errors of an expression without running it.",
        discussion: """
            Every error is printed with its line, its column and a mark below its place; the exit code is 65 when there are any. \
            With --explain it says what the expression reads, one name a line.

            EXAMPLES
              fieldwork arcade check 'Round($feature.dbh, 1)' --profile labeling --explain
            """)

    @Argument(help: "The expression.")
    var expression: String

    @Option(help: "Where the expression stands: \(ArcadePlaces.names).")
    var profile = "any"

    @Flag(help: "Say which fields, globals and layers it reads.")
    var explain = false

    func run() async throws {
        try await runVerb {
            let script = ArcadeScript(expression, profile: try ArcadePlaces.profile(profile))
            if explain { for line in ArcadePlaces.explanation(script.reads) { Terminal.output(line) } }
            guard script.problems.isEmpty else {
                throw CommandFailure(
                    .badData,
                    script.problems.map { ArcadePlaces.message($0, in: script) }.joined(separator: "\nfieldwork: "))
            }
            if !explain { Terminal.output("No errors.") }
        }
    }
}

/// What both verbs read and write.
enum ArcadePlaces {
    /// What an expression reads, one name a line.
    static func explanation(_ reads: ArcadeReads) -> [String] {
        var lines: [String] = []
        for (global, fields) in reads.fields.sorted(by: { $0.key < $1.key }) {
            lines += fields.sorted().map { "field\t\(global)\t\($0)" }
        }
        lines += reads.globals.sorted().map { "global\t\($0)" }
        lines += reads.layers.sorted { ($0.collection, $0.name) < ($1.collection, $1.name) }
            .map { "layer\t\($0.collection)\t\($0.name)" }
        lines += reads.relationships.sorted().map { "relationship\t\($0)" }
        lines += reads.functions.sorted().map { "function\t\($0)" }
        if reads.readsOtherFields { lines.append("reads\tfields that only a run can tell") }
        if reads.needsGeometry { lines.append("reads\tgeometries") }
        if reads.needsData { lines.append("reads\tdata of layers") }
        return lines
    }

    static var names: String { ArcadeProfile.all.map(\.name).joined(separator: ", ") }

    static func profile(_ name: String) throws -> ArcadeProfile {
        guard let profile = ArcadeProfile.all.first(where: { $0.name == name.lowercased() }) else {
            throw CommandFailure(.badData, "There is no profile \(name): \(names).")
        }
        return profile
    }

    static func feature(_ path: String) throws -> ArcadeFeature {
        let url = URL(filePath: (path as NSString).expandingTildeInPath)
        guard let data = try? Data(contentsOf: url) else {
            throw CommandFailure(.noInput, "There is no file \(path), or it can't be read.")
        }
        do {
            return try FeatureJSON.feature(try JSONParser.parse(data), reference: .wgs84)
        } catch let error as GeometryError {
            throw CommandFailure(.badData, "\(path): \(error.details)")
        } catch {
            throw CommandFailure(.badData, "\(path) is not JSON.")
        }
    }

    /// The message, the line of the script, and a mark below the place.
    static func message(_ error: ArcadeError, in script: ArcadeScript) -> String {
        guard let position = error.position else { return error.message }
        let line = script.line(position.line)
        // Tabs stay tabs, so that the mark stands where the place is.
        let space = line.prefix(position.column - 1).map { $0 == "\t" ? "\t" : " " }.joined()
        return "line \(position.line), column \(position.column): \(error.message)\n  \(line)\n  \(space)^"
    }
}
