package import FieldworkGeometry

/// Reads features and their schemas from the protocol's JSON.
package enum FeatureJSON {
    /// Fields, domains and subtypes of a layer, or of a feature with its `fields`; those of the attributes without.
    package static func schema(_ json: JSONValue, attributes: JSONObject? = nil) -> ArcadeSchema {
        var fields = (json["fields"]?.arrayValue ?? []).compactMap(field)
        if fields.isEmpty, let attributes { fields = attributes.members.map { guessed($0.key, $0.value) } }
        let subtypeField = json["subtypeField"]?.stringValue ?? json["typeIdField"]?.stringValue
        let subtypes = (json["subtypes"] ?? json["types"])?.arrayValue ?? []
        return ArcadeSchema(
            fields: fields, geometryType: json["geometryType"]?.stringValue ?? "",
            objectIDField: json["objectIdField"]?.stringValue
                ?? fields.first { $0.type == "esriFieldTypeOID" }?.name,
            globalIDField: json["globalIdField"]?.stringValue
                ?? fields.first { $0.type == "esriFieldTypeGlobalID" }?.name,
            subtypeField: subtypeField,
            subtypes: subtypes.compactMap { subtype in
                guard let code = subtype["code"] ?? subtype["id"] else { return nil }
                return ArcadeSubtype(
                    code: ArcadeValue(json: code), name: subtype["name"]?.stringValue ?? "",
                    domains: domains(subtype["domains"]))
            })
    }

    private static func domains(_ json: JSONValue?) -> [String: ArcadeDomain] {
        var domains: [String: ArcadeDomain] = [:]
        for member in json?.objectValue?.members ?? [] { domains[member.key.lowercased()] = domain(member.value) }
        return domains
    }

    private static func field(_ json: JSONValue) -> ArcadeField? {
        guard let name = json["name"]?.stringValue else { return nil }
        return ArcadeField(
            name: name, alias: json["alias"]?.stringValue, type: json["type"]?.stringValue ?? "esriFieldTypeString",
            length: json["length"]?.integerValue.map(Int.init(truncatingIfNeeded:)),
            isNullable: json["nullable"]?.boolValue ?? true, isEditable: json["editable"]?.boolValue ?? true,
            domain: json["domain"].flatMap(domain))
    }

    private static func guessed(_ name: String, _ value: JSONValue) -> ArcadeField {
        ArcadeField(name: name, type: value.doubleValue == nil ? "esriFieldTypeString" : "esriFieldTypeDouble")
    }

    private static func domain(_ json: JSONValue) -> ArcadeDomain? {
        let name = json["name"]?.stringValue ?? ""
        if let codes = json["codedValues"]?.arrayValue {
            return ArcadeDomain(
                name: name,
                codes: codes.map {
                    ArcadeDomain.Code(
                        code: ArcadeValue(json: $0["code"] ?? .null), name: $0["name"]?.stringValue ?? "")
                })
        }
        let range = (json["range"]?.arrayValue ?? []).compactMap(\.doubleValue)
        guard range.count == 2, range[0] <= range[1] else { return nil }
        return ArcadeDomain(name: name, range: range[0]...range[1])
    }

    /// A feature: `{attributes, geometry}`.
    package static func feature(
        _ json: JSONValue, schema: ArcadeSchema? = nil, reference: SpatialReference? = nil
    ) throws(GeometryError) -> ArcadeFeature {
        let attributes = json["attributes"]?.objectValue ?? json["properties"]?.objectValue ?? JSONObject()
        let geometry = try json["geometry"].flatMap { (value) throws(GeometryError) in
            try GeoServicesJSON.geometry(from: value, defaultSpatialReference: reference)
        }
        var schema = schema ?? self.schema(json, attributes: attributes)
        if schema.geometryType.isEmpty, let geometry { schema = schema.with(geometryType: Self.type(of: geometry)) }
        let values = schema.fields.map { field in
            value(attributes.member(ignoringCase: field.name) ?? .null, field)
        }
        return ArcadeFeature(schema: schema, values: values, geometry: geometry)
    }

    private static func type(of geometry: Geometry) -> String {
        switch geometry {
        case is Point: "esriGeometryPoint"
        case is Multipoint: "esriGeometryMultipoint"
        case is Polyline: "esriGeometryPolyline"
        case is Polygon: "esriGeometryPolygon"
        default: "esriGeometryEnvelope"
        }
    }

    /// The value of a field: days and times come as texts.
    private static func value(_ json: JSONValue, _ field: ArcadeField) -> ArcadeValue {
        guard case .string(let text) = json else { return ArcadeValue(json: json) }
        return value(text, ofType: field.type)
    }

    /// The value of a field that is written as text.
    package static func value(_ text: String, ofType type: String) -> ArcadeValue {
        switch type {
        case "esriFieldTypeDateOnly": return DateText.iso(text, zone: .utc).map { .dateOnly($0.day) } ?? .null
        case "esriFieldTypeTimeOnly": return DateText.time(text).map(ArcadeValue.time) ?? .null
        case "esriFieldTypeDate", "esriFieldTypeTimestampOffset":
            return DateText.iso(text, zone: .utc).map(ArcadeValue.date) ?? .null
        default: return .text(text)
        }
    }
}

extension ArcadeSchema {
    /// The same with a kind of geometry.
    func with(geometryType: String) -> ArcadeSchema {
        ArcadeSchema(
            fields: fields, geometryType: geometryType, objectIDField: objectIDField, globalIDField: globalIDField,
            subtypeField: subtypeField, subtypes: subtypes)
    }
}
