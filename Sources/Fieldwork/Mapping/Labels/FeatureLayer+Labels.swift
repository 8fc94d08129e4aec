import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// What is written beside a feature. Drawing itself is the app's.
public struct FeatureLabel: Sendable {
    /// What it says.
    public let text: String
    /// The class that it is of: how it looks and where it is set.
    public let definition: LabelDefinition
}

extension FeatureLayer {
    /// The labels of a feature, by every class whose condition it meets. A class whose expression nothing here can
    /// evaluate gives none: never a wrong text. Not part of the vendor's API.
    /// - Parameter scale: the denominator of the scale that is looked at; nil when that is not known.
    /// - Returns: none while labels are switched off.
    ///
    /// Throws `CommonError.invalidArgument` and `ServiceError` for a condition that can't be read.
    public func labels(for feature: Feature, atScale scale: Double? = nil) async throws -> [FeatureLabel] {
        guard labelsAreEnabled, let layer = featureTable?.definition else { return [] }
        var labels: [FeatureLabel] = []
        for definition in labelDefinitions where scale.map(definition.isInRange(atScale:)) ?? true {
            guard try Self.holds(definition.whereClause, for: feature, of: layer),
                let text = try await text(of: definition, for: feature, of: layer), !text.isEmpty
            else { continue }
            labels.append(FeatureLabel(text: text, definition: definition))
        }
        return labels
    }

    /// The fields that decide how features are drawn and lettered. An expression and a condition may name a field that is part
    /// of another word: one field too many costs less than one too few. nil where only a run of an expression can tell.
    var drawnFields: [String]? {
        guard let drawn = RendererFields.names(of: renderer?.json), labelsAreEnabled else {
            return RendererFields.names(of: renderer?.json)
        }
        let texts = labelDefinitions.map { definition in
            ((definition.labelExpression?.text ?? "") + " " + definition.whereClause).lowercased()
        }
        return drawn
            + table.fields.map(\.name).filter { name in texts.contains { $0.contains(name.lowercased()) } }
    }

    private static func holds(_ condition: String, for feature: Feature, of layer: LayerDefinition) throws -> Bool {
        guard let condition = try LocalCondition.expression(condition, layer: layer) else { return true }
        let attributes = feature.attributes
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        let evaluator = SQLEvaluator(
            now: now,
            value: { name in
                guard let field = layer.field(named: name) else { return .null }
                return (try? AttributeConversion.stored(attributes[field.name], in: field)) ?? .null
            })
        return evaluator.holds(condition)
    }

    private func text(
        of definition: LabelDefinition, for feature: Feature, of layer: LayerDefinition
    ) async throws -> String? {
        guard let expression = definition.labelExpression else { return nil }
        let zone = featureTable?.state.withLock { $0.timeZone } ?? .current
        let formatter = ValueFormatter(layer: layer, timeZone: zone)
        if let template = expression.template {
            return template.text(definition, formatter, feature.attributes)
        }
        guard expression is ArcadeLabelExpression else { return nil }
        let context = ExpressionContext(profile: .labeling, feature: feature, timeZone: zone)
        do {
            let value = try await ArcGISEnvironment.expressionEvaluator.value(of: expression.text, in: context)
            return value.clientValue.map { formatter.text($0, format: .init()) }
        } catch is ExpressionError {
            return nil
        }
    }
}

extension LabelTemplate {
    /// nil where all fields are without a value: separators alone say nothing.
    fileprivate func text(
        _ definition: LabelDefinition, _ formatter: ValueFormatter, _ attributes: [String: any Sendable]
    ) -> String? {
        var (text, hasValue) = ("", !parts.contains { if case .field = $0 { true } else { false } })
        for part in parts {
            switch part {
            case .text(let plain): text += plain
            case .field(let name):
                let field = formatter.layer?.field(named: name)
                guard let value = attributes[field?.name ?? name] else { continue }
                let format = definition.format(of: name)
                let shown =
                    definition.usesCodedValues
                    ? formatter.text(value, field: name, format: format, attributes: attributes)
                    : formatter.text(value, format: format, type: field?.type)
                hasValue = hasValue || !shown.isEmpty
                text += shown
            }
        }
        return hasValue ? text : nil
    }
}
