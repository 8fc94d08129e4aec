import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Forms", .fewAtATime)
struct FeatureFormTests {
    /// Stands in for the interpreter: knows a few texts and answers by the feature's present state.
    struct Rules: ExpressionEvaluator {
        func value(of expression: String, in context: ExpressionContext) async throws -> ExpressionValue {
            let condition = context.feature.attributeValue(forKey: "Condition") as? Int16
            switch expression {
            case "dead": return .boolean(condition == 4)
            case "true": return .boolean(true)
            case "double": return .number(Double(condition ?? 0) * 2)
            case "wasDead": return .boolean(context.originalAttributes?["Condition"] as? Int16 == 4)
            default: throw ExpressionError.evaluationFailed(details: "not known in this test")
            }
        }
    }

    static func form(
        _ text: String, _ feature: ArcGISFeature, _ rules: any ExpressionEvaluator = Rules()
    ) throws -> FeatureForm {
        FeatureForm(
            feature: feature, definition: try FeatureFormDefinition.fromJSON(Data(text.utf8)), expressions: rules)
    }

    static func tree(_ table: FeatureTable) async throws -> ArcGISFeature {
        table.state.withLock { $0.timeZone = .gmt }
        let found = Array(try await table.queryFeatures(using: QueryParameters()).features())
        return try #require(found.first as? ArcGISFeature)
    }

    static func field(_ name: String, _ form: FeatureForm) throws -> FieldFormElement {
        try #require(form.allElements.compactMap { $0 as? FieldFormElement }.first { $0.fieldName == name })
    }

    private static func kinds(_ element: FieldFormElement) -> [String] {
        element.validationErrors.map { error in
            String("\(error)".prefix { $0 != "(" })
        }
    }

