package import FieldworkGeometry
import Foundation

/// The answers to a query for statistics: rows without ids and geometries.
package enum StatisticsAnswer {
    package static func json(_ result: StatisticsResult, of query: StatisticsQuery) -> JSONValue {
        let fields = query.fields
        var object = JSONObject()
        object.append("fields", .array(fields.map(\.json)))
        let features = result.rows.map { row -> JSONValue in
            var attributes = JSONObject()
            for (field, value) in zip(fields, row) { attributes.append(field.name, value.json) }
            return ["attributes": .object(attributes)]
        }
        object.append("features", .array(features))
        if result.exceededTransferLimit { object.append("exceededTransferLimit", true) }
        return .object(object)
    }

    package static func geoJSON(_ result: StatisticsResult, of query: StatisticsQuery) -> JSONValue {
        let features = result.rows.map { row -> JSONValue in
            var properties = JSONObject()
            for (field, value) in zip(query.fields, row) { properties.append(field.name, value.json) }
            return ["type": "Feature", "geometry": .null, "properties": .object(properties)]
        }
        var object = JSONObject()
        object.append("type", "FeatureCollection")
        object.append("features", .array(features))
        if result.exceededTransferLimit { object.append("exceededTransferLimit", true) }
        return .object(object)
    }

    /// A collection without object ids; the same bytes as a table's answer otherwise.
    package static func pbf(_ result: StatisticsResult, of query: StatisticsQuery) throws(ServiceError) -> [UInt8] {
        let layer = LayerDefinition(id: 0, name: "", fields: query.fields, objectIDField: "")
        var encoder = try PBFFeatureEncoder(layer: layer, query: FeatureQuery(returnsGeometry: false))
        encoder.begin()
        for row in result.rows {
            encoder.beginFeature()
            for (column, value) in row.enumerated() { encoder.write(value, column: column) }
            encoder.endFeature()
        }
        encoder.end(exceededTransferLimit: result.exceededTransferLimit)
        return encoder.bytes
    }
}

extension PBFFeatureEncoder {
    fileprivate mutating func write(_ value: AttributeValue, column: Int) {
        switch value {
        case .null: null(column: column)
        case .integer(let value): integer(value, column: column)
        case .real(let value): real(value, column: column)
        case .text(let value):
            var copy = value
            copy.withUTF8 { text(UnsafeRawBufferPointer($0), column: column) }
        case .data(let value): value.withUnsafeBytes { data($0, column: column) }
        }
    }
}
