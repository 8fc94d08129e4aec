import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Definitions of pop-ups", .fewAtATime)
struct PopupDefinitionTests {
    private static let text = """
        {"title":"{species} at {address}","description":null,"vendorThing":[1,2.50,{"a":"b"}],
         "fieldInfos":[{"fieldName":"dbh","label":"Diameter","format":{"places":1.0,"digitSeparator":true,"x":1}},
          {"fieldName":"planted","visible":false,"isEditable":false,"format":{"dateFormat":"longMonthDayYear"},
           "stringFieldOption":"textarea","own":true}],
         "expressionInfos":[{"name":"expr0","title":"Size","expression":"$feature.dbh","returnType":"number"}],
         "popupElements":[{"type":"text","text":"<p>{x}</p>","kept":1},
          {"type":"utilityNetworkAssociations","associationTypes":[]},
          {"type":"fields","fieldInfos":[{"fieldName":"dbh","more":2}]},
          {"type":"relationship","relationshipId":3,"displayCount":5,"orderByFields":[{"field":"d","order":"desc"}]},
          {"type":"expression","expressionInfo":{"title":"E","expression":"1","returnType":"dictionary"}}]}
        """

    @Test("A definition is written as it was read, unknown members and all")
    func roundTrip() throws {
        let definition = try PopupDefinition.fromJSON(Data(Self.text.utf8))
        #expect(definition.json == (try JSONParser.parse(Self.text)))
        #expect(definition.toJSON() == Data(try JSONParser.parse(Self.text).text.utf8))
        #expect(definition.fields.map(\.fieldName) == ["dbh", "planted"])
        #expect(definition.fields[0].format?.decimalPlaces == 1)
        #expect(definition.fields[1].format?.dateFormat == .longMonthDayYear)
        #expect(definition.fields[1].stringFieldOption == .multiLine)
        #expect(definition.expressions.first?.returnType == .number)
        #expect(definition.elements.count == 5)
        let related = try #require(definition.elements[3] as? RelationshipPopupElement)
        #expect(related.relationshipID == 3 && related.displayCount == 5)
        #expect(related.orderByFields.map(\.sortOrder) == [.descending])
        #expect(definition.elements[4].title == "E")
    }

    @Test("A change is written, and nothing else changes")
    func change() throws {
        let definition = try PopupDefinition.fromJSON(Data(Self.text.utf8))
        definition.title = "Tree"
        definition.fields[1].isVisible = true
        definition.fields[0].format = nil
        var expected = try #require(try JSONParser.parse(Self.text).objectValue)
        expected["title"] = "Tree"
        var fields = (expected["fieldInfos"]?.arrayValue ?? []).compactMap(\.objectValue)
        fields[1]["visible"] = true
        fields[0]["format"] = nil
        expected["fieldInfos"] = .array(fields.map(JSONValue.object))
        #expect(definition.json == .object(expected))
    }

    @Test("A document without elements shows its description or its fields, then media, attachments, related records")
    func oldDocuments() throws {
        let fields = try PopupDefinition.fromJSON(
            Data(#"{"fieldInfos":[{"fieldName":"a"}],"showAttachments":true,"mediaInfos":[{"type":"image"}]}"#.utf8))
        #expect(fields.elements.count == 3)
        #expect(fields.elements[0] is FieldsPopupElement && fields.elements[1] is MediaPopupElement)
        #expect(fields.elements[2] is AttachmentsPopupElement)
        let text = try PopupDefinition.fromJSON(
            Data(
                #"""
                {"description":"<b>{a}</b>","fieldInfos":[{"fieldName":"relationships/4/b"}],
                 "relatedRecordsInfo":{"showRelatedRecords":true}}
                """#.utf8))
        #expect(text.elements[0] is TextPopupElement)
        #expect((text.elements[1] as? RelationshipPopupElement)?.relationshipID == 4)
        #expect(try PopupDefinition.fromJSON(Data(#"{"popupElements":[]}"#.utf8)).elements.isEmpty)
    }

    @Test("What is no object is no definition")
    func invalid() {
        #expect(throws: CommonError.self) { try PopupDefinition.fromJSON(Data("[]".utf8)) }
    }

    @Test("Elements can be added and taken away")
    func elements() throws {
        let definition = PopupDefinition()
        let text = TextPopupElement(text: "{a}")
        definition.removeAllElements()
        definition.addElement(text)
        definition.addElement(AttachmentsPopupElement(displayType: .list))
        definition.removeElement(text)
        #expect(
            try JSONParser.parse(definition.toJSON())["popupElements"]
                == [["type": "attachments", "displayType": "list"]])
    }

    @Test("The default shows what people care for: no ids, no shapes; numbers and dates with formats")
    func standard() {
        let json = DefaultPopup.json(of: TreeService.trees, named: "Trees")
        let definition = PopupDefinition(json)
        #expect(definition.title == "{Address}")
        let names = ["Address", "Condition", "DBH", "Planted", "Notes", "Kind", "SpeciesID"]
        #expect(definition.fields.map(\.fieldName) == names)
        #expect(definition.fields[2].label == "Diameter")
        #expect(definition.fields[2].format?.decimalPlaces == 2)
        #expect(definition.fields[3].format?.dateFormat == .shortDateShortTime)
        #expect(
            definition.elements.map { "\(type(of: $0))" }.prefix(2) == [
                "FieldsPopupElement", "AttachmentsPopupElement",
            ])
        #expect(definition.elements.compactMap { $0 as? RelationshipPopupElement }.map(\.relationshipID) == [0, 1])
    }
}
