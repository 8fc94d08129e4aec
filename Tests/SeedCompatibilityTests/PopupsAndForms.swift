import ArcGIS
import Foundation

/// How apps of the vendor's SDK show pop-ups: each declaration is used in the way that its public samples and toolkit use
/// it, under names that clients add themselves.
extension PopupElement: Identifiable {}
extension PopupMedia: Identifiable {}

extension FieldFormElement {
    var codedValues: [CodedValue] { (domain as? CodedValueDomain)?.codedValues ?? [] }
    var isMultiline: Bool { input is TextAreaFormInput }
}

extension FormElement {
    var id: ObjectIdentifier { ObjectIdentifier(self) }
}

@MainActor
final class PopupModel {
    let popup: Popup
    var lines: [String] = []

    init(popup: Popup) { self.popup = popup }

    func evaluate() async throws {
        try await popup.evaluateExpressions()
        lines = [popup.title]
        for element in popup.evaluatedElements {
            switch element {
            case let element as FieldsPopupElement:
                for (label, value) in zip(element.labels, element.formattedValues) {
                    lines.append("\(label): \(value)")
                }
            case let element as TextPopupElement: lines.append(element.text)
            case let element as MediaPopupElement: lines += element.media.map { "\($0.kind): \($0.title)" }
            case let element as AttachmentsPopupElement: lines.append("attachments as \(element.displayType)")
            case let element as RelationshipPopupElement: lines.append("\(element.relationshipID)")
            default: lines.append(element.title)
            }
        }
    }
}

@MainActor
final class FormModel {
    let form: FeatureForm

    init(feature: ArcGISFeature) { form = FeatureForm(feature: feature) }

    /// Puts a text into a field as the toolkit does, and gives what is wrong with it.
    func put(_ text: String, into name: String) async throws -> [ArcGIS.FeatureFormError] {
        let elements = form.elements.flatMap { element in
            (element as? GroupFormElement)?.elements ?? [element]
        }
        let field = elements.compactMap { $0 as? FieldFormElement }.first { $0.fieldName == name }
        switch field?.fieldType {
        case .int16: field?.updateValue(Int16(text))
        case .float64: field?.updateValue(Double(text))
        default: field?.updateValue(text)
        }
        try await form.evaluateExpressions()
        return field?.validationErrors.compactMap { $0 as? ArcGIS.FeatureFormError } ?? []
    }

    func describe(_ element: FieldFormElement) -> String {
        switch element.input {
        case let input as TextBoxFormInput: "one line of \(input.minLength) to \(input.maxLength)"
        case let input as TextAreaFormInput: "lines of \(input.minLength) to \(input.maxLength)"
        case let input as ComboBoxFormInput: input.noValueOption == .show ? "list or \(input.noValueLabel)" : "list"
        case let input as RadioButtonsFormInput: input.noValueOption == .hide ? "choice" : "choice or nothing"
        case let input as SwitchFormInput: "\(input.onValue.name) or \(input.offValue.name)"
        case let input as DateTimePickerFormInput: input.includesTime ? "moment" : "day"
        case is BarcodeScannerFormInput: "code"
        case is UnsupportedFormInput: "unsupported"
        default: "unknown"
        }
    }

    func submit() async throws -> Bool {
        guard form.validationErrors.isEmpty else { return false }
        try await form.finishEditing()
        return true
    }

    func isRequiredError(_ error: any Error) -> Bool {
        do { throw error } catch FeatureFormError.fieldIsRequired { return true } catch { return false }
    }
}

/// Declarations that samples use and this test needs to compile alone.
@MainActor
enum SurfaceUses {
    static func popups(_ layer: FeatureLayer, _ result: IdentifyLayerResult) -> [Popup] {
        let definition = PopupDefinition(popupSource: layer)
        definition.title = "{NAME}"
        layer.popupDefinition = layer.popupDefinition ?? definition
        return result.popups
    }

    static func statistics(_ table: ServiceFeatureTable) async throws -> [String] {
        let parameters = StatisticsQueryParameters(statisticDefinitions: [
            StatisticDefinition(fieldName: "POP", statisticType: .average),
            StatisticDefinition(fieldName: "POP", statisticType: .sum, outputAlias: "total"),
        ])
        parameters.addGroupByFieldNames(["REGION"])
        parameters.addOrderByFields([OrderBy(fieldName: "REGION", sortOrder: .ascending)])
        let result = try await table.queryStatistics(using: parameters)
        return result.statisticRecords().map { record in
            "\(record.group.values.compactMap { $0 as? String }): \(record.statistics.keys.sorted())"
        }
    }

    static func related(_ feature: ArcGISFeature) async throws -> [String] {
        guard let table = feature.table as? ServiceFeatureTable else { return [] }
        let all = try await table.queryRelatedFeatures(to: feature)
        if let info = table.layerInfo?.relationshipInfos.first {
            let parameters = RelatedQueryParameters(relationshipInfo: info)
            _ = try await table.queryRelatedFeatures(to: feature, using: parameters, queryFeatureFields: .loadAll)
        }
        return all.flatMap { result in
            result.features().map { "\(result.relatedTable?.tableName ?? "") \($0.attributes.count)" }
        }
    }

    static func filter(_ layer: FeatureLayer) {
        let trees = DisplayFilter(name: "Damaged Trees", whereClause: "req_type LIKE '%Tree%'")
        layer.displayFilterDefinition = ManualDisplayFilterDefinition(activeFilter: trees, availableFilters: [trees])
    }

    static func refill(_ table: ServiceFeatureTable) async throws {
        table.featureRequestMode = FeatureRequestMode.manualCache
        let parameters = QueryParameters()
        parameters.whereClause = "req_type = 'Tree Maintenance or Damage'"
        _ = try await table.populateFromService(using: parameters, clearCache: true, outFields: ["*"])
    }
}
