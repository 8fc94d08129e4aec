import ArcGIS
import Foundation
import TestSupport
import Testing

/// What clients use of pop-ups and forms, in the types that they expect.
@Suite("The names of pop-ups and forms", .fewAtATime, .serialized)
struct FormSurface {
    init() { SeedServer.keepEditsAside() }

    private static func feature(_ url: URL) async throws -> ArcGISFeature {
        let table = ServiceFeatureTable(url: url)
        try await table.load()
        return try #require(
            table.makeFeature(
                attributes: ["typdamage": "Minor"], geometry: Point(x: 1, y: 2, spatialReference: .webMercator))
                as? ArcGISFeature)
    }

    @Test("A pop-up gives its title and its elements")
    func popup() async throws {
        try await SeedServer.with { url, _ in
            let feature = try await Self.feature(url)
            let table = try #require(feature.table)
            let definition = PopupDefinition(popupSource: table)
            definition.title = "{typdamage} damage"
            let popup = Popup(geoElement: feature, definition: definition)
            let element: any GeoElement = popup.geoElement
            let evaluations: [PopupExpressionEvaluation] = try await popup.evaluateExpressions()
            #expect(element === feature && popup.title == "Minor damage" && evaluations.isEmpty)
            let elements: [PopupElement] = popup.evaluatedElements
            let fields = try #require(elements.compactMap { $0 as? FieldsPopupElement }.first)
            let (title, description): (String, String) = (fields.title, fields.description)
            let parts: ([PopupField], [String], [String]) = (fields.fields, fields.labels, fields.formattedValues)
            #expect(title.isEmpty && description.isEmpty && parts.0.count == parts.1.count)
            #expect(parts.1.count == parts.2.count && parts.2.contains("Minor"))
            // Apps of the seeds' time set both.
            let source: any PopupSource = table
            source.popupDefinition = definition
            source.popupsAreEnabled = true
            #expect(table.popupDefinition === definition && table.popupIsEnabled)
        }
    }

    @Test("Elements of media and attachments have the parts that clients show")
    func parts() async throws {
        let show: (PopupElement) async throws -> String = { element in
            switch element {
            case let element as TextPopupElement: return element.text
            case let element as MediaPopupElement:
                return element.media.map { media in
                    let value: PopupMediaValue? = media.value
                    let (link, source): (URL?, URL?) = (value?.linkURL, value?.sourceURL)
                    let (data, labels): ([any Sendable], [String]) = (value?.data ?? [], value?.labels ?? [])
                    let every: TimeInterval = media.imageRefreshInterval
                    return "\(media.kind) \(media.title) \(media.caption) \(every) \(data.count) \(labels)"
                        + "\(link?.absoluteString ?? "") \(source?.absoluteString ?? "")"
                }.joined()
            case let element as AttachmentsPopupElement:
                let kinds: [AttachmentsPopupElement.DisplayType] = [.list, .preview, .auto]
                #expect(kinds.contains(element.displayType))
                for attachment in try await element.attachments {
                    let (name, type, size): (String, String, Int) = (
                        attachment.name, attachment.contentType, attachment.size
                    )
                    let (kind, url, isLocal): (PopupAttachment.Kind, URL?, Bool) = (
                        attachment.kind, attachment.fileURL, attachment.isLocal
                    )
                    Issue.record("\(name) \(type) \(size) \(kind) \(String(describing: url)) \(isLocal) of no feature")
                }
                return "attachments"
            default: return element.title
            }
        }
        #expect(try await show(AttachmentsPopupElement(displayType: .list)) == "attachments")
        let chart: PopupMedia.Kind = .barChart
        #expect(![.image, .columnChart, .lineChart, .pieChart, .unknown].contains(chart))
    }

    @Test("A form gives elements, tells what is wrong, and saves")
    func form() async throws {
        try await SeedServer.with { url, _ in
            let feature = try await Self.feature(url)
            let form = FeatureForm(feature: feature)
            let problems: [FormExpressionEvaluationError] = try await form.evaluateExpressions()
            #expect(problems.isEmpty && form.feature === feature && !form.title.isEmpty)
            let attachments: AttachmentsFormElement? = form.defaultAttachmentsElement
            #expect(attachments == nil, "the layer has no attachments")
            var titles: [String] = []
            for await title in form.$title {
                titles.append(title)
                break
            }
            let elements: [FormElement] = form.elements
            let field = try #require(elements.compactMap { $0 as? FieldFormElement }.first)
            let (name, type, hint): (String, FieldType?, String) = (field.fieldName, field.fieldType, field.hint)
            #expect(titles == [form.title] && name == "typdamage" && type == .text && hint.isEmpty)
            #expect(Set(elements).contains(field) && field.isVisible && field.isEditable && !field.isRequired)
            #expect(field.label == "typdamage" && field.description.isEmpty && !field.hasValueExpression)
            let (value, input): ((any Sendable)?, FormInput) = (field.value, field.input)
            #expect(value as? String == "Minor" && input is ComboBoxFormInput && field.formattedValue == "Minor")
            field.updateValue("Nothing known")
            let errors: [any Error] = field.validationErrors
            #expect(errors as? [ArcGIS.FeatureFormError] != nil && form.hasEdits)
            let byField: [String: [any Error]] = form.validationErrors
            #expect(byField.keys.sorted() == ["typdamage"])
            form.discardEdits()
            #expect(!form.hasEdits && field.value as? String == "Minor")
            try await form.finishEditing()
            try await (feature.table as? ServiceFeatureTable)?.undoLocalEdits()
        }
    }

    @Test("An element of attachments stages what is added")
    func attachments() async throws {
        let use: (AttachmentsFormElement) async throws -> [String] = { element in
            if let added = element.addAttachment(name: "a.jpg", contentType: "image/jpeg", data: Data()) {
                added.name = try await element.makeDefaultName(contentType: "image/jpeg")
                try await added.load()
                let kinds: [FormAttachment.Kind] = [.image, .video, .document, .audio, .other]
                let size: Measurement<UnitInformationStorage> = added.size
                let (kind, url): (FormAttachment.Kind, URL?) = (added.kind, added.fileURL)
                #expect(kinds.contains(kind) && size.value == 0 && url != nil && added.isLocal)
                #expect(added.contentType == "image/jpeg" && added.loadStatus == .loaded)
                element.delete(added)
            }
            return try await element.attachments.map(\.name)
        }
        let definition = try FeatureFormDefinition.fromJSON(
            Data(#"{"formElements":[{"type":"attachment","attachmentKeyword":"photo","label":"Photos"}]}"#.utf8))
        let element = try #require(definition.elements.first as? AttachmentsFormElement)
        #expect(element.label == "Photos" && element.attachmentKeyword == "photo")
        #expect(try await use(element).isEmpty, "a definition has no feature")
    }

    @Test("Groups, texts and inputs have the parts that clients show")
    func inputs() throws {
        let text = #"""
            {"formElements":[{"type":"group","label":"G","initialState":"collapsed","formElements":[
            {"type":"text","text":"T","textFormat":"markdown"},
            {"type":"field","fieldName":"a","inputType":{"type":"text-box","minLength":1,"maxLength":5}},
            {"type":"field","fieldName":"b","inputType":{"type":"text-area","minLength":2,"maxLength":6}},
            {"type":"field","fieldName":"c","inputType":{"type":"combo-box","noValueOptionLabel":"none"}},
            {"type":"field","fieldName":"d","inputType":{"type":"radio-buttons","showNoValueOption":false}},
            {"type":"field","fieldName":"e","inputType":{"type":"switch","onValue":"y","offValue":"n"}},
            {"type":"field","fieldName":"f","inputType":{"type":"datetime-picker","includeTime":true,"min":0}},
            {"type":"field","fieldName":"g","inputType":{"type":"barcode-scanner"}},
            {"type":"field","fieldName":"h","inputType":{"type":"unheard-of"}}]}]}
            """#
        let definition = try FeatureFormDefinition.fromJSON(Data(text.utf8))
        let group = try #require(definition.elements.first as? GroupFormElement)
        let state: GroupFormElement.InitialState = group.initialState
        let words = try #require(group.elements.first as? TextFormElement)
        let format: TextFormElement.Format = words.format
        #expect(state == .collapsed && words.text == "T" && format == .markdown)
        let inputs: [FormInput] = group.elements.compactMap { ($0 as? FieldFormElement)?.input }
        let said = inputs.map { input in
            switch input {
            case let input as TextBoxFormInput: "\(input.minLength)-\(input.maxLength)"
            case let input as TextAreaFormInput: "\(input.minLength)-\(input.maxLength)"
            case let input as ComboBoxFormInput: "\(input.noValueOption) \(input.noValueLabel)"
            case let input as RadioButtonsFormInput: "\(input.noValueOption) \(input.noValueLabel)"
            case let input as SwitchFormInput: "\(input.onValue.name)/\(input.offValue.name)"
            case let input as DateTimePickerFormInput: "\(input.includesTime) \(input.min != nil) \(input.max != nil)"
            case is BarcodeScannerFormInput: "code"
            case is UnsupportedFormInput: "unsupported"
            default: "unknown"
            }
        }
        #expect(said.count == 8 && Array(said[...3]) == ["1-5", "2-6", "show none", "hide "])
        #expect(said[5...] == ["true true false", "code", "unsupported"])
    }
}
