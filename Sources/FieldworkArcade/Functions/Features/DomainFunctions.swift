/// Functions about domains and subtypes.
enum DomainFunctions {
    static let all: [Builtin] = [
        .many("Domain", 2...3) { machine, arguments in
            guard let (field, domain) = try domain(arguments, subtype: 2, machine) else { return .null }
            return try value(domain, field, machine)
        },
        .many("DomainName", 2...4) { machine, arguments in
            guard let (field, domain) = try domain(arguments, subtype: 3, machine) else { return .null }
            var code = arguments.value(2)
            if arguments.count < 3 {
                guard case .feature(let feature) = arguments[0] else { return .null }
                code = feature.value(of: field.name, machine) ?? .null
            }
            let wanted = try ValueExport.value(code, machine)
            return domain.codes?.first { matches($0.code, wanted) }.map { .text($0.name) } ?? .null
        },
        .many("DomainCode", 2...4) { machine, arguments in
            guard let (field, domain) = try domain(arguments, subtype: 3, machine) else { return .null }
            guard arguments.count > 2 else {
                guard case .feature(let feature) = arguments[0] else { return .null }
                return feature.value(of: field.name, machine) ?? .null
            }
            let name = try Coercion.text(arguments[2], machine)
            return domain.codes?.first { $0.name == name }.map { machine.value($0.code) } ?? .null
        },
        .one("SubtypeCode") { machine, value in
            guard case .feature(let feature) = value, let field = feature.schema.subtypeField else { return .null }
            return feature.value(of: field, machine) ?? .null
        },
        .one("SubtypeName") { machine, value in
            guard case .feature(let feature) = value, let subtype = try subtype(of: feature, machine) else {
                return .null
            }
            return .text(subtype.name)
        },
        .one("Subtypes") { machine, value in
            let schema = try FeatureFunctions.schema(of: value)
            guard let field = schema.subtypeField else { return .null }
            let subtypes = try schema.subtypes.map {
                try machine.dictionary([("name", .text($0.name)), ("code", machine.value($0.code))])
            }
            return try machine.dictionary([("subtypeField", .text(field)), ("subtypes", try machine.array(subtypes))])
        },
    ]

    private static func matches(_ code: ArcadeValue, _ value: ArcadeValue) -> Bool {
        if code == value { return true }
        // Codes of number fields are now and then written as texts, and the other way round.
        if case .number(let number) = code, case .text(let text) = value { return NumberText.text(number) == text }
        if case .text(let text) = code, case .number(let number) = value { return NumberText.text(number) == text }
        return false
    }

    private static func subtype(of feature: FeatureObject, _ machine: Machine) throws -> ArcadeSubtype? {
        guard let field = feature.schema.subtypeField, let code = feature.value(of: field, machine) else { return nil }
        let wanted = try ValueExport.value(code, machine)
        return feature.schema.subtypes.first { matches($0.code, wanted) }
    }

    /// The domain of a field: that of the subtype before that of the field.
    private static func domain(
        _ arguments: [Value], subtype place: Int, _ machine: Machine
    ) throws -> (ArcadeField, ArcadeDomain)? {
        let schema = try FeatureFunctions.schema(of: arguments[0])
        let name = try Arguments.text(arguments[1], "The field", machine)
        guard let field = schema.field(name) else { throw ArcadeError.runtime("There is no field “\(name)”.") }
        var subtype: ArcadeSubtype?
        if !arguments.value(place).isNull {
            let code = try ValueExport.value(arguments[place], machine)
            subtype = schema.subtypes.first { matches($0.code, code) }
        } else if case .feature(let feature) = arguments[0] {
            subtype = try self.subtype(of: feature, machine)
        }
        return (subtype?.domains[name.lowercased()] ?? field.domain).map { (field, $0) }
    }

    static func value(_ domain: ArcadeDomain, _ field: ArcadeField, _ machine: Machine) throws -> Value {
        var members: [(String, Value)] = [
            ("type", .text(domain.codes == nil ? "range" : "codedValue")), ("name", .text(domain.name)),
            ("dataType", .text(field.type)),
        ]
        if let codes = domain.codes {
            let values = try codes.map {
                try machine.dictionary([("name", .text($0.name)), ("code", machine.value($0.code))])
            }
            members.append(("codedValues", try machine.array(values)))
        }
        if let range = domain.range {
            members += [("min", .number(range.lowerBound)), ("max", .number(range.upperBound))]
        }
        return try machine.dictionary(members)
    }
}
