import FieldworkGeometry
import FieldworkREST
import Foundation
import GRDBSQLite

/// Reads features as values.
struct RecordReader {
    let layer: StoredLayer
    let connection: SQLiteConnection

    func records(_ query: FeatureQuery) throws -> [FeatureRecord] {
        // The ids come along whatever was asked for, so that a record always knows what it is.
        var wide = query
        if let names = query.outFields, !query.returnsDistinctValues {
            wide.outFields = names + [layer.objectIDColumn] + (layer.globalIDColumn.map { [$0] } ?? [])
        }
        let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds).features(wide)
        let wanted = query.outFields.map { names in Set(names.compactMap { layer.index(of: $0) }) }
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var records: [FeatureRecord] = []
        let limit = min(plan.limit ?? .max, Limits.recordsPerAnswer)
        while try statement.step(), records.count < limit {
            records.append(try record(statement, plan, wanted))
        }
        return records
    }

    private func record(_ row: SQLiteStatement, _ plan: QueryPlan, _ wanted: Set<Int>?) throws -> FeatureRecord {
        var record = FeatureRecord(objectID: 0, globalID: nil, attributes: [:], geometry: nil)
        for (index, column) in plan.columns.enumerated() where column.isStored {
            let value = column.value(row, index)
            if column.name == layer.objectIDColumn { record.objectID = value.integerValue ?? 0 }
            if column.name == layer.globalIDColumn { record.globalID = value.textValue.flatMap(GUID.parse) }
            if let wanted, let position = layer.index(of: column.name), !wanted.contains(position) { continue }
            record.attributes[column.name] = value
        }
        if plan.hasGeometry { record.geometry = try Self.geometry(row, plan.columns.count, layer) }
        return record
    }

    static func geometry(_ row: SQLiteStatement, _ index: Int, _ layer: StoredLayer) throws -> Geometry? {
        guard row.type(index) == SQLITE_BLOB else { return nil }
        do {
            return try GeoPackageBinary.geometry(
                from: row.blob(index), spatialReference: layer.definition.spatialReference)
        } catch {
            throw StoreError(.corrupt, "\(layer.definition.name) has a geometry that can't be read: \(error).")
        }
    }
}
