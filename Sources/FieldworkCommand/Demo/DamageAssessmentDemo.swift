import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// Damage reports across the central United States, and the areas that crews search around its towns.
struct DamageAssessmentDemo: DemoService {
    static let name = ServiceName(name: "DamageAssessment")
    static let featureCount = 5_000

    /// The kinds of damage, mildest last, with their looks.
    private static let kinds: [(name: String, symbol: JSONValue, share: Double)] = [
        ("Affected", PlainSymbols.marker("Circle", [63, 124, 191]), 0.34),
        ("Minor", PlainSymbols.marker("Square", [176, 138, 0]), 0.28),
        ("Major", PlainSymbols.marker("Diamond", [201, 104, 0], size: 12), 0.2),
        ("Destroyed", PlainSymbols.marker("Triangle", [178, 34, 34], size: 12), 0.12),
        ("Inaccessible", PlainSymbols.marker("X", [85, 85, 85]), 0.06),
    ]

    let definition: ServiceDefinition = {
        let domain = DemoFields.choice(
            "DamageType", ["Inaccessible", "Affected", "Minor", "Major", "Destroyed"])
        let types = kinds.map { kind in
            FeatureTypeDefinition(
                id: .text(kind.name), name: kind.name,
                templates: [
                    FeatureTemplateDefinition(
                        name: kind.name, drawingTool: "esriFeatureEditToolPoint",
                        attributes: ["typdamage": .text(kind.name), "primcause": .null])
                ])
        }
        let layer = LayerDefinition(
            id: 0, name: "Damage reports",
            description: "Reports of damage to homes after storms, floods and earthquakes.", geometryType: .point,
            spatialReference: .webMercator,
            fields: DemoFields.all([
                FieldDefinition(name: "incidentnm", alias: "Incident", type: .string, length: 254),
                FieldDefinition(name: "inspdate", alias: "Inspected", type: .date),
                FieldDefinition(name: "firstname", alias: "First name", type: .string, length: 50),
                FieldDefinition(name: "lastname", alias: "Last name", type: .string, length: 50),
                FieldDefinition(name: "fulladdr", alias: "Address", type: .string, length: 254),
                FieldDefinition(
                    name: "typdamage", alias: "Extent of damage", type: .string, length: 50, isNullable: false,
                    defaultValue: .text("Affected"), domain: domain),
                FieldDefinition(name: "primcause", alias: "Primary cause", type: .string, length: 254),
                FieldDefinition(
                    name: "numoccup", alias: "Occupants", type: .integer,
                    domain: DomainDefinition(
                        name: "Occupants", kind: .range(minimum: .integer(0), maximum: .integer(500)))),
                FieldDefinition(name: "waterdepth", alias: "Water depth (m)", type: .double),
                FieldDefinition(name: "descdamage", alias: "Description", type: .string, length: 500),
            ]),
            globalIDField: "GlobalID", displayField: "typdamage", typeIDField: "typdamage", types: types,
            editFields: EditFieldsDefinition(), hasAttachments: true, maxRecordCount: 2_000,
            drawingInfo: DemoSymbols.uniqueValues(
                field: "typdamage", kinds.map { (.string($0.name), $0.name, $0.symbol) },
                otherwise: PlainSymbols.marker("Circle", [120, 120, 120])))
        return ServiceDefinition(
            name: name, description: "Damage reports that anyone may add, change and delete.",
            spatialReference: .webMercator, layers: [layer, DamageAreas.layer])
    }()

    func batches() -> AnySequence<LayerEdits> {
        var generator = SeededGenerator(seed: 0x0DA3_A6E0)
        let towns = (0..<60).map { _ in
            (
                x: Double.random(in: -11_600_000 ... -9_700_000, using: &generator),
                y: Double.random(in: 3_800_000...5_400_000, using: &generator)
            )
        }
        let adds = (0..<Self.featureCount).map { _ in Self.report(near: generator.pick(towns), &generator) }
        return AnySequence([
            LayerEdits(layerID: 0, adds: adds), LayerEdits(layerID: 1, adds: DamageAreas.around(towns, &generator)),
        ])
    }

    private static func report(near town: (x: Double, y: Double), _ generator: inout SeededGenerator) -> FeatureEdit {
        let causes = ["Tornado", "Flood", "Hail", "Wind", "Earthquake", "Fire", "Ice"]
        let names = ["Ada", "Ben", "Carla", "Dev", "Elsa", "Femi", "Gus", "Hana", "Ivo", "June"]
        let families = ["Abel", "Baker", "Cruz", "Diaz", "Evans", "Fox", "Green", "Hill", "Irwin", "Jones"]
        let streets = ["Oak St", "Main St", "Elm Ave", "2nd Ave", "Prairie Rd", "County Rd 9", "Mill Ln"]
        let cause = generator.pick(causes)
        let moment = generator.moment(fromDay: 19_800, toDay: 20_400)
        let depth: AttributeValue =
            cause == "Flood" ? .real((Double.random(in: 0.1...3, using: &generator) * 10).rounded() / 10) : .null
        let attributes: [(name: String, value: AttributeValue)] = [
            ("incidentnm", .text("\(cause) \(2024 + Int.random(in: 0...1, using: &generator))")),
            ("inspdate", .integer(moment)),
            ("firstname", .text(generator.pick(names))),
            ("lastname", .text(generator.pick(families))),
            ("fulladdr", .text("\(Int.random(in: 1...9_999, using: &generator)) \(generator.pick(streets))")),
            ("typdamage", .text(generator.pick(kinds.map { ($0.name, $0.share) }))),
            ("primcause", .text(cause)),
            ("numoccup", .integer(Int64.random(in: 0...8, using: &generator))),
            ("waterdepth", depth),
        ]
        let point = Point(
            x: (town.x + generator.normal() * 25_000).rounded(), y: (town.y + generator.normal() * 25_000).rounded(),
            spatialReference: .webMercator)
        return .generated(generator.uuid(), attributes, at: moment, by: "demo", geometry: point)
    }
}
