import FieldworkGeometry
import FieldworkREST
import Foundation

/// Finds out what a pop-up shows of one feature: evaluates the expressions that something refers to, fetches the related
/// records that something names, and fills both in.
struct PopupEvaluator {
    let definition: PopupDefinition
    let geoElement: any GeoElement
    let expressions: any ExpressionEvaluator

    private var feature: ArcGISFeature? { geoElement as? ArcGISFeature }
    private var table: ArcGISFeatureTable? { feature?.table as? ArcGISFeatureTable }

    /// Values without expressions and related records: what is known at once.
    var ownValues: PopupValues {
        PopupValues(
            definition: definition, attributes: geoElement.attributes,
            formatter: ValueFormatter(
                layer: (geoElement as? Feature)?.table?.definition,
                timeZone: (geoElement as? Feature)?.table?.timeZone ?? .current))
    }

    struct Outcome: Sendable {
        var values: PopupValues
        var elements: [PopupElement]
        var evaluations: [PopupExpressionEvaluation]
    }

    func evaluate() async throws -> Outcome {
        try await feature?.load()
        var values = ownValues
        var evaluations: [PopupExpressionEvaluation] = []
        var elements: [PopupElement] = []
        for element in definition.elements {
            guard let element = element as? ExpressionPopupElement else {
                elements.append(element)
                continue
            }
            let (made, evaluation) = try await self.element(of: element)
            evaluations.append(evaluation)
            if let made { elements.append(made) }
        }
        let names = PopupNames.names(of: definition, elements)
        for expression in definition.expressions where names.contains(.expression(expression.name.lowercased())) {
            let result = try await value(of: expression.expression)
            values.expressions[expression.name.lowercased()] = result
            evaluations.append(
                PopupExpressionEvaluation(
                    expression: expression, value: (try? result.get())?.clientValue, error: result.failure))
        }
        values.related = try await relatedRecords(names)
        let shown = elements.compactMap { PopupElementFilling(values: values, feature: feature).filled($0) }
        return Outcome(values: values, elements: shown, evaluations: evaluations)
    }

    // MARK: Expressions

    private func value(of expression: String) async throws -> Result<ExpressionValue, ExpressionError> {
        let context = ExpressionContext(
            profile: .popup, feature: geoElement, timeZone: (geoElement as? Feature)?.table?.timeZone ?? .current)
        do {
            return .success(try await expressions.value(of: expression, in: context))
        } catch let error as ExpressionError {
            return .failure(error)
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(.evaluationFailed(details: "\(error)"))
        }
    }

    /// The element that an expression makes; none for null or a failure. One that nothing here can evaluate, or whose data
    /// can't be had now, stays and says so.
    private func element(
        of authored: ExpressionPopupElement
    ) async throws -> (PopupElement?, PopupExpressionEvaluation) {
        let expression = authored.expression
        let result = try await value(of: expression.expression)
        let evaluation = PopupExpressionEvaluation(
            expression: expression, value: (try? result.get())?.clientValue, error: result.failure)
        switch result {
        case .success(.dictionary(let json)):
            let kinds = ["text", "fields", "media"]
            let isShown = json["type"]?.stringValue.map(kinds.contains) == true
            return (isShown ? PopupElement.make(json) : nil, evaluation)
        case .failure(let error):
            if case .evaluationFailed = error { return (nil, evaluation) }
            return (ExpressionPopupElement(authored.source, error: error), evaluation)
        case .success: return (nil, evaluation)
        }
    }

    // MARK: Related records

    /// The records of the relationships that something names. A relationship that can't be followed gives none.
    private func relatedRecords(_ names: Set<TextTemplate.Name>) async throws -> [Int: PopupValues.Related] {
        guard let feature, let table else { return [:] }
        var ids: Set<Int> = []
        for case .related(let id, _) in names { ids.insert(id) }
        var result: [Int: PopupValues.Related] = [:]
        for info in table.relationshipInfos where ids.contains(info.id) && info.cardinality != .manyToMany {
            let parameters = RelatedQueryParameters(relationshipInfo: info)
            parameters.returnsGeometry = false
            parameters.maxFeatures = Limits.popupRelatedRecords
            guard let found = try await table.queryRelatedFeatures(to: feature, using: parameters).first else {
                continue
            }
            let records = found.features().map(\.attributes)
            result[info.id] = PopupValues.Related(
                attributes: records,
                formatter: ValueFormatter(layer: found.relatedTable?.definition, timeZone: table.timeZone),
                isSingle: info.cardinality == .oneToOne || info.role == .destination)
        }
        return result
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// The names that a pop-up refers to. Names of expressions are in lower case.
enum PopupNames {
    static func names(of definition: PopupDefinition, _ elements: [PopupElement]) -> Set<TextTemplate.Name> {
        var names = Set(TextTemplate(definition.title).names)
        for element in elements {
            names.formUnion(TextTemplate(element.title).names + TextTemplate(element.description).names)
            switch element {
            case let element as TextPopupElement:
                names.formUnion(TextTemplate(element.hasText ? element.text : definition.text).names)
            case let element as FieldsPopupElement:
                let fields = element.fields.isEmpty ? definition.fields.filter(\.isVisible) : element.fields
                names.formUnion(fields.compactMap(\.name))
            case let element as MediaPopupElement:
                for media in element.media.isEmpty ? definition.media : element.media {
                    names.formUnion(self.names(of: media))
                }
            default: break
            }
        }
        return Set(
            names.map { name in
                if case .expression(let key) = name { .expression(key.lowercased()) } else { name }
            })
    }

    private static func names(of media: PopupMedia) -> [TextTemplate.Name] {
        let texts = [
            media.title, media.caption, media.alternativeText, media.json["value"]?["sourceURL"]?.stringValue ?? "",
            media.json["value"]?["linkURL"]?.stringValue ?? "",
        ]
        let fields = media.fieldNames + [media.normalizeField, media.tooltipField].compactMap(\.self)
        return texts.flatMap { TextTemplate($0).names } + fields.compactMap(TextTemplate.Name.init)
    }
}
