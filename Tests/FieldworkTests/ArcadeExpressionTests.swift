import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Expressions of maps", .fewAtATime)
struct ArcadeExpressionTests {
    @Test("A pop-up's expressions read the feature, its domain and its layer, and make elements")
    func popups() async throws {
        try await TestService.withTrees(3) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let popup = Popup(
                geoElement: try await FeatureFormTests.tree(table),
                definition: try PopupTests.definition(
                    #"""
                    {"title":"{expression/size} of {expression/all}",
                     "expressionInfos":[
                      {"name":"size","expression":"IIf($feature.DBH >= 5, 'big', 'small')"},
                      {"name":"all","expression":"Count(Filter($layer, 'OBJECTID > 0'))"},
                      {"name":"far","expression":"Count(FeatureSetByName($map, 'No such layer'))"}],
                     "popupElements":[
                      {"type":"text","text":"{expression/far}"},
                      {"type":"expression",
                       "expressionInfo":{"expression":"{type: 'text', text: 'At ' + $feature.Address}"}}]}
                    """#))
            let evaluations = try await popup.evaluateExpressions()
            #expect(popup.title.hasSuffix(" of 3"), "\(popup.title)")
            #expect(popup.title.hasPrefix("big") || popup.title.hasPrefix("small"))
            let made = try #require(popup.evaluatedElements.last as? TextPopupElement)
            #expect(made.text.hasPrefix("At "))
            let failed = evaluations.compactMap { $0.error as? ExpressionError }
            #expect(failed.count == 1 && failed[0].details.contains("No such layer"), "\(failed)")
            guard case .dataUnavailable? = failed.first else {
                Issue.record("\(failed)")
                return
            }
            // Where its value would stand, the pop-up says that there is none now.
            #expect(
                popup.evaluatedElements.contains {
                    ($0 as? TextPopupElement)?.text.contains("(not available here)") == true
                })
        }
    }

    @Test("A form's expressions follow what is put in, and an expression that fails is reported with its line")
    func forms() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let form = try FeatureFormTests.form(
                #"""
                {"expressionInfos":[
                  {"name":"thick","expression":"$feature.DBH > 50"},
                  {"name":"note","expression":"`${$feature.DBH} cm, was ${$originalFeature.DBH}, ${$editContext.editType}`"},
                  {"name":"wrong","expression":"var a = 1\nnosuch(a)"}],
                 "formElements":[
                  {"type":"field","fieldName":"DBH","editableExpression":"expr/system/true"},
                  {"type":"field","fieldName":"Notes","valueExpression":"note","requiredExpression":"wrong"},
                  {"type":"field","fieldName":"Address","visibilityExpression":"thick"}]}
                """#, try await FeatureFormTests.tree(table), ArcadeExpressionEvaluator())
            try FeatureFormTests.field("DBH", form).updateValue(60.0)
            let errors = try await form.evaluateExpressions()
            #expect(try FeatureFormTests.field("Address", form).isVisible)
            let note = try FeatureFormTests.field("Notes", form).value as? String
            #expect(note?.hasPrefix("60 cm, was ") == true && note?.hasSuffix(", UPDATE") == true, "\(note ?? "")")
            #expect(errors.map(\.expressionName) == ["wrong"])
            #expect("\(errors)".contains("line 2"))
            try FeatureFormTests.field("DBH", form).updateValue(40.0)
            try await form.evaluateExpressions()
            #expect(try !FeatureFormTests.field("Address", form).isVisible)
        }
    }

    @Test("A value that is not a number is no value of a field: what is there stays, and the form says so")
    func notANumber() async throws {
        try await TestService.withTrees(1) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let tree = try await FeatureFormTests.tree(table)
            let before = tree.attributeValue(forKey: "DBH") as? Double
            let form = try FeatureFormTests.form(
                #"""
                {"expressionInfos":[{"name":"none","expression":"0 / 0"}],
                 "formElements":[{"type":"field","fieldName":"Notes","editableExpression":"expr/system/true"},
                  {"type":"field","fieldName":"DBH","valueExpression":"none"}]}
                """#, tree, ArcadeExpressionEvaluator())
            let errors = try await form.evaluateExpressions()
            #expect(errors.count == 1)
            #expect(tree.attributeValue(forKey: "DBH") as? Double == before)
        }
    }

    @Test(
        "Statistics and groups over a table of a geodatabase are those of its features, and count what was edited here",
        arguments: [
            ("Count(Filter($layer, 'eggs > 2'))", 3.0), ("Sum($layer, 'eggs')", 15), ("Max($layer, 'eggs')", 5),
            ("Min(Filter($layer, 'eggs > 2'), 'eggs + 1')", 4), ("Mean($layer, 'eggs')", 3),
            ("Variance($layer, 'eggs')", 2), ("Round(Stdev($layer, 'eggs'), 3)", 1.414),
            ("Count(Distinct($layer, 'eggs'))", 5), ("Sum(Filter($layer, 'eggs > 99'), 'eggs')", 0),
            ("Sum(GroupBy($layer, 'Bird', {name: 'most', expression: 'eggs', statistic: 'MAX'}), 'most')", 9),
            ("Sum($layer, 'eggs / 2')", 7.5),
        ])
    func statistics(expression: String, expected: Double) async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let birds = [try await file.add("egret"), try await file.add("heron", x: 10)]
            for eggs in 1...5 {
                let owner = birds[eggs % 2].attributeValue(forKey: "GlobalID")
                let nest = file.nests.makeFeature(attributes: ["Bird": owner as? UUID ?? UUID(), "eggs": Int16(eggs)])
                try await file.nests.add(nest)
            }
            let evaluator = ArcadeEvaluator(expression: ArcadeExpression(expression: expression), profile: .popup)
            let result = try await evaluator.evaluate(withProfileVariables: ["$layer": file.nests])
            #expect(result.result(as: .double) as? Double == expected)
        }
    }
}
