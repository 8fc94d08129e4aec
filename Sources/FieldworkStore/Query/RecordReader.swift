import FieldworkGeometry
import FieldworkREST
import Foundation
import GRDBSQLite

/// Reads features as values.
struct RecordReader {
    let layer: StoredLayer
    let connection: StoreConnection

    func records(_ query: FeatureQuery) throws -> [FeatureRecord] {
        // The ids come along whatever was asked for, so that a record always knows what it is.
        var wide = query
        if let names = query.outFields, !query.returnsDistinctValues {
            wide.outFields = names + [layer.objectIDColumn] + (layer.globalIDColumn.map { [$0] } ?? [])
        }
        let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds).features(wide)
        let wanted = query.outFields.map { names in Set(names.compactMap { layer.index(of: $0) }) }
        let shape = Shape(plan, layer: layer, wanted: wanted)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        statement.page()
        var records: [FeatureRecord] = []
        let limit = min(plan.limit ?? .max, Limits.recordsPerAnswer)
        while try statement.step(), records.count < limit {
            var bytes = MemoryLayout<FeatureRecord>.size
            records.append(try record(statement, plan, shape, bytes: &bytes))
            try connection.watch.charge(bytes)
            if records.count % Limits.rowsBetweenChecks == 0 { try connection.watch.check() }
        }
        return records
    }

    /// What all records of a query have in common, found out once.
    private struct Shape {
        var names: AttributeValues.Names
        /// The columns whose values are wanted, in the order of the names, and how each keeps its values.
        var wanted: [(column: Int, kind: StoredColumn.Kind)] = []
        /// Where the identities are found.
        var objectID: Int?
        var globalID: Int?

        init(_ plan: QueryPlan, layer: StoredLayer, wanted asked: Set<Int>?) {
            var names: [String] = []
            for (index, column) in plan.columns.enumerated() where column.isStored {
                if column.name == layer.objectIDColumn { objectID = index }
                if column.name == layer.globalIDColumn { globalID = index }
                // An id that comes along twice is read once.
                if names.contains(column.name) { continue }
                if let asked, let position = layer.index(of: column.name), !asked.contains(position) { continue }
                names.append(column.name)
                wanted.append((index, column.kind))
            }
            self.names = AttributeValues.Names(names)
        }
    }

    /// - Parameter bytes: grows by about what the record takes.
    private func record(
        _ row: StoreStatement, _ plan: QueryPlan, _ shape: Shape, bytes: inout Int
    ) throws -> FeatureRecord {
        let values = [AttributeValue?](unsafeUninitializedCapacity: shape.wanted.count) { values, count in
            for (column, kind) in shape.wanted {
                values.initializeElement(at: count, to: kind.value(row, column))
                count += 1
            }
        }
        for value in values {
            bytes += MemoryLayout<AttributeValue?>.stride
            if case .text(let text) = value { bytes += text.utf8.count }
            if case .data(let data) = value { bytes += data.count }
        }
        if plan.hasGeometry { bytes += 2 * row.blob(plan.columns.count).count }
        return FeatureRecord(
            objectID: shape.objectID.map { row.integer($0) } ?? 0,
            globalID: shape.globalID.flatMap { GUID.parse(bytes: row.textBytes($0)) },
            attributes: AttributeValues(names: shape.names, values: values),
            geometry: plan.hasGeometry ? try Self.geometry(row, plan.columns.count, layer) : nil)
    }

    static func geometry(_ row: StoreStatement, _ index: Int, _ layer: StoredLayer) throws -> Geometry? {
        if let session = row.session { return try geometry(SessionValue(statement: session, column: index), layer) }
        return try geometry(row.value(index), layer)
    }

    private static func geometry(_ value: some StoredValue, _ layer: StoredLayer) throws -> Geometry? {
        guard value.type == SQLITE_BLOB else { return nil }
        do {
            return try GeoPackageBinary.geometry(
                from: value.blob, spatialReference: layer.definition.spatialReference)
        } catch {
            throw StoreError(.corrupt, "\(layer.definition.name) has a geometry that can't be read: \(error).")
        }
    }
}
