import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// A feature and its surroundings as an interpreter reads them: values as they are now.
struct ArcadeSnapshot {
    let context: ArcadeContext

    /// A feature, or none, and the table whose layer it stands in.
    init(_ element: (any GeoElement)?, _ table: FeatureTable?, timeZone: TimeZone) {
        let layer = table.flatMap(ArcadeTables.layer)
        // The script was read for its profile; the context only brings values.
        var context = ArcadeContext(
            profile: .any, now: (Date.now.timeIntervalSince1970 * 1_000).rounded(.down), zone: ArcadeZone(timeZone),
            systemZone: ArcadeZone(.current), seed: .random(in: 0 ... .max))
        context.spatialReference = table?.spatialReference ?? element?.geometry?.spatialReference
        context.feature = element.map {
            Self.feature($0, layer?.schema ?? Self.schema(of: $0.attributes), layer)
        }
        if let table { context.data = ArcadeTables(table: table, feature: element, now: context.now) }
        self.context = context
    }

    init(_ expression: ExpressionContext) {
        let element = expression.feature
        var context = ArcadeSnapshot(element, (element as? Feature)?.table, timeZone: expression.timeZone).context
        if let isNew = expression.isNew { context.editType = isNew ? "INSERT" : "UPDATE" }
        if let original = expression.originalAttributes, let feature = context.feature {
            // A new feature was nothing before.
            let isNew = expression.isNew == true
            let fields = feature.schema.fields
            context.originalFeature = ArcadeFeature(
                schema: feature.schema,
                values: fields.map { isNew ? .null : Self.value(original[$0.name], ofType: $0.type) },
                geometry: isNew ? nil : element.geometry, layer: feature.layer)
        }
        self.context = context
    }

    /// A feature as an interpreter reads it.
    static func feature(_ element: any GeoElement, _ schema: ArcadeSchema, _ layer: ArcadeLayer?) -> ArcadeFeature {
        let attributes = element.attributes
        let values = schema.fields.map { value(attributes[$0.name], ofType: $0.type) }
        return ArcadeFeature(schema: schema, values: values, geometry: element.geometry, layer: layer)
    }

    /// A value of an attribute.
    static func value(_ value: (any Sendable)?, ofType type: String) -> ArcadeValue {
        switch value {
        case nil: .null
        case let text as String: FeatureJSON.value(text, ofType: type)
        case let truth as Bool: .boolean(truth)
        case let number as any BinaryInteger: .number(Double(number))
        case let number as any BinaryFloatingPoint: .number(Double(number))
        case let date as Date: .number((date.timeIntervalSince1970 * 1_000).rounded())
        case let id as UUID: .text(GUID.normalForm(id))
        default: .null
        }
    }

    /// The fields of something that is of no table: those that have a value.
    private static func schema(of attributes: [String: any Sendable]) -> ArcadeSchema {
        ArcadeSchema(
            fields: attributes.keys.sorted().map { name in
                let type: String =
                    switch attributes[name] {
                    case is Date: "esriFieldTypeDate"
                    case is String, is UUID: "esriFieldTypeString"
                    default: "esriFieldTypeDouble"
                    }
                return ArcadeField(name: name, type: type)
            })
    }
}
