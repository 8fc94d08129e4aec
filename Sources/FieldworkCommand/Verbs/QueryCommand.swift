import ArgumentParser
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// `fieldwork query`.
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Ask a layer of a service for features.",
        discussion: """
            EXAMPLES
              fieldwork query http://127.0.0.1:8080/arcgis/rest/services/TreesOfPortland/FeatureServer/0 \\
                  --where "Condition = 'Poor' AND DBH > 30" --out-fields Address,DBH --limit 20
              fieldwork query TreesOfPortland/0 --format geojson > trees.geojson
              fieldwork query Trees --store postgres://localhost/field
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, geojson, csv
    }

    @Argument(
        help: ArgumentHelp(
            "The layer: its address, …/FeatureServer/0, or a name in the folder or the database, Service or Service/0.",
            valueName: "layer"))
    var address: String

    @Option(name: .customLong("where"), help: "The condition, in the protocol's SQL.")
    var condition = "1=1"

    @Option(help: "The fields to show, with commas between them; * for all.")
    var outFields = "*"

    @Option(help: "How to write them: table, json, geojson or csv.")
    var format = Format.table

    @Option(parsing: .unconditional, help: "The most features to show; 50 for a table, else all.")
    var limit: Int?

    @OptionGroup var services: PlaceOption
    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("A limit is not negative.") }
    }

    func run() async throws {
        try await runVerb {
            try certificates.use()
            try await Interruption.cancelling { [self] in
                try await NamedLayer(text: address, place: services.place).read(write)
            }
        }
    }

    private func write(from reader: ServiceReader) async throws {
        let layer = try await reader.layer()
        var writer = FeatureText(format: format) { try Terminal.result($0) }
        var shown = 0
        try await reader.pages(
            of: layer, condition: condition, outFields: outFields,
            limit: limit ?? (format == .table ? Self.tableRows : nil),
            outSR: format == .geojson ? 4_326 : nil
        ) { set in
            shown += set.features.count
            try writer.write(set)
        }
        try writer.finish()
        if format == .table, limit == nil, shown == Self.tableRows { try await sayRest(shown, reader) }
    }

    private static let tableRows = 50

    /// A table that was cut says so.
    private func sayRest(_ shown: Int, _ reader: ServiceReader) async throws {
        let answer = try await reader.get("query", [("where", condition), ("returnCountOnly", "true")])
        guard let count = answer["count"]?.integerValue, count > shown else { return }
        Terminal.error("\(shown) of \(Counted.features(Int(count))); --limit shows more, --format csv all of them")
    }
}
