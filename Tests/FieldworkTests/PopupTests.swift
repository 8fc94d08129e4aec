import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Pop-ups", .fewAtATime)
struct PopupTests {
    /// Stands in for the interpreter: what each text gives.
    struct KnownExpressions: ExpressionEvaluator {
        var values: [String: ExpressionValue]

        func value(of expression: String, in context: ExpressionContext) async throws -> ExpressionValue {
            guard let value = values[expression] else {
                throw ExpressionError.evaluationFailed(details: "not known in this test")
            }
            return value
        }
    }

    static func definition(_ text: String) throws -> PopupDefinition {
        try PopupDefinition.fromJSON(Data(text.utf8))
    }

    static func tree(_ table: FeatureTable, _ index: Int) async throws -> ArcGISFeature {
        table.state.withLock { $0.timeZone = .gmt }
        let parameters = QueryParameters()
        parameters.whereClause = "Address = '\(index) Main St'"
        return try #require(
            try await table.queryFeatures(using: parameters).features().first { _ in true } as? ArcGISFeature)
    }

    @Test("Values are shown by the names of their codes and as the formats say, nulls as nothing")
    func fields() async throws {
        try await TestService.withTrees(2) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let popup = Popup(
                geoElement: try await Self.tree(table, 1),
                definition: try Self.definition(
                    #"""
                    {"title":"{address}: {CONDITION}{nothing}",
                     "fieldInfos":[{"fieldName":"Condition","label":"State"},
                      {"fieldName":"DBH","format":{"places":1,"digitSeparator":true}},
                      {"fieldName":"Planted","format":{"dateFormat":"dayShortMonthYear"}},{"fieldName":"Notes"},
                      {"fieldName":"Kind","visible":false}]}
                    """#))
            #expect(popup.title == "1 Main St: Fair")
            #expect(popup.evaluatedElements.isEmpty)
            try await popup.evaluateExpressions()
            let fields = try #require(popup.evaluatedElements.first as? FieldsPopupElement)
            #expect(fields.labels == ["State", "Diameter", "Planted", "Notes"])
            #expect(fields.formattedValues == ["Fair", "1,235.5", "21 Dec 1997", ""])
        }
    }

    @Test("Related records give a single value or a statistic; local edits are among them")
    func relatedRecords() async throws {
        try await TestService.withTrees(4) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let tree = try await Self.tree(table, 3)
            let inspections = try #require(geodatabase.table(withLayerID: 1))
            let popup = Popup(
                geoElement: tree,
                definition: try Self.definition(
                    #"""
                    {"title":"{relationships/1/Name}, {relationships/0/DBH} cm, {relationships/0/OBJECTID} times",
                     "fieldInfos":[{"fieldName":"relationships/0/DBH","statisticType":"max"},
                      {"fieldName":"relationships/0/OBJECTID","statisticType":"count"}],
                     "popupElements":[{"type":"text","text":"<i>{relationships/1/Genus}</i>{relationships/0/Condition}"},
                      {"type":"media","mediaInfos":[{"type":"columnchart","title":"{Address}",
                       "value":{"colors":[[255,0,0,255],[0,0,255]],"fields":["relationships/0/DBH"],
                       "tooltipField":"relationships/0/Condition"}}]}]}
                    """#))
            #expect(popup.title == ",  cm,  times")
            try await popup.evaluateExpressions()
            #expect(popup.title == "Bigleaf maple, 30 cm, 3 times")
            #expect((popup.evaluatedElements.first as? TextPopupElement)?.text == "<i>Acer</i>")
            let chart = try #require((popup.evaluatedElements[1] as? MediaPopupElement)?.media.first)
            #expect(chart.kind == .columnChart && chart.title == "3 Main St")
            #expect(chart.value?.data as? [Double] == [10, 20, 30])
            #expect(chart.value?.labels == ["Good", "Fair", "Poor"])
            #expect(chart.value?.chartColors == [.red, .blue])
            let inspection = inspections.makeFeature(attributes: [
                "DBH": 99.0, "TreeID": try #require(tree.attributeValue(forKey: "GlobalID")),
            ])
            try await inspections.add(inspection)
            try await popup.evaluateExpressions()
            #expect(popup.title == "Bigleaf maple, 99 cm, 4 times")
        }
    }

    @Test("Without an interpreter an expression says so, and a chart or picture that needs one shows nothing")
    func withoutInterpreter() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let popup = Popup(
                geoElement: try await Self.tree(table, 0),
                definition: try Self.definition(
                    #"""
                    {"title":"{expression/e1}",
                     "expressionInfos":[{"name":"e1","title":"One","expression":"$feature.DBH * 2"},
                      {"name":"unused","expression":"nobody asks"}],
                     "popupElements":[{"type":"fields","fieldInfos":[{"fieldName":"expression/E1"}]},
                      {"type":"media","mediaInfos":[{"type":"piechart","value":{"fields":["DBH","expression/e1"]}},
                       {"type":"image","value":{"sourceURL":"https://example.org/{expression/e1}"}}]},
                      {"type":"expression","expressionInfo":{"title":"Made","expression":"{type: 'text'}"}}]}
                    """#), expressions: ConstantEvaluator())
            let evaluations = try await popup.evaluateExpressions()
            #expect(evaluations.count == 2)
            for evaluation in evaluations {
                guard case ExpressionError.notSupported? = evaluation.error as? ExpressionError else {
                    Issue.record("\(String(describing: evaluation.error))")
                    continue
                }
            }
            #expect(popup.title == PopupValues.unsupportedExpression)
            let fields = try #require(popup.evaluatedElements[0] as? FieldsPopupElement)
            #expect(fields.labels == ["One"] && fields.formattedValues == [PopupValues.unsupportedExpression])
            let media = try #require(popup.evaluatedElements[1] as? MediaPopupElement)
            #expect(media.media.allSatisfy { $0.value == nil })
            let made = try #require(popup.evaluatedElements[2] as? ExpressionPopupElement)
            #expect(made.title == "Made" && made.error != nil)
        }
    }

    @Test("An expression gives a value, or an element; one that fails gives nothing and is reported")
    func expressions() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let known = KnownExpressions(values: [
                "one": .number(1_234.5),
                "made": .dictionary([
                    "type": "fields", "title": "Made", "fieldInfos": [["fieldName": "x", "label": "X"]],
                    "attributes": ["x": 5, "y": "not listed"],
                ]), "none": .null,
            ])
            let popup = Popup(
                geoElement: try await Self.tree(table, 0),
                definition: try Self.definition(
                    #"""
                    {"title":"{expression/e1}|{expression/e2}",
                     "fieldInfos":[{"fieldName":"expression/e1","format":{"digitSeparator":true}}],
                     "expressionInfos":[{"name":"e1","expression":"one"},{"name":"e2","expression":"broken"}],
                     "popupElements":[{"type":"expression","expressionInfo":{"expression":"made"}},
                      {"type":"expression","expressionInfo":{"expression":"none"}},
                      {"type":"expression","expressionInfo":{"expression":"broken"}}]}
                    """#), expressions: known)
            let evaluations = try await popup.evaluateExpressions()
            #expect(popup.title == "1,234.5|")
            #expect(evaluations.count { $0.error != nil } == 2)
            #expect(popup.evaluatedElements.count == 1)
            let fields = try #require(popup.evaluatedElements.first as? FieldsPopupElement)
            #expect(fields.title == "Made" && fields.labels == ["X"] && fields.formattedValues == ["5"])
        }
    }

    @Test("A pop-up takes the definition of the layer, else of the table, else one of all fields")
    func definitions() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let tree = try await Self.tree(table, 0)
            #expect(Popup(geoElement: tree).title == "0 Main St")
            table.popupDefinition = try Self.definition(#"{"title":"table"}"#)
            #expect(Popup(geoElement: tree).title == "table")
            let layer = FeatureLayer(featureTable: table)
            #expect(Popup(geoElement: tree).title == "table")
            layer.popupDefinition = try Self.definition(#"{"title":"layer"}"#)
            #expect(Popup(geoElement: tree).title == "layer")
            #expect(PopupDefinition(popupSource: layer).title == "{Address}")
        }
    }

    @Test("Identify gives pop-ups for layers that have them, and only for those when only pop-ups are asked for")
    func identify() async throws {
        try await TestService.withTrees(3) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let layer = FeatureLayer(featureTable: table)
            let map = Map()
            map.addOperationalLayer(layer)
            let plain = try await map.identify(at: TreeService.place, tolerance: 50)
            #expect(plain.first?.geoElements.count == 1 && plain.first?.popups.isEmpty == true)
            #expect(try await map.identify(at: TreeService.place, tolerance: 50, returnPopupsOnly: true).isEmpty)
            layer.popupDefinition = try Self.definition(#"{"title":"{Address}"}"#)
            let only = try await map.identify(at: TreeService.place, tolerance: 50, returnPopupsOnly: true)
            #expect(only.first?.popups.map(\.title) == ["0 Main St"])
            #expect(only.first?.geoElements.isEmpty == true)
            layer.popupsAreEnabled = false
            #expect(try await map.identify(at: TreeService.place, tolerance: 50, returnPopupsOnly: true).isEmpty)
        }
    }
}
