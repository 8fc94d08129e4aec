public import FieldworkGeometry
import FieldworkREST

/// Values that depend on each other.
extension ArcGISFeatureTable {
    /// A new feature of a subtype, with its default values.
    public func makeFeature(subtype: FeatureSubtype, geometry: Geometry? = nil) -> Feature {
        var attributes = subtype.defaultValues
        if let field = definition?.subtypeField { attributes[field] = subtype.code }
        return makeFeature(attributes: attributes, geometry: geometry)
    }

    /// What a field of a feature may hold, given the values that the other fields of its groups have; fields without a
    /// value leave all open.
    /// - Returns: nil before the definition is loaded, and for a field that is in no group.
    public func contingentValues(
        with feature: ArcGISFeature, forFieldNamed fieldName: String
    ) -> ContingentValuesResult? {
        guard let content = contingentValuesDefinition.content, let field = content.layer.field(named: fieldName) else {
            return nil
        }
        let subtype = subtype(of: feature)
        let groups = content.groups.compactMap { group -> (group: String, values: [ContingentValue])? in
            guard let place = group.fields.firstIndex(where: { $0.lowercased() == field.name.lowercased() }) else {
                return nil
            }
            let values = Self.values(of: feature, in: group, layer: content.layer)
            var known: Set<ContingencyDefinition.Value> = []
            let possible = Self.contingencies(of: group, for: subtype, content.layer).filter { contingency in
                zip(contingency.values, values).enumerated().allSatisfy { index, pair in
                    index == place || pair.1.isNull || Self.allows(pair.0, pair.1)
                }
            }.compactMap { contingency in
                contingency.values.indices.contains(place) ? contingency.values[place] : nil
            }.filter { known.insert($0).inserted }
            return (
                group.name,
                possible.map { .make($0, field: field, layer: content.layer, subtype: subtype) }
            )
        }
        return groups.isEmpty ? nil : ContingentValuesResult(groups)
    }

    /// The groups whose fields hold values that do not belong together. A group of which the feature has no value at all
    /// is not looked at: nothing has been chosen yet. Empty before the definition is loaded.
    public func validateContingencyConstraints(for feature: ArcGISFeature) -> [ContingencyConstraintViolation] {
        guard let content = contingentValuesDefinition.content else { return [] }
        let subtype = subtype(of: feature)
        return content.groups.compactMap { group in
            let values = Self.values(of: feature, in: group, layer: content.layer)
            if values.allSatisfy(\.isNull) { return nil }
            let isAllowed = Self.contingencies(of: group, for: subtype, content.layer).contains { contingency in
                zip(contingency.values, values).allSatisfy { Self.allows($0, $1) }
            }
            return isAllowed
                ? nil
                : ContingencyConstraintViolation(
                    fieldGroup: FieldGroup(group, layer: content.layer), subtype: feature.featureSubtype)
        }
    }

    /// The feature's values for the fields of a group; null for one that can't be read.
    private static func values(
        of feature: ArcGISFeature, in group: FieldGroupDefinition, layer: LayerDefinition
    ) -> [AttributeValue] {
        group.fields.map { name in
            guard let field = layer.field(named: name) else { return .null }
            return (try? AttributeConversion.stored(feature.attributeValue(forKey: name), in: field)) ?? .null
        }
    }

    /// The combinations that hold for a subtype, with values in the form that those of features have.
    private static func contingencies(
        of group: FieldGroupDefinition, for subtype: SubtypeDefinition?, _ layer: LayerDefinition
    ) -> [ContingencyDefinition] {
        let types = group.fields.map { layer.field(named: $0)?.type ?? .string }
        return group.contingencies
            .filter { !$0.isRetired && ($0.subtypeCode.isNull || $0.subtypeCode == subtype?.code) }
            .map { contingency in
                var own = contingency
                own.values = zip(contingency.values, types).map { value, type in
                    switch value {
                    case .any, .null: value
                    case .code(let code): .code(AttributeConversion.normalised(code, type: type))
                    case .range(let minimum, let maximum):
                        .range(
                            minimum: AttributeConversion.normalised(minimum, type: type),
                            maximum: AttributeConversion.normalised(maximum, type: type))
                    }
                }
                return own
            }
    }

    private static func allows(_ allowed: ContingencyDefinition.Value, _ value: AttributeValue) -> Bool {
        switch allowed {
        case .any: return true
        case .null: return value.isNull
        case .code(let code): return code == value
        case .range(let minimum, let maximum):
            if case .integer(let least) = minimum, case .integer(let most) = maximum, case .integer(let own) = value {
                return (least...max(least, most)).contains(own) && own <= most
            }
            guard let own = value.doubleValue, let least = minimum.doubleValue, let most = maximum.doubleValue else {
                return false
            }
            return least <= own && own <= most
        }
    }
}
