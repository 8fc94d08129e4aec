import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Asks the validation rules of a layer about features that are there. Nothing is changed, and no edit waits for it.
struct FeatureValidator {
    let layer: StoredLayer
    let catalogue: ServiceCatalogue
    let connection: StoreConnection
    let rules: LayerAttributeRules
    private let now = Date.now.milliseconds

    /// nil for a layer without such rules.
    init?(_ layer: StoredLayer, _ catalogue: ServiceCatalogue, _ connection: StoreConnection) {
        guard let rules = LayerAttributeRules(layer: layer, kinds: [.validation]) else { return nil }
        self.layer = layer
        self.catalogue = catalogue
        self.connection = connection
        self.rules = rules
    }

    /// - Parameter most: the number of violations after which it ends, with the feature that has the last of them.
    func findings(_ query: FeatureQuery, most: Int) throws -> RuleFindings {
        let data = AttributeRuleData(layer, catalogue, connection, now: Double(now))
        var findings = RuleFindings()
        let ids = try IdentifierReader(layer: layer, connection: connection).objectIDs(query)
        var start = 0
        while start < ids.count {
            // The rows are read before a rule runs: its own queries need the connection.
            let page = ids[start..<min(start + Limits.validatedAtOnce, ids.count)]
            start += page.count
            let records = try RecordReader(layer: layer, connection: connection)
                .records(FeatureQuery(objectIDs: Array(page)))
                .sorted { $0.objectID < $1.objectID }
            for record in records {
                guard findings.violations.count < most else {
                    findings.hasMore = true
                    return findings
                }
                try WorkAllowance.check()
                let found = violations(of: record, data)
                try connection.watch.charge(
                    found.reduce(0) { $0 + MemoryLayout<RuleViolation>.stride + $1.message.utf8.count })
                findings.violations += found
                findings.features += 1
            }
        }
        return findings
    }

    private func violations(of record: FeatureRecord, _ data: AttributeRuleData) -> [RuleViolation] {
        let row = layer.columns.map { record.attributes[$0.name] ?? .null }
        let feature = AttributeRuleRun.feature(row, layer, record.geometry, rules.arcadeLayer)
        return rules.validations.compactMap { rule in
            guard rules.concerns(rule, row), let message = message(rule, feature, data) else { return nil }
            let definition = rule.definition
            return RuleViolation(
                objectID: record.objectID, globalID: record.globalID, rule: definition.name,
                errorNumber: definition.errorNumber, message: String(message.prefix(Limits.ruleMessageCharacters)),
                severity: definition.unknownMembers["severity"]?.integerValue.flatMap { Int(exactly: $0) })
        }
    }

    /// What is said of a feature that does not keep a rule; nil for one that does. A rule that can't be evaluated is not kept.
    private func message(
        _ rule: LayerAttributeRules.Rule, _ feature: ArcadeFeature, _ data: AttributeRuleData
    ) -> String? {
        var context = ArcadeContext(
            profile: rule.script.profile, now: Double(now), seed: .random(in: 0 ... .max), feature: feature)
        context.spatialReference = layer.definition.spatialReference
        context.originalFeature = feature
        context.data = data
        do throws(ArcadeError) {
            guard let message = try rule.script.value(context).refusal else { return nil }
            let own = message.isEmpty ? rule.definition.errorMessage : message
            return own.isEmpty ? "The rule \(rule.definition.name) is not kept." : own
        } catch {
            return "The rule \(rule.definition.name) can't be evaluated: \(error)."
        }
    }
}

extension ServiceData {
    /// See `FeatureStore.validate`.
    func validate(_ query: FeatureQuery, in layerID: Int, most: Int) async throws -> RuleFindings {
        let (layer, catalogue) = (try layer(layerID), catalogueSnapshot)
        return try await readQuery { connection in
            try FeatureValidator(layer, catalogue, connection)?.findings(query, most: most) ?? RuleFindings()
        }
    }
}
