import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// Random features of every kind and random filters of every kind, asked through index, boxes and prepared geometries, and
/// of GEOS itself pair by pair. Small whole coordinates make corners and sides meet often.
@Suite("Spatial relations of every kind of geometry", .fewAtATime, .everyStore)
struct SpatialPropertyTests {
    private static let name = ServiceName(name: "Kinds")
    private static let kinds: [LayerGeometryType] = [.point, .multipoint, .polyline, .polygon]
    /// The last two ask for no place that both have: features far away match.
    private static let patterns = [
        "T********", "FF*FF****", "T*T***T**", "F***1****", "****0****", "**T******", "F********",
    ]

    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private var maker = ShapeMaker(generator: SeededGenerator(seed: 11))

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
        let layers = Self.kinds.enumerated().map { index, kind in
            LayerDefinition(
                id: index, name: "Layer \(index)", geometryType: kind, spatialReference: .webMercator,
                fields: [FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false)])
        }
        try await store.createService(ServiceDefinition(name: Self.name, layers: layers))
        var edits: [LayerEdits] = []
        for (index, kind) in Self.kinds.enumerated() {
            let adds = (0..<60).map { _ in FeatureEdit(geometry: .geometry(maker.shape(kind))) }
            edits.append(LayerEdits(layerID: index, adds: adds))
        }
        _ = try await store.apply(EditBatch(layers: edits, moment: Samples.moment), to: Self.name)
    }

    private static func holds(
        _ relation: SpatialFilter.Relation, _ pattern: String, _ filter: Geometry, _ feature: Geometry
    ) -> Bool {
        switch relation {
        case .intersects: GeometryEngine.isGeometry(filter, intersecting: feature)
        case .contains: GeometryEngine.doesGeometry(filter, contain: feature)
        case .within: GeometryEngine.isGeometry(filter, within: feature)
        case .crosses: GeometryEngine.isGeometry(filter, crossing: feature)
        case .touches: GeometryEngine.isGeometry(filter, touching: feature)
        case .overlaps: GeometryEngine.isGeometry(filter, overlapping: feature)
        case .disjoint: GeometryEngine.isGeometry(filter, disjointWith: feature)
        case .equals: GeometryEngine.isGeometry(filter, equivalentTo: feature)
        case .relation: GeometryEngine.isGeometry(filter, relatedTo: feature, byRelation: pattern)
        case .envelopeIntersects, .indexIntersects:
            filter.extent.xMin <= feature.extent.xMax && filter.extent.xMax >= feature.extent.xMin
                && filter.extent.yMin <= feature.extent.yMax && filter.extent.yMax >= feature.extent.yMin
        }
    }

    @Test("Every relation finds what GEOS finds", arguments: SpatialFilter.Relation.allCases)
    func agrees(relation: SpatialFilter.Relation) async throws {
        var maker = ShapeMaker(generator: SeededGenerator(seed: 23))
        var filters = Self.kinds.flatMap { kind in (0..<4).map { _ in maker.shape(kind) } }
        filters += [maker.box(), maker.box()]
        var found = 0
        for index in Self.kinds.indices {
            let address = LayerAddress(service: Self.name, layerID: index)
            let records = try await store.records(FeatureQuery(), in: address)
            #expect(records.count == 60)
            // What a layer has among the filters is found as equal, too.
            for filter in filters + records.prefix(2).compactMap(\.geometry) {
                for pattern in relation == .relation ? Self.patterns : [""] {
                    let expected = records.filter { record in
                        record.geometry.map { Self.holds(relation, pattern, filter, $0) } ?? false
                    }.map(\.objectID)
                    let query = FeatureQuery(
                        spatialFilter: SpatialFilter(
                            geometry: filter, relation: relation, pattern: relation == .relation ? pattern : nil))
                    let ids = try await store.objectIDs(query, in: address)
                    #expect(ids == expected, "\(relation) \(pattern) of \(filter.toText()) on \(Self.kinds[index])")
                    found += expected.count
                }
            }
        }
        #expect(found > 0, "a relation that nothing has proves nothing")
    }
}

/// Random shapes on a small grid.
private struct ShapeMaker {
    var generator: SeededGenerator

    private mutating func place() -> Point {
        Point(
            x: Double(Int.random(in: 0...12, using: &generator)), y: Double(Int.random(in: 0...12, using: &generator)),
            spatialReference: .webMercator)
    }

    private mutating func places(_ count: ClosedRange<Int>) -> [Point] {
        var places: [Point] = []
        let count = Int.random(in: count, using: &generator)
        while places.count < count {
            let next = place()
            if !places.contains(where: { $0.x == next.x && $0.y == next.y }) { places.append(next) }
        }
        return places
    }

    mutating func box() -> Envelope {
        let (one, size) = (place(), place())
        return Envelope(
            xMin: one.x, yMin: one.y, xMax: one.x + size.x + 1, yMax: one.y + size.y + 1, spatialReference: .webMercator
        )
    }

    mutating func shape(_ kind: LayerGeometryType) -> Geometry {
        switch kind {
        case .point: return place()
        case .multipoint: return Multipoint(points: places(1...4))
        case .polyline: return Polyline(points: places(2...4), spatialReference: .webMercator)
        case .polygon, .envelope:
            let outer = box()
            guard outer.width > 3, outer.height > 3, Bool.random(using: &generator) else { return outer.toPolygon() }
            let (x, y) = (outer.xMin + 1, outer.yMin + 1)
            let hole = [Point(x: x, y: y), Point(x: x + 1, y: y), Point(x: x + 1, y: y + 1), Point(x: x, y: y + 1)]
            return Polygon(
                parts: [
                    MutablePart(points: Array(outer.toPolygon().parts[0].points), spatialReference: .webMercator),
                    MutablePart(points: hole, spatialReference: .webMercator),
                ])
        }
    }
}

extension Geometry {
    fileprivate func toText() -> String { String(decoding: toJSON(), as: UTF8.self) }
}
