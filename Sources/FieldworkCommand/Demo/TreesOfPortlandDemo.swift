import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// Street trees on a grid of streets in Portland's place: trees, neighbourhoods, species and inspections with their
/// relationships.
struct TreesOfPortlandDemo: DemoService {
    static let name = ServiceName(name: "TreesOfPortland")

    let definition = ServiceDefinition(
        name: name, description: "Street trees, the neighbourhoods they stand in, their species and inspections.",
        capabilities: [.query, .create, .update, .delete, .editing, .sync],
        spatialReference: .webMercator, layers: [trees, neighborhoods, species, inspections])

    // MARK: Layers

    static let conditions = ["Good", "Fair", "Poor", "Dead"]
    private static let conditionDomain = DemoFields.choice("Condition", conditions)

    private static let trees = LayerDefinition(
        id: 0, name: "Trees", description: "Street trees, drawn by their last reported condition.",
        geometryType: .point, spatialReference: .webMercator,
        fields: DemoFields.all([
            FieldDefinition(name: "SpeciesCode", alias: "Species", type: .string, length: 8),
            FieldDefinition(name: "Address", alias: "Address", type: .string, length: 120),
            FieldDefinition(name: "Neighborhood", alias: "Neighborhood", type: .string, length: 60),
            FieldDefinition(
                name: "Condition", alias: "Condition", type: .string, length: 10, domain: conditionDomain),
            FieldDefinition(
                name: "DBH", alias: "Diameter (in)", type: .double,
                domain: DomainDefinition(name: "Diameter", kind: .range(minimum: .real(0), maximum: .real(150)))),
            FieldDefinition(
                name: "WiresOverhead", alias: "Wires", type: .string, length: 20,
                domain: DemoFields.choice("Wires", ["None", "High voltage", "Low voltage"])),
            FieldDefinition(name: "Inventoried", alias: "Inventoried", type: .date),
        ]),
        globalIDField: "GlobalID", displayField: "Address",
        templates: [
            FeatureTemplateDefinition(
                name: "Street tree", description: "A tree between street and pavement",
                drawingTool: "esriFeatureEditToolPoint", attributes: ["Condition": .text("Good")])
        ],
        relationships: [
            RelationshipDefinition(
                id: 0, name: "Trees_Species", relatedTableID: 2, cardinality: .oneToMany, role: .destination,
                keyField: "SpeciesCode"),
            RelationshipDefinition(
                id: 1, name: "Trees_Inspections", relatedTableID: 3, cardinality: .oneToMany, role: .origin,
                keyField: "GlobalID", isComposite: true),
        ],
        editFields: EditFieldsDefinition(), hasAttachments: true,
        capabilities: [.query, .create, .update, .delete, .editing, .sync], maxRecordCount: 2_000,
        drawingInfo: DemoSymbols.uniqueValues(
            field: "Condition",
            [
                ("Good", "Good", PlainSymbols.marker("Circle", [30, 122, 76], size: 8)),
                ("Fair", "Fair", PlainSymbols.marker("Diamond", [168, 106, 0], size: 9)),
                ("Poor", "Poor", PlainSymbols.marker("Triangle", [196, 64, 18], size: 9)),
                ("Dead", "Dead", PlainSymbols.marker("Square", [94, 74, 68], size: 8)),
            ], otherwise: PlainSymbols.marker("Circle", [120, 120, 120], size: 7)))

    private static let neighborhoods = LayerDefinition(
        id: 1, name: "Neighborhoods", geometryType: .polygon, spatialReference: .webMercator,
        fields: DemoFields.all([
            FieldDefinition(name: "Name", alias: "Name", type: .string, length: 60, isNullable: false),
            FieldDefinition(name: "District", alias: "District", type: .string, length: 20),
        ]),
        globalIDField: "GlobalID", displayField: "Name", editFields: EditFieldsDefinition(),
        capabilities: [.query, .sync], maxRecordCount: 2_000,
        drawingInfo: PlainSymbols.simple(PlainSymbols.fill([204, 224, 196, 70], outline: [116, 140, 108])))

    private static let species = LayerDefinition(
        id: 2, name: "Species",
        fields: DemoFields.all([
            FieldDefinition(name: "Code", alias: "Code", type: .string, length: 8, isNullable: false),
            FieldDefinition(name: "CommonName", alias: "Common name", type: .string, length: 80),
            FieldDefinition(name: "ScientificName", alias: "Scientific name", type: .string, length: 80),
            FieldDefinition(name: "Family", alias: "Family", type: .string, length: 40),
        ]),
        globalIDField: "GlobalID", displayField: "CommonName",
        relationships: [
            RelationshipDefinition(
                id: 0, name: "Trees_Species", relatedTableID: 0, cardinality: .oneToMany, role: .origin,
                keyField: "Code")
        ],
        editFields: EditFieldsDefinition(), capabilities: [.query, .sync], maxRecordCount: 2_000)

    private static let inspections = LayerDefinition(
        id: 3, name: "Inspections",
        fields: DemoFields.all([
            FieldDefinition(name: "TreeID", alias: "Tree", type: .guid, isNullable: false),
            FieldDefinition(name: "Inspected", alias: "Date", type: .date),
            FieldDefinition(
                name: "Condition", alias: "Condition", type: .string, length: 10, domain: conditionDomain),
            FieldDefinition(
                name: "DBH", alias: "Diameter (in)", type: .double,
                domain: DomainDefinition(name: "Diameter", kind: .range(minimum: .real(0), maximum: .real(150)))),
            FieldDefinition(name: "Notes", alias: "Notes", type: .string, length: 500),
        ]),
        globalIDField: "GlobalID", displayField: "Inspected",
        relationships: [
            RelationshipDefinition(
                id: 1, name: "Trees_Inspections", relatedTableID: 0, cardinality: .oneToMany, role: .destination,
                keyField: "TreeID", isComposite: true)
        ],
        editFields: EditFieldsDefinition(), hasAttachments: true,
        capabilities: [.query, .create, .update, .delete, .editing, .sync], maxRecordCount: 2_000)

    // MARK: Features

    func batches() -> AnySequence<LayerEdits> {
        let city = PortlandGrid()
        return AnySequence([
            LayerEdits(layerID: 1, adds: city.neighborhoods), LayerEdits(layerID: 2, adds: city.species),
            LayerEdits(layerID: 0, adds: city.trees), LayerEdits(layerID: 3, adds: city.inspections),
        ])
    }
}
