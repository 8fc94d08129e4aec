import FieldworkGeometry

/// Functions of features.
enum FeatureFunctions {
    static let all: [Builtin] = [
        .many("Feature", 1...Builtin.any, make),
        .many("Expects", 2...Builtin.any) { _, _ in .null },
        .one("GdbVersion") { _, _ in .text("") },
        .two("SetGeometry", .geometry) { _, value, geometry in
            guard case .feature(let feature) = value, feature.isMutable else {
                throw ArcadeError.runtime("The feature can't be changed: make a copy with Feature.")
            }
            switch geometry {
            case .null: feature.geometry = nil
            case .geometry(let geometry): feature.geometry = geometry
            default: throw ArcadeError.runtime("SetGeometry needs a geometry, and got \(geometry.kindName).")
            }
            return value
        },
        .one("Schema") { machine, value in try schema(try schema(of: value), machine) },
    ]

    /// What a field of a feature can hold.
    static func attribute(_ value: Value) throws -> Value {
        switch value {
        case .null, .boolean, .number, .text, .date, .dateOnly, .time: return value
        default: throw ArcadeError.runtime("A field can't hold \(value.kindName).")
        }
    }

    static func schema(of value: Value) throws -> ArcadeSchema {
        switch value {
        case .feature(let feature): return feature.schema
        case .featureSet(let features): return features.schema()
        default: throw ArcadeError.runtime("A feature or features are needed here, and \(value.kindName) is given.")
        }
    }

    private static func make(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        try machine.chargeMemory(128 + arguments.count * 48)
        switch arguments[0] {
        case .feature(let feature) where arguments.count == 1:
            return .feature(FeatureObject(try ValueExport.feature(feature, machine), isMutable: true))
        case .text(let text) where arguments.count == 1:
            return try feature(try DictionaryFunctions.parse(text, machine), machine)
        case .dictionary where arguments.count == 1: return try feature(arguments[0], machine)
        default: break
        }
        let geometry: Geometry?
        switch arguments[0] {
        case .null: geometry = nil
        case .geometry(let given): geometry = given
        case .feature(let given): geometry = given.geometry
        default: throw ArcadeError.runtime("Feature begins with a geometry, and got \(arguments[0].kindName).")
        }
        if case .dictionary(let attributes) = arguments.value(1) {
            return try feature(Array(zip(attributes.keys, attributes.values)), geometry)
        }
        guard arguments.count % 2 == 1 else {
            throw ArcadeError.runtime("Feature takes names and values in turn behind the geometry.")
        }
        return try feature(
            try stride(from: 1, to: arguments.count, by: 2).map {
                (try Coercion.text(arguments[$0], machine), arguments[$0 + 1])
            }, geometry)
    }

    private static func feature(_ attributes: [(String, Value)], _ geometry: Geometry?) throws -> Value {
        let values = try attributes.map { try attribute($0.1) }
        let fields = zip(attributes, values).map { ArcadeField(name: $0.0.0, type: FieldTypes.type(of: $0.1)) }
        return .feature(FeatureObject(schema: ArcadeSchema(fields: fields), values: values, geometry: geometry))
    }

    /// `{geometry, attributes}` as a feature.
    static func feature(_ value: Value, _ machine: Machine) throws -> Value {
        guard case .dictionary(let dictionary) = value else {
            throw ArcadeError.runtime("A feature is written as a dictionary with geometry and attributes.")
        }
        var attributes: [(String, Value)] = []
        if case .dictionary(let given)? = dictionary["attributes"] { attributes = Array(zip(given.keys, given.values)) }
        return try feature(attributes, try GeometryArguments.optional(dictionary["geometry"] ?? .null, machine))
    }

    private static func schema(_ schema: ArcadeSchema, _ machine: Machine) throws -> Value {
        let fields = try schema.fields.map { field in
            try machine.dictionary([
                ("name", .text(field.name)), ("alias", .text(field.alias)), ("type", .text(field.type)),
                ("subtype", .null),
                ("domain", try field.domain.map { try DomainFunctions.value($0, field, machine) } ?? .null),
                ("length", field.length.map { .number(Double($0)) } ?? .null),
                ("editable", .boolean(field.isEditable)), ("nullable", .boolean(field.isNullable)),
            ])
        }
        return try machine.dictionary([
            ("fields", try machine.array(fields)), ("geometryType", .text(schema.geometryType)),
            ("globalIdField", .text(schema.globalIDField ?? "")), ("objectIdField", .text(schema.objectIDField ?? "")),
        ])
    }
}
