import FieldworkGeometry
import FieldworkREST

/// The service that most tests use: a layer of trees in Web Mercator with every rule that an edit can break, and a
/// table of inspections.
enum TreesService {
    static let name = ServiceName(name: "Trees")

    private static let condition = DomainDefinition(
        name: "Condition",
        kind: .codedValues(["Good", "Fair", "Poor"].map { .init(code: .text($0), name: $0) }))
    private static let height = DomainDefinition(name: "Height", kind: .range(minimum: .real(0), maximum: .real(120)))

    static let trees = LayerDefinition(
        id: 0, name: "Trees", description: "Trees <of the> city", geometryType: .point, spatialReference: .webMercator,
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
            FieldDefinition(name: "Name", alias: "Common name", type: .string, length: 20),
            FieldDefinition(
                name: "Species", type: .string, length: 50, isNullable: false, defaultValue: .text("unknown")),
            FieldDefinition(name: "Condition", type: .string, length: 10, domain: condition),
            FieldDefinition(name: "Height", type: .double, domain: height),
            FieldDefinition(name: "Stems", type: .integer),
            FieldDefinition(name: "Planted", type: .date),
        ],
        globalIDField: "GlobalID", displayField: "Name", maxRecordCount: 1_000)

    static let inspections = LayerDefinition(
        id: 1, name: "Inspections",
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
            FieldDefinition(name: "TreeID", type: .guid, length: 38),
            FieldDefinition(name: "Note", type: .string, length: 200),
        ],
        globalIDField: "GlobalID", maxRecordCount: 1_000)

    static let definition = ServiceDefinition(
        name: name, description: "Trees and what was seen at them", maxRecordCount: 1_000,
        spatialReference: .webMercator,
        layers: [trees, inspections])

    /// A service of a folder that can only be read.
    static let archive = ServiceDefinition(
        name: ServiceName(folder: "Old", name: "Archive"), capabilities: [.query], maxRecordCount: 1_000,
        spatialReference: .webMercator, layers: [trees])

    /// A service with a layer of polygons.
    static let areas = ServiceDefinition(
        name: ServiceName(name: "Areas"), maxRecordCount: 1_000, spatialReference: .webMercator,
        layers: [
            LayerDefinition(
                id: 0, name: "Areas", geometryType: .polygon, spatialReference: .webMercator,
                fields: [
                    FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                    FieldDefinition(
                        name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
                    FieldDefinition(name: "Name", type: .string, length: 20),
                ],
                globalIDField: "GlobalID")
        ])
}
