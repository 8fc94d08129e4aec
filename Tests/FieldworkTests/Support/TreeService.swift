import FieldworkGeometry
import FieldworkREST
import Foundation

/// Trees with a species each and inspections of their own: the story of the sample app.
enum TreeService {
    static let name = ServiceName(name: "Trees")
    static let place = Point(x: -13_655_000, y: 5_703_000, spatialReference: .webMercator)
    static let maple = UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
    static let oak = UUID(uuid: (2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2))

    private static let conditions = DomainDefinition(
        name: "Condition",
        kind: .codedValues([
            .init(code: .integer(1), name: "Good"), .init(code: .integer(2), name: "Fair"),
            .init(code: .integer(3), name: "Poor"), .init(code: .integer(4), name: "Dead"),
        ]))

    private static let id = FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)
    private static let globalID = FieldDefinition(
        name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false)

    static let trees = LayerDefinition(
        id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
        fields: [
            id, FieldDefinition(name: "Address", type: .string, length: 60),
            FieldDefinition(name: "Condition", type: .smallInteger, domain: conditions),
            FieldDefinition(
                name: "DBH", alias: "Diameter", type: .double,
                domain: DomainDefinition(name: "DBH", kind: .range(minimum: .integer(0), maximum: .integer(4_000)))),
            FieldDefinition(name: "Planted", type: .date), FieldDefinition(name: "Notes", type: .string, length: 400),
            FieldDefinition(name: "Kind", type: .string, length: 10, isNullable: false),
            FieldDefinition(name: "SpeciesID", type: .guid, length: 38), globalID,
        ],
        globalIDField: "GlobalID", displayField: "Address",
        relationships: [
            RelationshipDefinition(
                id: 0, name: "Inspections", relatedTableID: 1, cardinality: .oneToMany, role: .origin,
                keyField: "GlobalID", isComposite: true),
            RelationshipDefinition(
                id: 1, name: "Species", relatedTableID: 2, cardinality: .oneToMany, role: .destination,
                keyField: "SpeciesID"),
        ], hasAttachments: true)

    static let inspections = LayerDefinition(
        id: 1, name: "Inspections",
        fields: [
            id, FieldDefinition(name: "Inspected", type: .date),
            FieldDefinition(name: "Condition", type: .smallInteger, domain: conditions),
            FieldDefinition(name: "DBH", type: .double), FieldDefinition(name: "TreeID", type: .guid, length: 38),
            globalID,
        ],
        globalIDField: "GlobalID",
        relationships: [
            RelationshipDefinition(
                id: 0, name: "Trees", relatedTableID: 0, cardinality: .oneToMany, role: .destination,
                keyField: "TreeID", isComposite: true)
        ])

    static let species = LayerDefinition(
        id: 2, name: "Species",
        fields: [
            id, FieldDefinition(name: "Name", type: .string, length: 60),
            FieldDefinition(name: "Genus", type: .string, length: 60), globalID,
        ],
        globalIDField: "GlobalID", displayField: "Name",
        relationships: [
            RelationshipDefinition(
                id: 1, name: "Trees", relatedTableID: 0, cardinality: .oneToMany, role: .origin, keyField: "GlobalID")
        ])

    static let definition = ServiceDefinition(
        name: name, spatialReference: .webMercator, layers: [trees, inspections, species])

    /// 1997-12-21 18:00:05 UTC.
    static let planted: Int64 = 882_727_205_000

    /// Two species, and as many trees of the first as wanted, each with as many inspections as its number.
    static func rows(trees count: Int) -> [LayerEdits] {
        let ids = (0..<count).map { _ in UUID() }
        let trees = ids.enumerated().map { index, id in
            FeatureEdit(
                globalID: id,
                attributes: [
                    ("Address", .text("\(index) Main St")), ("Condition", .integer(Int64(index % 4 + 1))),
                    ("DBH", .real(1_234.5 + Double(index))), ("Planted", .integer(planted)),
                    ("Kind", .text("street")), ("SpeciesID", .text(GUID.normalForm(maple))),
                ],
                geometry: .geometry(
                    Point(x: place.x + Double(index) * 100, y: place.y, spatialReference: .webMercator)))
        }
        let inspections = ids.enumerated().flatMap { index, id -> [FeatureEdit] in
            (0..<index).map { number -> FeatureEdit in
                let moment = planted + Int64(number) * 86_400_000
                return FeatureEdit(
                    globalID: UUID(),
                    attributes: [
                        ("Inspected", .integer(moment)),
                        ("Condition", .integer(Int64(number % 4 + 1))), ("DBH", .real(Double(10 * (number + 1)))),
                        ("TreeID", .text(GUID.normalForm(id))),
                    ], geometry: .unchanged)
            }
        }
        let kinds = [(maple, "Bigleaf maple", "Acer"), (oak, "White oak", "Quercus")].map { id, name, genus in
            FeatureEdit(
                globalID: id, attributes: [("Name", .text(name)), ("Genus", .text(genus))], geometry: .unchanged)
        }
        return [
            LayerEdits(layerID: 2, adds: kinds), LayerEdits(layerID: 0, adds: trees),
            LayerEdits(layerID: 1, adds: inspections),
        ]
    }
}