    @Test("A form finds fields in the table, fills in texts, and keeps what it does not know")
    func definition() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let text = #"""
                {"title":"Tree at {address}","own":[1],"formElements":[
                 {"type":"field","fieldName":"condition","label":"State","hint":"how is it?","mine":true,
                  "inputType":{"type":"radio-buttons","showNoValueOption":false}},
                 {"type":"text","text":"{Condition}, planted {planted}","textFormat":"markdown"},
                 {"type":"utilityNetworkAssociation","associationTypes":[]},
                 {"type":"group","label":"More","initialState":"collapsed","formElements":[
                  {"type":"field","fieldName":"Planted","inputType":{"type":"datetime-picker","min":0,"max":1e12}},
                  {"type":"field","fieldName":"Notes","inputType":{"type":"text-area","maxLength":20.0,"minLength":3}},
                  {"type":"field","fieldName":"DBH","inputType":{"type":"unheard-of"}}]}]}
                """#
            let form = try Self.form(text, try await Self.tree(table))
            #expect(form.definition.json == (try JSONParser.parse(text)))
            #expect(form.title == "Tree at 0 Main St")
            #expect(form.elements.count == 3)
            let state = try Self.field("Condition", form)
            #expect(state.label == "State" && state.hint == "how is it?" && state.fieldType == .int16)
            #expect(state.formattedValue == "Good")
            #expect((state.input as? RadioButtonsFormInput)?.noValueOption == .hide)
            #expect((form.elements[1] as? TextFormElement)?.text == "Good, planted 12/21/1997, 6:00 PM")
            #expect((form.elements[1] as? TextFormElement)?.format == .markdown)
            let group = try #require(form.elements[2] as? GroupFormElement)
            #expect(group.initialState == .collapsed && group.elements.count == 3)
            let planted = try #require(group.elements[0] as? FieldFormElement)
            let picker = try #require(planted.input as? DateTimePickerFormInput)
            #expect(!picker.includesTime && picker.min == Date(timeIntervalSince1970: 0))
            #expect(planted.formattedValue == "12/21/1997" && planted.label == "Planted")
            let notes = try #require((group.elements[1] as? FieldFormElement)?.input as? TextAreaFormInput)
            #expect(notes.maxLength == 20 && notes.minLength == 3)
            #expect((group.elements[2] as? FieldFormElement)?.input is UnsupportedFormInput)
        }
    }

    @Test("Each broken rule is told by its own error, and nothing is saved before it is mended")
    func validation() async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let tree = try await Self.tree(table)
            let form = try Self.form(
                #"""
                {"formElements":[{"type":"field","fieldName":"Condition"},{"type":"field","fieldName":"DBH"},
                 {"type":"field","fieldName":"Kind"},
                 {"type":"field","fieldName":"Notes","requiredExpression":"expr/system/true",
                  "inputType":{"type":"text-box","minLength":3,"maxLength":5}},
                 {"type":"field","fieldName":"Planted",
                  "inputType":{"type":"datetime-picker","min":1000,"max":2000}}]}
                """#, tree)
            try await form.evaluateExpressions()
            let cases: [(String, (any Sendable)?, [String])] = [
                ("Condition", Int32(9), ["notInCodedValueDomain"]), ("Condition", "x", ["incorrectValueType"]),
                ("Condition", Int64(3), []), ("Condition", nil, []), ("DBH", -1, ["lessThanNumericMinimum"]),
                ("DBH", 4_000.5, ["exceedsNumericMaximum"]), ("DBH", "12", ["incorrectValueType"]),
                ("DBH", 0.0, []), ("DBH", 4_000.0, []), ("DBH", 12.5, []),
                ("Kind", nil, ["nullNotAllowed", "fieldIsRequired"]), ("Kind", "", ["fieldIsRequired"]),
                ("Kind", "12345678901", ["exceedsMaximumLength"]), ("Kind", "park", []),
                ("Notes", "ab", ["lessThanMinimumLength"]), ("Notes", "abcdef", ["exceedsMaximumLength"]),
                ("Notes", nil, ["fieldIsRequired"]), ("Notes", "abc", []),
                ("Planted", Date(timeIntervalSince1970: 1), []), ("Planted", Date(timeIntervalSince1970: 2), []),
                ("Planted", Date(timeIntervalSince1970: 0), ["lessThanMinimumDateTime"]),
                ("Planted", Date(timeIntervalSince1970: 3), ["exceedsMaximumDateTime"]),
            ]
            for (name, value, errors) in cases {
                let element = try Self.field(name, form)
                element.updateValue(value)
                #expect(Self.kinds(element) == errors, "\(name) = \(String(describing: value))")
                #expect(FormValues.areEqual(tree.attributeValue(forKey: name), value))
            }
            #expect(form.validationErrors.keys.sorted() == ["Planted"])
            await #expect(throws: FeatureFormError.self) { try await form.finishEditing() }
            #expect(!geodatabase.hasLocalEdits)
            try Self.field("Planted", form).updateValue(Date(timeIntervalSince1970: 1.5))
            #expect(form.hasEdits)
            try await form.finishEditing()
            #expect(geodatabase.hasLocalEdits && !form.hasEdits)
            _ = try await geodatabase.applyEdits()
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["DBH"] == .real(12.5) && row.attributes["Kind"] == .text("park"))
            #expect(row.attributes["Planted"] == .integer(1_500))
        }
    }

    @Test("A value at a limit is taken and saved", arguments: [(0.0, 1.0, "abc"), (4_000, 2, "abcde")])
    func limits(diameter: Double, planted: Double, notes: String) async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let form = try Self.form(
                #"""
                {"formElements":[{"type":"field","fieldName":"DBH"},
                 {"type":"field","fieldName":"Notes","inputType":{"type":"text-box","minLength":3,"maxLength":5}},
                 {"type":"field","fieldName":"Planted","inputType":{"type":"datetime-picker","min":1000,"max":2000}}]}
                """#, try await Self.tree(table))
            try await form.evaluateExpressions()
            try Self.field("DBH", form).updateValue(diameter)
            try Self.field("Notes", form).updateValue(notes)
            try Self.field("Planted", form).updateValue(Date(timeIntervalSince1970: planted))
            #expect(form.validationErrors.isEmpty)
            try await form.finishEditing()
            _ = try await geodatabase.applyEdits()
            let row = try #require(try await service.rows().first)
            #expect(row.attributes["DBH"] == .real(diameter) && row.attributes["Notes"] == .text(notes))
            #expect(row.attributes["Planted"] == .integer(Int64(planted * 1_000)))
        }
    }

    @Test("Expressions show, demand and calculate; a value that is hidden goes, one hidden from the start stays")
    func expressions() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let tree = try await Self.tree(table)
            tree.setAttributeValue("kept", forKey: "Address")
            let text = #"""
                {"expressionInfos":[{"name":"expr/dead","expression":"dead"},{"name":"twice","expression":"double"},
                  {"name":"broken","expression":"?"}],
                 "formElements":[
                 {"type":"field","fieldName":"Condition","editableExpression":"expr/system/true"},
                 {"type":"group","label":"G","visibilityExpression":"expr/dead","formElements":[
                  {"type":"field","fieldName":"Notes","editableExpression":"expr/dead",
                   "requiredExpression":"expr/dead"}]},
                 {"type":"field","fieldName":"DBH","valueExpression":"twice"},
                 {"type":"field","fieldName":"Address","visibilityExpression":"expr/dead",
                  "editableExpression":"expr/system/true"},
                 {"type":"field","fieldName":"Kind","visibilityExpression":"broken"}]}
                """#
            let form = try Self.form(text, tree)
            let errors = try await form.evaluateExpressions()
            #expect(errors.map(\.expressionName) == ["broken"])
            let (notes, address) = (try Self.field("Notes", form), try Self.field("Address", form))
            #expect(!notes.isVisible && !notes.isEditable && !notes.isRequired)
            #expect(try Self.field("DBH", form).value as? Double == 2)
            #expect(try Self.field("DBH", form).hasValueExpression)
            #expect(try Self.field("Kind", form).isVisible && !Self.field("Kind", form).isEditable)
            #expect(!address.isVisible && address.value as? String == "kept")
            #expect(form.validationErrors.isEmpty)
            try Self.field("Condition", form).updateValue(Int16(4))
            try await form.evaluateExpressions()
            #expect(notes.isVisible && notes.isEditable && notes.isRequired && address.isVisible)
            #expect(try Self.field("DBH", form).value as? Double == 8)
            #expect(form.validationErrors.keys.sorted() == ["Notes"])
            notes.updateValue("fell on a car")
            try Self.field("Condition", form).updateValue(Int16(1))
            try await form.evaluateExpressions()
            #expect(!notes.isVisible && notes.value == nil && address.value == nil)
            #expect(tree.attributeValue(forKey: "Notes") == nil)
        }
    }

    @Test("A form opens no field that the layer keeps shut, whatever its expressions say", arguments: [true, false])
    func lockedFields(isOpen: Bool) async throws {
        var definition = TreeService.definition
        if !isOpen { definition.layers[0].capabilities.remove(.update) }
        try await TestService.with(definition, rows: TreeService.rows(trees: 1)) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let tree = try await Self.tree(table)
            let form = try Self.form(
                #"""
                {"expressionInfos":[{"name":"yes","expression":"true"}],"formElements":[
                 {"type":"field","fieldName":"GlobalID","editableExpression":"expr/system/true"},
                 {"type":"field","fieldName":"OBJECTID","editableExpression":"yes"},
                 {"type":"field","fieldName":"Address","editableExpression":"yes"}]}
                """#, tree)
            #expect(try await form.evaluateExpressions().isEmpty)
            #expect(try !Self.field("GlobalID", form).isEditable && !Self.field("OBJECTID", form).isEditable)
            let address = try Self.field("Address", form)
            #expect(address.isEditable == isOpen)
            address.updateValue("Elm St")
            #expect(tree.attributeValue(forKey: "Address") as? String == (isOpen ? "Elm St" : "0 Main St"))
        }
    }

    @Test("A form that is opened and saved keeps what is hidden, and writes nothing into fields that are shut")
    func untouched() async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let tree = try await Self.tree(table)
            let before = try #require(try await service.rows().first)
            let form = try Self.form(
                #"""
                {"expressionInfos":[{"name":"no","expression":"false"},{"name":"yes","expression":"true"}],"formElements":[
                 {"type":"field","fieldName":"Address","visibilityExpression":"no"},
                 {"type":"group","label":"G","visibilityExpression":"no","formElements":[
                  {"type":"field","fieldName":"Condition"}]},
                 {"type":"field","fieldName":"GlobalID","editableExpression":"yes"},
                 {"type":"field","fieldName":"DBH","editableExpression":"yes"}]}
                """#, tree)
            try await form.evaluateExpressions()
            #expect(try !Self.field("GlobalID", form).isEditable)
            try Self.field("GlobalID", form).updateValue(UUID())
            try Self.field("DBH", form).updateValue(7.5)
            try await form.evaluateExpressions()
            try await form.finishEditing()
            _ = try await geodatabase.applyEdits()
            let after = try #require(try await service.rows().first)
            #expect(after.attributes["DBH"] == .real(7.5) && after.globalID == before.globalID)
            for name in ["Address", "Condition"] { #expect(after.attributes[name] == before.attributes[name]) }
        }
    }

    @Test("A form can keep the values of what is hidden")
    func preservedValues() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let tree = try await Self.tree(table)
            let form = try Self.form(
                #"""
                {"preserveFieldValuesWhenHidden":true,"expressionInfos":[{"name":"d","expression":"dead"}],
                 "formElements":[{"type":"field","fieldName":"Address","visibilityExpression":"d"},
                  {"type":"field","fieldName":"Condition"}]}
                """#, tree)
            try Self.field("Condition", form).updateValue(Int16(4))
            try await form.evaluateExpressions()
            #expect(try Self.field("Address", form).isVisible)
            try Self.field("Condition", form).updateValue(Int16(2))
            try await form.evaluateExpressions()
            #expect(try !Self.field("Address", form).isVisible)
            #expect(tree.attributeValue(forKey: "Address") as? String == "0 Main St")
        }
    }

    @Test("Without an interpreter elements stay visible and unchanged, and the form says which expressions it needs")
    func withoutInterpreter() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let form = try Self.form(
                #"""
                {"expressionInfos":[{"name":"e","expression":"$feature.DBH > 3"}],"formElements":[
                 {"type":"field","fieldName":"Address","visibilityExpression":"e","editableExpression":"e",
                  "valueExpression":"e"},
                 {"type":"field","fieldName":"DBH","editableExpression":"expr/system/true"},
                 {"type":"field","fieldName":"Notes"}]}
                """#, try await Self.tree(table), ConstantEvaluator())
            let errors = try await form.evaluateExpressions()
            #expect(!errors.isEmpty && errors.allSatisfy { $0.elementLabel == "Address" && $0.expressionName == "e" })
            for error in errors {
                guard case ExpressionError.notSupported? = error.error as? ExpressionError else {
                    Issue.record("\(error)")
                    continue
                }
            }
            let address = try Self.field("Address", form)
            #expect(address.isVisible && !address.isEditable && address.value as? String == "0 Main St")
            #expect(try Self.field("DBH", form).isEditable && !Self.field("Notes", form).isEditable)
        }
    }

    @Test("The default form has the editable fields with inputs that fit, and adds a new feature")
    func standard() async throws {
        try await TestService.withTrees(0) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = try #require(table.makeFeature(geometry: TreeService.place) as? ArcGISFeature)
            let form = FeatureForm(feature: feature)
            let fields = form.elements.compactMap { $0 as? FieldFormElement }
            let names = ["Address", "Condition", "DBH", "Planted", "Notes", "Kind", "SpeciesID"]
            #expect(fields.map(\.fieldName) == names)
            let inputs = [
                "TextBoxFormInput", "ComboBoxFormInput", "TextBoxFormInput", "DateTimePickerFormInput",
                "TextAreaFormInput", "TextBoxFormInput", "TextBoxFormInput",
            ]
            #expect(fields.map { "\(type(of: $0.input))" } == inputs)
            #expect(fields.filter(\.isRequired).map(\.fieldName) == ["Kind"])
            await #expect(throws: FeatureFormError.self) { try await form.finishEditing() }
            fields[5].updateValue("park")
            try await form.finishEditing()
            #expect(try await table.addedFeaturesCount() == 1)
            fields[0].updateValue("elsewhere")
            form.discardEdits()
            #expect(fields[0].value == nil && feature.attributeValue(forKey: "Kind") as? String == "park")
        }
    }

    @Test("Changes can be watched, and discarding goes back to the beginning")
    func watching() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let tree = try await Self.tree(table)
            let form = try Self.form(
                #"{"title":"{Address}","formElements":[{"type":"field","fieldName":"Address"}]}"#, tree)
            let element = try Self.field("Address", form)
            var values = element.$value.makeAsyncIterator()
            var edits = form.$hasEdits.makeAsyncIterator()
            #expect(await values.next() as? String == "0 Main St")
            #expect(await edits.next() == false)
            element.updateValue("Elm St")
            #expect(await values.next() as? String == "Elm St")
            #expect(await edits.next() == true)
            #expect(form.title == "Elm St")
            form.discardEdits()
            #expect(await values.next() as? String == "0 Main St")
            #expect(await edits.next() == false)
            #expect(tree.attributeValue(forKey: "Address") as? String == "0 Main St")
        }
    }
}
