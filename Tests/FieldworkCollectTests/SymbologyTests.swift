import Foundation
import Testing

@testable import FieldworkCollect

@Suite struct SymbologyTests {
    private static let damage = Data(
        """
        {"type":"uniqueValue","field1":"typdamage","defaultLabel":"Other",
         "defaultSymbol":{"type":"esriSMS","style":"esriSMSCircle","color":[0,0,0,255],"size":6},
         "uniqueValueInfos":[
          {"value":"Major","label":"Major","symbol":{"type":"esriSMS","style":"esriSMSTriangle","color":[194,65,12,255],
           "size":9,"outline":{"color":[255,255,255,255],"width":1}}},
          {"value":"3","label":"Three","symbol":{"type":"esriSMS","style":"esriSMSX","color":[1,2,3,255],"size":9}}]}
        """.utf8)

    @Test func uniqueValuesFindTheirClassAndOthersTheDefault() {
        let symbology = Symbology(rendererJSON: Self.damage, kind: .point)
        #expect(symbology.classes.map(\.label) == ["Major", "Three", "Other"])
        #expect(symbology.classIndex { _ in "Major" } == 0)
        #expect(symbology.classIndex { _ in Int32(3) } == 1)
        #expect(symbology.classIndex { _ in 3.0 } == 1)
        #expect(symbology.classIndex { _ in nil } == 2)
        #expect(symbology.fields == ["typdamage"])
        #expect(symbology.classOf(field: "TYPDAMAGE", value: "Major")?.fill == "#c2410c")
        #expect(symbology.classOf(field: "other", value: "Major") == nil)
    }

    @Test func crossesAreStrokesAndDiscsAreFilled() {
        let symbology = Symbology(rendererJSON: Self.damage, kind: .point)
        #expect(symbology.classes[0].fill == "#c2410c")
        #expect(symbology.classes[1].fill == "none")
        #expect(symbology.classes[1].edge == "#010203")
    }

    @Test func breaksTakeTheirUpperEdge() {
        let json = Data(
            """
            {"type":"classBreaks","field":"dbh","minValue":0,"classBreakInfos":[
             {"classMaxValue":10,"label":"thin","symbol":{"color":[1,1,1,255]}},
             {"classMaxValue":50,"label":"thick","symbol":{"color":[2,2,2,255]}}]}
            """.utf8)
        let symbology = Symbology(rendererJSON: json, kind: .point)
        #expect(symbology.classIndex { _ in 10.0 } == 0)
        #expect(symbology.classIndex { _ in 10.1 } == 1)
        #expect(symbology.classIndex { _ in -1.0 } == nil)
        #expect(symbology.classIndex { _ in nil } == nil)
    }

    @Test(arguments: [nil, "", "{}", "[]", "{\"type\":\"heatmap\"}", "{\"type\":\"uniqueValue\"}"] as [String?])
    func whatCannotBeReadIsDrawnPlainlyOrNotAtAll(json: String?) {
        let symbology = Symbology(rendererJSON: json.map { Data($0.utf8) }, kind: .line)
        let index = symbology.classIndex { _ in nil }
        #expect(index.map { symbology.classes.indices.contains($0) } ?? symbology.classes.isEmpty)
    }

    @Test func aColourThatIsNoNumberDoesNotGetIntoThePage() {
        let json = Data("{\"type\":\"simple\",\"symbol\":{\"color\":[1e308,-5,2.5,255]}}".utf8)
        let symbology = Symbology(rendererJSON: json, kind: .point)
        #expect(symbology.classes.first?.fill == "#ff0002")
    }
}
