import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork

/// A geodatabase file of sightings on its own: birds, and nests that belong to them.
enum SightingsFile {
    private static let ids = [
        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
        FieldDefinition(name: "GlobalID", type: .globalID, isEditable: false),
    ]
    private static let kinds = DomainDefinition(
        name: "kinds",
        kind: .codedValues([.init(code: .integer(1), name: "Heron"), .init(code: .integer(2), name: "Pelican")]))

    static let birds = LayerDefinition(
        id: 0, name: "Birds", geometryType: .point, spatialReference: .webMercator,
        fields: ids + [
            FieldDefinition(name: "kind", type: .integer, domain: kinds),
            FieldDefinition(name: "comments", type: .string, length: 40),
        ], globalIDField: "GlobalID", typeIDField: "kind",
        types: [
            FeatureTypeDefinition(
                id: .integer(1), name: "Heron", templates: [.init(name: "Heron", attributes: ["kind": .integer(1)])])
        ],
        relationships: [
            RelationshipDefinition(
                id: 0, name: "Nests", relatedTableID: 1, cardinality: .oneToMany, role: .origin, keyField: "GlobalID",
                isComposite: true)
        ])

    static let nests = LayerDefinition(
        id: 1, name: "Nests",
        fields: ids + [
            FieldDefinition(name: "Bird", type: .guid, length: 38), FieldDefinition(name: "eggs", type: .smallInteger),
        ], globalIDField: "GlobalID",
        relationships: [
            RelationshipDefinition(
                id: 0, name: "Birds", relatedTableID: 0, cardinality: .oneToMany, role: .destination, keyField: "Bird",
                isComposite: true)
        ])

    /// Runs a test with the address of a new file, which is closed.
    static func with(birds: LayerDefinition = birds, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-birds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "bay.gpkg")
        let file = try await GeoPackageStore.createFile(
            at: url, definition: ServiceDefinition(name: ServiceName(name: "bay"), layers: [birds, nests]))
        await file.close()
        try await body(url)
    }

    static func place(_ x: Double = 0) -> Point {
        Point(x: -10_555_000 + x, y: 3_430_000, spatialReference: .webMercator)
    }
}

/// An open geodatabase and shorthands for a test that edits it.
struct Sightings {
    let geodatabase: Geodatabase
    let birds: GeodatabaseFeatureTable
    let nests: GeodatabaseFeatureTable

    init(_ url: URL) async throws {
        geodatabase = Geodatabase(fileURL: url)
        try await geodatabase.load()
        birds = try #require(geodatabase.featureTable(named: "Birds"))
        nests = try #require(geodatabase.featureTable(named: "Nests"))
    }

    /// Adds a bird that is told apart by its comments.
    @discardableResult
    func add(_ comments: String, x: Double = 0) async throws -> Feature {
        let bird = birds.makeFeature(
            attributes: ["kind": Int32(1), "comments": comments], geometry: SightingsFile.place(x))
        try await birds.add(bird)
        return bird
    }

    func bird(_ comments: String) async throws -> ArcGISFeature? {
        let parameters = QueryParameters()
        parameters.whereClause = "comments = '\(comments)'"
        return try await birds.queryFeatures(using: parameters).features().first { _ in true } as? ArcGISFeature
    }

    func change(_ comments: String, _ values: [String: any Sendable], x: Double? = nil) async throws {
        let bird = try #require(try await bird(comments))
        for (name, value) in values { bird.setAttributeValue(value, forKey: name) }
        if let x { bird.geometry = SightingsFile.place(x) }
        try await birds.update(bird)
    }

    /// The birds by their comments: kind and place of each.
    func state() async throws -> [String: [Double]] {
        var state: [String: [Double]] = [:]
        for bird in try await birds.queryFeatures(using: QueryParameters()).features() {
            let place = try #require(bird.geometry as? Point)
            let kind = bird.attributes["kind"] as? Int32 ?? -1
            state[bird.attributes["comments"] as? String ?? ""] = [Double(kind), place.x - SightingsFile.place().x]
        }
        return state
    }
}
