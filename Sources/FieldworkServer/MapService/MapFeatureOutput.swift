import FieldworkGeometry
import FieldworkREST
import Foundation

/// How `identify` and `find` show a feature: by default names as people read them, and values as texts.
struct MapFeatureOutput: Sendable {
    var returnsGeometry: Bool
    /// Names of fields instead of their aliases.
    var returnsFieldName: Bool
    /// Values as they are stored instead of as people read them.
    var returnsRawValues: Bool
    var returnsZ: Bool
    var returnsM: Bool
    var reference: SpatialReference?
    var maxAllowableOffset: Double
    var precision: Int?

    init(_ parameters: RequestParameters, reference: SpatialReference?) throws(ServiceError) {
        returnsGeometry = try parameters.bool("returnGeometry") ?? true
        returnsFieldName = try parameters.bool("returnFieldName") ?? false
        returnsRawValues = try parameters.bool("returnUnformattedValues") ?? false
        returnsZ = try parameters.bool("returnZ") ?? false
        returnsM = try parameters.bool("returnM") ?? false
        self.reference = reference
        maxAllowableOffset = try parameters.number("maxAllowableOffset") ?? 0
        precision = try parameters.integer("geometryPrecision")
        guard maxAllowableOffset >= 0, precision.map({ $0 >= 0 }) != false else {
            throw .invalidParameter("'maxAllowableOffset' and 'geometryPrecision' must not be negative.")
        }
    }

    /// What a query has to ask for, so that the geometries come as this output wants them.
    func apply(to query: inout FeatureQuery, layer: LayerDefinition) {
        query.outFields = nil
        query.returnsGeometry = returnsGeometry && !layer.isTable
        query.output.spatialReference = reference
        query.output.maxAllowableOffset = maxAllowableOffset
        query.output.precision = precision.map { min($0, 15) }
        query.output.returnsZ = returnsZ && layer.hasZ
        query.output.returnsM = returnsM && layer.hasM
    }

    /// One result of `identify` or `find`.
    /// - Parameters:
    ///   - feature: the feature of a JSON answer.
    ///   - found: the field that was found, for `find`.
    func result(_ feature: JSONValue, of layer: LayerDefinition, found: FieldDefinition? = nil) -> JSONValue {
        let attributes = feature["attributes"]?.objectValue ?? JSONObject()
        let shown = layer.displayField.flatMap { layer.field(named: $0) } ?? layer.field(named: layer.objectIDField)
        var object = JSONObject()
        object.append("layerId", JSONValue(layer.id))
        object.append("layerName", .string(layer.name))
        object.append("displayFieldName", .string(shown?.name ?? ""))
        if let found { object.append("foundFieldName", .string(found.name)) }
        let valued = found ?? shown
        object.append("value", .string(valued.map { Self.text(attributes[$0.name] ?? .null, of: $0) } ?? ""))
        var values = JSONObject()
        for field in layer.fields {
            guard let value = attributes[field.name] else { continue }
            // Two fields of one alias must not become one.
            let name = returnsFieldName || values[field.alias] != nil ? field.name : field.alias
            values[name] = returnsRawValues ? value : .string(Self.text(value, of: field))
        }
        object.append("attributes", .object(values))
        if returnsGeometry, let type = layer.geometryType {
            object.append("geometryType", .string(type.rawValue))
            if var geometry = feature["geometry"]?.objectValue {
                if let reference = reference ?? layer.spatialReference {
                    geometry["spatialReference"] = GeoServicesJSON.json(for: reference)
                }
                object.append("geometry", .object(geometry))
            }
        }
        return .object(object)
    }

    /// A value as people read it: the name of a code, a date as ISO 8601, `Null` as the protocol's servers write it.
    static func text(_ value: JSONValue, of field: FieldDefinition) -> String {
        if value.isNull { return "Null" }
        if case .codedValues(let codes)? = field.domain?.kind,
            let code = codes.first(where: { $0.code == AttributeValue(json: value) })
        {
            return code.name
        }
        if field.type == .date, let milliseconds = value.integerValue {
            return Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
        }
        return value.stringValue ?? value.text
    }
}
