package import FieldworkGeometry

/// Values of an evaluation as values that outlive it, and as JSON.
enum ValueExport {
    static func value(_ value: Value, _ machine: Machine, depth: Int = 0) throws -> ArcadeValue {
        guard depth < ArcadeLimits.valueDepthMax else {
            throw ArcadeError(.limit, "A result may be nested \(ArcadeLimits.valueDepthMax) levels deep.")
        }
        switch value {
        case .null, .collection, .portal: return .null
        case .boolean(let truth): return .boolean(truth)
        case .number(let number): return .number(number)
        case .text(let text): return .text(text)
        case .date(let date): return .date(date)
        case .dateOnly(let day): return .dateOnly(day)
        case .time(let time): return .time(time)
        case .geometry(let geometry): return .geometry(geometry)
        case .function: return .function
        case .featureSet(let features): return .featureSet(features.query)
        case .feature(let feature): return .feature(try self.feature(feature, machine))
        case .array(let array):
            // What is held twice is written twice, so a small value can be long: it counts as memory.
            try machine.chargeMemory(32 + array.elements.count * 32)
            return .array(try array.elements.map { try self.value($0, machine, depth: depth + 1) })
        case .dictionary(let dictionary):
            try machine.chargeMemory(64 + dictionary.count * 64)
            return .dictionary(
                try zip(dictionary.keys, dictionary.values).map {
                    ArcadeMember($0, try self.value($1, machine, depth: depth + 1))
                })
        }
    }

    static func feature(_ feature: FeatureObject, _ machine: Machine) throws -> ArcadeFeature {
        try machine.chargeMemory(64 + feature.schema.fields.count * 32)
        let values = try feature.schema.fields.indices.map { try value(feature.value(at: $0, machine), machine) }
        return ArcadeFeature(
            schema: feature.schema, values: values, geometry: feature.geometry, layer: feature.layer)
    }

    static func json(_ value: Value, _ machine: Machine) throws -> String {
        let json = try self.value(value, machine).json
        try machine.chargeMemory(64)
        let text = json.text
        guard text.utf8.count <= ArcadeLimits.textMax else {
            throw ArcadeError(.limit, "A text may have \(ArcadeLimits.textMax) bytes.")
        }
        try machine.chargeMemory(text.utf8.count)
        return text
    }
}

extension Machine {
    /// A value from outside as a value of this evaluation.
    func value(_ value: ArcadeValue) -> Value {
        switch value {
        case .null, .function: .null
        case .boolean(let truth): .boolean(truth)
        case .number(let number): .number(number)
        case .text(let text): .text(text)
        case .date(let date): .date(date)
        case .dateOnly(let day): .dateOnly(day)
        case .time(let time): .time(time)
        case .geometry(let geometry): .geometry(geometry)
        case .feature(let feature): .feature(FeatureObject(feature))
        case .featureSet(let query): .featureSet(FeatureSetObject(query))
        case .array(let elements): .array(ArrayObject(elements.map(self.value)))
        case .dictionary(let members):
            .dictionary(DictionaryObject(members.map { ($0.key, self.value($0.value)) }))
        }
    }

    /// JSON as a value of this evaluation.
    func value(json: JSONValue, depth: Int = 0) throws -> Value {
        guard depth < ArcadeLimits.valueDepthMax else {
            throw ArcadeError(.limit, "JSON may be nested \(ArcadeLimits.valueDepthMax) levels deep.")
        }
        switch json {
        case .null: return .null
        case .bool(let truth): return .boolean(truth)
        case .integer(let number): return .number(Double(number))
        case .number(let number): return .number(number)
        case .string(let text): return try self.text(text)
        case .array(let elements): return try array(try elements.map { try value(json: $0, depth: depth + 1) })
        case .object(let object):
            return try dictionary(try object.members.map { ($0.key, try value(json: $0.value, depth: depth + 1)) })
        }
    }
}

extension ArcadeValue {
    /// The value as JSON. Dates are milliseconds; what JSON can't say is null.
    package var json: JSONValue {
        switch self {
        case .null, .function, .featureSet: return .null
        case .boolean(let truth): return .bool(truth)
        case .number(let number):
            if abs(number) < 9e15, let whole = Int64(exactly: number) { return .integer(whole) }
            return number.isFinite ? .number(number) : .null
        case .text(let text): return .string(text)
        case .date(let date): return .integer(Int64(date.milliseconds))
        case .dateOnly(let day): return .string(day.text)
        case .time(let time): return .string(TimeText.text(time, alwaysMilliseconds: false))
        case .array(let elements): return .array(elements.map(\.json))
        case .dictionary(let members):
            var object = JSONObject()
            for member in members { object.append(member.key, member.value.json) }
            return .object(object)
        case .geometry(let geometry): return GeoServicesJSON.json(for: geometry)
        case .feature(let feature):
            var attributes = JSONObject()
            for (index, field) in feature.schema.fields.enumerated() {
                attributes[field.name] = index < feature.values.count ? feature.values[index].json : .null
            }
            var object = JSONObject()
            if let geometry = feature.geometry { object["geometry"] = GeoServicesJSON.json(for: geometry) }
            object["attributes"] = .object(attributes)
            return .object(object)
        }
    }

    /// JSON as a value.
    package init(json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let truth): self = .boolean(truth)
        case .integer(let number): self = .number(Double(number))
        case .number(let number): self = .number(number)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .array(elements.map(ArcadeValue.init(json:)))
        case .object(let object):
            self = .dictionary(object.members.map { ArcadeMember($0.key, ArcadeValue(json: $0.value)) })
        }
    }
}
