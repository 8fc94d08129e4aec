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
        let shape = Shape(plan, layer: layer, wanted: wanted)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        var records: [FeatureRecord] = []
        let limit = min(plan.limit ?? .max, Limits.recordsPerAnswer)
        while try statement.step(), records.count < limit {
            records.append(try record(statement, plan, shape))
        }
        return records
    }

    /// What all records of a query have in common, found out once.
    private struct Shape {
        /// The attributes of a record that has no values yet: a record's own are a copy, so that no name is hashed again.
        var attributes: [String: AttributeValue] = [:]
        /// The place of each column's value there; nil for one that is not wanted.
        var places: [Dictionary<String, AttributeValue>.Index?] = []
        /// How each column keeps its values; nil for one that the table has not.
        var kinds: [StoredColumn.Kind?] = []
        var objectID: Int?
        var globalID: Int?

        init(_ plan: QueryPlan, layer: StoredLayer, wanted: Set<Int>?) {
            let isWanted = plan.columns.map { column in
                guard column.isStored else { return false }
                guard let wanted, let position = layer.index(of: column.name) else { return true }
                return wanted.contains(position)
            }
            for (column, isWanted) in zip(plan.columns, isWanted) where isWanted { attributes[column.name] = .null }
            places = zip(plan.columns, isWanted).map { $1 ? attributes.index(forKey: $0.name) : nil }
            kinds = plan.columns.map { $0.isStored ? $0.kind : nil }
            objectID = plan.columns.firstIndex { $0.isStored && $0.name == layer.objectIDColumn }
            globalID = plan.columns.firstIndex { $0.isStored && $0.name == layer.globalIDColumn }
        }
    }

    private func record(_ row: SQLiteStatement, _ plan: QueryPlan, _ shape: Shape) throws -> FeatureRecord {
        var record = FeatureRecord(objectID: 0, globalID: nil, attributes: shape.attributes, geometry: nil)
        for index in shape.kinds.indices {
            guard let kind = shape.kinds[index] else { continue }
            let value = kind.value(row, index)
            if index == shape.objectID { record.objectID = value.integerValue ?? 0 }
            if index == shape.globalID { record.globalID = value.textValue.flatMap(GUID.parse) }
            if let place = shape.places[index] { record.attributes.values[place] = value }
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
