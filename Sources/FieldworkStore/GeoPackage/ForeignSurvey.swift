import FieldworkGeometry
import FieldworkREST

/// What the geometries of a foreign table are, found by one pass over them: what decides whether it can be one layer.
struct ForeignSurvey {
    /// How many geometries there are of each kind that a layer can have; curves count as what they become.
    private(set) var kinds: [LayerGeometryType: Int] = [:]
    private(set) var emptyCount = 0
    /// The keys of the rows with curves.
    private(set) var curves: [Int64] = []
    /// The keys of the rows that no layer takes: collections, and what is no geometry.
    private(set) var unfit: [Int64] = []
    /// The keys of the rows with coordinates outside of the layer's spatial reference.
    private(set) var outside: [Int64] = []
    /// Whether the first of them would be inside with x and y the other way round.
    private(set) var looksSwapped = false

    /// - Parameters:
    ///   - key: the column of the object ids.
    ///   - range: where coordinates can be; nil for anywhere.
    init(
        table: String, geometry: String, key: String, range: CoordinateRange? = nil, on connection: StoreConnection
    ) throws {
        try connection.run(
            "SELECT \(quoted(key)), \(quoted(geometry)) FROM \(quoted(table))",
            row: { row in
                if row.isNull(1) { return emptyCount += 1 }
                take(row.integer(0), row.blob(1), range)
            })
    }

    private mutating func take(_ key: Int64, _ bytes: UnsafeRawBufferPointer, _ range: CoordinateRange?) {
        guard let blob = GeometryBlob(bytes), let type = blob.wellKnownType else { return unfit.append(key) }
        guard let kind = Self.kind(type) else { return unfit.append(key) }
        kinds[kind, default: 0] += 1
        if type > 7 { curves.append(key) }
        guard let range, let box = blob.box else { return }
        let corners = [(box.xMin, box.yMin), (box.xMax, box.yMax)]
        guard let corner = corners.first(where: { !range.contains(x: $0.0, y: $0.1) }) else { return }
        if outside.isEmpty { looksSwapped = range.looksSwapped(x: corner.0, y: corner.1) }
        outside.append(key)
    }

    /// The kind of layer that takes a kind of well-known binary.
    static func kind(_ type: UInt32) -> LayerGeometryType? {
        switch type {
        case 1: .point
        case 4: .multipoint
        case 2, 5, 8, 9, 11: .polyline
        case 3, 6, 10, 12: .polygon
        default: nil
        }
    }
}
