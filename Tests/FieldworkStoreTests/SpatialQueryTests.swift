import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// Index, boxes and prepared geometries against the engine asked feature by feature.
@Suite("Spatial relations", .fewAtATime, .everyStore)
struct SpatialQueryTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private let address: LayerAddress
    private let records: [FeatureRecord]

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
        let name = ServiceName(folder: "Land", name: "Parcels")
        let layer = LayerDefinition(
            id: 3, name: "Parcels", geometryType: .polygon, spatialReference: .webMercator,
            fields: [FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false)])
        try await store.createService(ServiceDefinition(name: name, layers: [layer]))
        var generator = SeededGenerator(seed: 3)
        var adds = (0..<300).map { _ in
            FeatureEdit(
                geometry: .geometry(
                    Self.polygon(
                        x: Double.random(in: 0...100, using: &generator),
                        y: Double.random(in: 0...100, using: &generator),
                        size: Double.random(in: 1...15, using: &generator),
                        corners: Int.random(in: 3...7, using: &generator))))
        }
        // Some that share edges and corners with the filters below.
        for cell in 0..<25 {
            adds.append(
                FeatureEdit(
                    geometry: .geometry(Self.square(x: Double(cell % 5) * 20, y: Double(cell / 5) * 20, size: 20))))
        }
        adds.append(FeatureEdit())
        address = LayerAddress(service: name, layerID: 3)
        _ = try await store.apply(
            EditBatch(layers: [LayerEdits(layerID: 3, adds: adds)], moment: Samples.moment), to: name)
        records = try await store.records(FeatureQuery(), in: address)
    }

    private static func polygon(x: Double, y: Double, size: Double, corners: Int) -> Polygon {
        Polygon(
            points: (0..<corners).map { corner in
                let angle = -2 * Double.pi * Double(corner) / Double(corners)
                return Point(x: x + size * cos(angle), y: y + size * sin(angle))
            }, spatialReference: .webMercator)
    }

    private static func square(x: Double, y: Double, size: Double) -> Polygon {
        Polygon(
            points: [
                Point(x: x, y: y), Point(x: x, y: y + size), Point(x: x + size, y: y + size), Point(x: x + size, y: y),
            ], spatialReference: .webMercator)
    }

    private static let filters: [Geometry] = [
        Envelope(xMin: 20, yMin: 20, xMax: 60, yMax: 60, spatialReference: .webMercator),
        Envelope(xMin: -500, yMin: -500, xMax: 500, yMax: 500, spatialReference: .webMercator),
        square(x: 40, y: 40, size: 20), polygon(x: 50, y: 50, size: 35, corners: 6),
        Point(x: 33.3, y: 44.4, spatialReference: .webMercator), Point(x: 20, y: 20, spatialReference: .webMercator),
        Polyline(points: [Point(x: 0, y: 0), Point(x: 100, y: 70)], spatialReference: .webMercator),
        Polyline(points: [Point(x: 20, y: 0), Point(x: 20, y: 100)], spatialReference: .webMercator),
        Point(x: 9_999, y: 9_999, spatialReference: .webMercator),
    ]

    private static func holds(_ relation: SpatialFilter.Relation, _ filter: Geometry, _ feature: Geometry) -> Bool {
        switch relation {
        case .intersects: GeometryEngine.isGeometry(filter, intersecting: feature)
        case .contains: GeometryEngine.doesGeometry(filter, contain: feature)
        case .within: GeometryEngine.isGeometry(filter, within: feature)
        case .crosses: GeometryEngine.isGeometry(filter, crossing: feature)
        case .touches: GeometryEngine.isGeometry(filter, touching: feature)
        case .overlaps: GeometryEngine.isGeometry(filter, overlapping: feature)
        case .disjoint: GeometryEngine.isGeometry(filter, disjointWith: feature)
        case .equals: GeometryEngine.isGeometry(filter, equivalentTo: feature)
        case .relation: GeometryEngine.isGeometry(filter, relatedTo: feature, byRelation: "T********")
        case .envelopeIntersects, .indexIntersects:
            filter.extent.xMin <= feature.extent.xMax && filter.extent.xMax >= feature.extent.xMin
                && filter.extent.yMin <= feature.extent.yMax && filter.extent.yMax >= feature.extent.yMin
        }
    }

    @Test(
        "A pattern that asks for no common place finds what lies far away, too",
        arguments: ["**T******", "FF*FF****", "*********", "******T**", "F********"])
    func patternOfApart(pattern: String) async throws {
        let filter = Self.filters[0]
        let expected = records.compactMap { record in
            record.geometry.flatMap {
                GeometryEngine.isGeometry(filter, relatedTo: $0, byRelation: pattern) ? record.objectID : nil
            }
        }
        let query = FeatureQuery(
            spatialFilter: SpatialFilter(geometry: filter, relation: .relation, pattern: pattern))
        #expect(try await store.objectIDs(query, in: address) == expected)
        #expect(expected.count > 200)
    }

    @Test("Every relation finds what the engine finds", arguments: SpatialFilter.Relation.allCases)
    func agrees(relation: SpatialFilter.Relation) async throws {
        for filter in Self.filters {
            let expected = records.filter { record in
                record.geometry.map { Self.holds(relation, filter, $0) } ?? false
            }.map(\.objectID)
            let query = FeatureQuery(
                spatialFilter: SpatialFilter(geometry: filter, relation: relation, pattern: "T********"))
            #expect(try await store.objectIDs(query, in: address) == expected, "\(relation) \(filter)")
            #expect(try await store.count(query, in: address) == expected.count)
        }
    }

    @Test("A pattern that features apart from the filter fulfil finds them too")
    func patternOfDisjoint() async throws {
        let query = FeatureQuery(
            spatialFilter: SpatialFilter(geometry: Self.filters[0], relation: .relation, pattern: "FF*FF****"))
        let disjoint = FeatureQuery(spatialFilter: SpatialFilter(geometry: Self.filters[0], relation: .disjoint))
        let found = try await store.objectIDs(query, in: address)
        #expect(found == (try await store.objectIDs(disjoint, in: address)))
        #expect(found.count > 100)
    }

    @Test("The file's R-tree is sound after many edits")
    func soundAfterEdits() async throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<10 {
            let ids = records.map(\.objectID).shuffled(using: &generator).prefix(30)
            let updates = ids.prefix(20).map { id in
                FeatureEdit(
                    objectID: id,
                    geometry: .geometry(
                        Self.polygon(x: .random(in: 0...100, using: &generator), y: 5, size: 3, corners: 5)))
            }
            _ = try await store.apply(
                EditBatch(
                    layers: [
                        LayerEdits(
                            layerID: 3, updates: updates,
                            deletes: .features(ids.suffix(3).map(FeatureIdentifier.objectID)))
                    ], rollsBackOnFailure: false, moment: Samples.moment), to: address.service)
        }
        #expect(try await store.check() == [])
    }
}
