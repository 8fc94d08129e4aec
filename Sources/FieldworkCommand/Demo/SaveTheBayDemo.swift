import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// Wildlife sightings around Galveston Bay, for the sample of transactions.
struct SaveTheBayDemo: DemoService {
    static let name = ServiceName(name: "SaveTheBaySync")

    private struct Kind {
        var id: Int
        var name: String
        var color: [Int]
    }

    private static let birds = [
        Kind(id: 0, name: "Brown pelican", color: [122, 84, 44]),
        Kind(id: 1, name: "Roseate spoonbill", color: [214, 90, 140]),
        Kind(id: 2, name: "Great blue heron", color: [70, 104, 150]),
        Kind(id: 3, name: "Laughing gull", color: [90, 90, 90]),
        Kind(id: 4, name: "American oystercatcher", color: [180, 60, 30]),
    ]
    private static let marine = [
        Kind(id: 0, name: "Bottlenose dolphin", color: [52, 110, 160]),
        Kind(id: 1, name: "Kemp's ridley turtle", color: [70, 120, 60]),
        Kind(id: 2, name: "Blue crab", color: [30, 80, 190]), Kind(id: 3, name: "Oyster reef", color: [130, 120, 90]),
    ]

    let definition = ServiceDefinition(
        name: name, description: "Sightings of birds and sea life around Galveston Bay.",
        capabilities: [.query, .create, .update, .delete, .editing, .sync],
        spatialReference: .webMercator,
        layers: [layer(0, "Birds", birds, style: "Triangle"), layer(1, "Marine", marine, style: "Circle")])

    private static func layer(_ id: Int, _ name: String, _ kinds: [Kind], style: String) -> LayerDefinition {
        let domain = DomainDefinition(
            name: "\(name)Kind", kind: .codedValues(kinds.map { .init(code: .integer(Int64($0.id)), name: $0.name) }))
        let types = kinds.map { kind in
            FeatureTypeDefinition(
                id: .integer(Int64(kind.id)), name: kind.name,
                templates: [
                    FeatureTemplateDefinition(
                        name: kind.name, drawingTool: "esriFeatureEditToolPoint",
                        attributes: ["type": .integer(Int64(kind.id)), "number": .integer(1)])
                ])
        }
        return LayerDefinition(
            id: id, name: name, description: "Sightings: \(name.lowercased()).", geometryType: .point,
            spatialReference: .webMercator,
            fields: DemoFields.all([
                FieldDefinition(
                    name: "type", alias: "Kind", type: .integer, isNullable: false, defaultValue: .integer(0),
                    domain: domain),
                FieldDefinition(
                    name: "number", alias: "Number seen", type: .integer,
                    domain: DomainDefinition(
                        name: "\(name)Number", kind: .range(minimum: .integer(0), maximum: .integer(10_000)))),
                FieldDefinition(name: "sighted", alias: "Seen on", type: .date),
                FieldDefinition(name: "observer", alias: "Seen by", type: .string, length: 80),
                FieldDefinition(name: "comments", alias: "Comments", type: .string, length: 500),
            ]),
            globalIDField: "GlobalID", displayField: "type", typeIDField: "type", types: types,
            editFields: EditFieldsDefinition(),
            capabilities: [.query, .create, .update, .delete, .editing, .sync], maxRecordCount: 2_000,
            drawingInfo: DemoSymbols.uniqueValues(
                field: "type",
                kinds.map { (JSONValue($0.id), $0.name, PlainSymbols.marker(style, $0.color)) },
                otherwise: PlainSymbols.marker(style, [120, 120, 120])))
    }

    func batches() -> AnySequence<LayerEdits> {
        var generator = SeededGenerator(seed: 0x5A7E_BA40)
        return AnySequence([
            LayerEdits(layerID: 0, adds: (0..<420).map { _ in Self.sighting(Self.birds, offshore: 9_000, &generator) }),
            LayerEdits(
                layerID: 1, adds: (0..<260).map { _ in Self.sighting(Self.marine, offshore: 6_000, &generator) }),
        ])
    }

    /// About the middle of the bay, 29.5° north and 94.85° west.
    private static func sighting(_ kinds: [Kind], offshore: Double, _ generator: inout SeededGenerator) -> FeatureEdit {
        let moment = generator.moment(fromDay: 19_900, toDay: 20_400)
        let observers = ["Mara", "Theo", "Ines", "Quentin", "Yusuf"]
        let attributes: [(name: String, value: AttributeValue)] = [
            ("type", .integer(Int64(generator.pick(kinds).id))),
            ("number", .integer(Int64.random(in: 1...24, using: &generator))),
            ("sighted", .integer(moment)),
            ("observer", .text(generator.pick(observers))),
        ]
        let point = Point(
            x: (-10_558_650 + generator.normal() * offshore * 1.4).rounded(),
            y: (3_439_700 + generator.normal() * offshore * 1.8).rounded(), spatialReference: .webMercator)
        return .generated(generator.uuid(), attributes, at: moment, by: "demo", geometry: point)
    }
}
