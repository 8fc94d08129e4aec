import FieldworkREST

/// What depends on the kind of a feature: its type or its subtype, which a field of the layer tells.
struct KindRules: Sendable {
    /// The position of the field that tells the kind.
    let column: Int
    private let domains: [AttributeValue: [Int: DomainDefinition]]
    private let defaults: [AttributeValue: [Int: AttributeValue]]
    /// The kinds that there are; nil when other values are no mistake.
    private let codes: Set<AttributeValue>?
    let defaultCode: AttributeValue
    private let stored: StoredColumn

    /// Types: a value that is none of them is an ordinary value of its field.
    init?(typesOf layer: StoredLayer) {
        let definition = layer.definition
        guard let column = definition.typeIDField.flatMap(layer.index(of:)) else { return nil }
        var domains: [AttributeValue: [Int: DomainDefinition]] = [:]
        for type in definition.types { domains[type.id] = Self.byColumn(type.domains, layer) }
        domains = domains.filter { !$0.value.isEmpty }
        guard !domains.isEmpty else { return nil }
        self.column = column
        self.domains = domains
        defaults = [:]
        codes = nil
        defaultCode = .null
        stored = layer.columns[column]
    }

    /// Subtypes: every feature has one of them, or none.
    init?(subtypesOf layer: StoredLayer) {
        let definition = layer.definition
        guard let column = definition.subtypeField.flatMap(layer.index(of:)), !definition.subtypes.isEmpty else {
            return nil
        }
        self.column = column
        stored = layer.columns[column]
        var domains: [AttributeValue: [Int: DomainDefinition]] = [:]
        var defaults: [AttributeValue: [Int: AttributeValue]] = [:]
        for subtype in definition.subtypes {
            domains[subtype.code] = Self.byColumn(subtype.domains, layer)
            defaults[subtype.code] = Dictionary(
                subtype.defaultValues.compactMap { name, value in layer.index(of: name).map { ($0, value) } },
                uniquingKeysWith: { first, _ in first })
        }
        self.domains = domains
        self.defaults = defaults
        codes = Set(definition.subtypes.map(\.code))
        defaultCode = definition.defaultSubtypeCode
    }

    private static func byColumn(_ domains: [String: DomainDefinition], _ layer: StoredLayer) -> [Int: DomainDefinition]
    {
        Dictionary(
            domains.compactMap { name, domain in
                domain.kind == .inherited ? nil : layer.index(of: name).map { ($0, domain) }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The columns whose domain depends on the kind.
    var columns: Set<Int> { Set(domains.values.flatMap(\.keys)) }

    /// The kind as the definition spells it; nil when there is none of this value.
    private func code(_ value: AttributeValue) -> AttributeValue? {
        if value.isNull { return nil }
        if domains[value] != nil || codes?.contains(value) == true { return value }
        guard let coerced = try? AttributeRules.coerced(value, stored) else { return nil }
        return (codes ?? Set(domains.keys)).first { AttributeRules.isSame($0, coerced, stored) }
    }

    func domains(of kind: AttributeValue) -> [Int: DomainDefinition]? { code(kind).flatMap { domains[$0] } }
    func defaults(of kind: AttributeValue) -> [Int: AttributeValue]? { code(kind).flatMap { defaults[$0] } }

    /// Throws when a feature can't be of this kind.
    func check(_ kind: AttributeValue) throws(EditError) {
        guard codes != nil, !kind.isNull, code(kind) == nil else { return }
        throw AttributeRules.refused(stored, "takes only the codes of the layer's subtypes")
    }
}
