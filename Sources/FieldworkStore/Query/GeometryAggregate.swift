import FieldworkGeometry
import FieldworkREST
import GRDBSQLite

/// What the geometries of a group make together, as an SQL function of a kind and a blob. It gives a GeoPackage blob, NULL
/// for a group without geometries, or as text why it can't be told.
enum GeometryAggregate {
    static let name = "fieldwork_aggregate"

    static func sql(_ kind: StatisticsQuery.GeometryKind, of column: String) -> String {
        "\(name)(\(number(of: kind)), \(column))"
    }

    private static func number(of kind: StatisticsQuery.GeometryKind) -> Int32 {
        switch kind {
        case .envelope: 1
        case .centroid: 2
        case .convexHull: 3
        }
    }

    /// Collects while rows stream past; lives from the first row of a group to its last.
    private final class Fold {
        private enum State {
            case envelope(GeometryBlob.Box)
            case centroid(CentroidFold)
            case convexHull(ConvexHullFold)
        }

        private var state: State
        private var trouble: String?

        init(_ kind: Int32) {
            switch kind {
            case 2: state = .centroid(CentroidFold())
            case 3: state = .convexHull(ConvexHullFold())
            default: state = .envelope(.nothing)
            }
        }

        func add(_ blob: UnsafeRawBufferPointer) {
            guard trouble == nil else { return }
            switch state {
            case .envelope(var box):
                if let own = GeometryBlob(blob)?.box { box.include(own) }
                state = .envelope(box)
            case .centroid(let fold): fold.add(blob: blob)
            case .convexHull(let fold):
                do {
                    try fold.add(blob: blob)
                } catch {
                    trouble = error.details
                }
            }
        }

        func give(to context: OpaquePointer?) {
            do {
                if let trouble { return GeometryAggregate.tell(trouble, context) }
                guard let geometry = try geometry() else { return sqlite3_result_null(context) }
                let blob = GeoPackageBinary.blob(for: geometry, srsID: 0)
                sqlite3_result_blob64(context, blob, UInt64(blob.count), StoreStatement.transient)
            } catch {
                GeometryAggregate.tell(error.details, context)
            }
        }

        private func geometry() throws(GeometryError) -> Geometry? {
            switch state {
            case .envelope(let box):
                // The two corners: an envelope of no size would be no polygon.
                box.isNothing
                    ? nil : Multipoint(points: [Point(x: box.xMin, y: box.yMin), Point(x: box.xMax, y: box.yMax)])
            case .centroid(let fold): fold.centroid(spatialReference: nil)
            case .convexHull(let fold): try fold.hull(spatialReference: nil)
            }
        }
    }

    static func register(on connection: StoreConnection) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let code = sqlite3_create_function_v2(
            connection.pointer, name, 2, flags, nil, nil,
            { context, _, values in
                guard let blob = values?[1], sqlite3_value_type(blob) == SQLITE_BLOB,
                    let slot = GeometryAggregate.slot(context, isMade: true)
                else { return }
                let fold: Fold
                if let known = slot.pointee {
                    fold = known.takeUnretainedValue()
                } else {
                    fold = Fold(sqlite3_value_int(values?[0]))
                    slot.pointee = .passRetained(fold)
                }
                fold.add(
                    UnsafeRawBufferPointer(start: sqlite3_value_blob(blob), count: Int(sqlite3_value_bytes(blob))))
            },
            { context in
                // Called also where a statement ends before its rows do: nothing is left behind.
                guard let slot = GeometryAggregate.slot(context, isMade: false), let fold = slot.pointee else {
                    return sqlite3_result_null(context)
                }
                fold.takeRetainedValue().give(to: context)
                slot.pointee = nil
            }, nil)
        guard code == SQLITE_OK else { throw connection.error(code) }
    }

    /// The place of the fold in the memory that SQLite keeps for a group, which begins as zeros.
    private static func slot(_ context: OpaquePointer?, isMade: Bool) -> UnsafeMutablePointer<Unmanaged<Fold>?>? {
        let size = isMade ? Int32(MemoryLayout<Unmanaged<Fold>?>.size) : 0
        return sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: Unmanaged<Fold>?.self)
    }

    private static func tell(_ trouble: String, _ context: OpaquePointer?) {
        sqlite3_result_text(context, trouble, -1, StoreStatement.transient)
    }
}
