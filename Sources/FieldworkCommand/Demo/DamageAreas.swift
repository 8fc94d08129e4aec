import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// The areas that crews search after a storm: the demo's layer whose shapes can be edited.
enum DamageAreas {
    private static let states: [(name: String, color: [Int])] = [
        ("Not searched", [178, 34, 34]), ("Being searched", [176, 138, 0]), ("Searched", [46, 125, 80]),
    ]

    static let layer = LayerDefinition(
        id: 1, name: "Search areas", description: "Areas that crews search for damage.", geometryType: .polygon,
        spatialReference: .webMercator,
        fields: DemoFields.all([
            FieldDefinition(name: "areaname", alias: "Name", type: .string, length: 80),
            FieldDefinition(
                name: "status", alias: "Status", type: .string, length: 20, isNullable: false,
                defaultValue: .text("Not searched"), domain: DemoFields.choice("SearchStatus", states.map(\.name))),
            FieldDefinition(name: "crew", alias: "Crew", type: .string, length: 80),
            FieldDefinition(name: "notes", alias: "Notes", type: .string, length: 500),
        ]),
        globalIDField: "GlobalID", displayField: "areaname",
        templates: [
            FeatureTemplateDefinition(
                name: "Search area", drawingTool: "esriFeatureEditToolPolygon",
                attributes: ["status": .text("Not searched")])
        ],
        editFields: EditFieldsDefinition(), maxRecordCount: 2_000,
        drawingInfo: DemoSymbols.uniqueValues(
            field: "status", states.map { (.string($0.name), $0.name, area($0.color)) },
            otherwise: area([120, 120, 120])))

    private static func area(_ color: [Int]) -> JSONValue { PlainSymbols.fill(color + [60], outline: color) }

    /// An area about each of the first towns.
    static func around(_ towns: [(x: Double, y: Double)], _ generator: inout SeededGenerator) -> [FeatureEdit] {
        towns.prefix(40).enumerated().map { number, town in
            let moment = generator.moment(fromDay: 19_800, toDay: 20_400)
            let attributes: [(name: String, value: AttributeValue)] = [
                ("areaname", .text("Area \(number + 1)")),
                ("status", .text(generator.pick(states.map(\.name)))),
            ]
            return .generated(
                generator.uuid(), attributes, at: moment, by: "demo", geometry: outline(about: town, &generator))
        }
    }

    /// Nine corners, clockwise, at different distances.
    private static func outline(about town: (x: Double, y: Double), _ generator: inout SeededGenerator) -> Polygon {
        let corners = (0..<9).map { corner -> Point in
            let angle = -Double(corner) / 9 * 2 * Double.pi
            let distance = Double.random(in: 60_000...110_000, using: &generator)
            return Point(
                x: (town.x + distance * cos(angle)).rounded(), y: (town.y + distance * sin(angle)).rounded(),
                spatialReference: .webMercator)
        }
        return Polygon(points: corners)
    }
}
