import Fieldwork
import Foundation
import Testing

@testable import FieldworkCollect

@Suite struct SymbologyTests {
    private static func symbology(_ json: String, kind: GeometryKind = .point) throws -> Symbology {
        Symbology(try Renderer.fromJSON(Data(json.utf8)), kind: kind)
    }

    private static let damage = """
        {"type":"uniqueValue","field1":"typdamage","defaultLabel":"Other",
         "defaultSymbol":{"type":"esriSMS","style":"esriSMSCircle","color":[0,0,0,255],"size":6},
         "uniqueValueInfos":[
          {"value":"Major","label":"Major","symbol":{"type":"esriSMS","style":"esriSMSTriangle","color":[194,65,12,255],
           "size":9,"outline":{"color":[255,255,255,255],"width":1}}},
          {"value":"3","label":"Three","symbol":{"type":"esriSMS","style":"esriSMSX","color":[1,2,3,255],"size":9}}]}
        """

    @Test func theLegendListsTheClassesAndTheRest() throws {
        let symbology = try Self.symbology(Self.damage)
        #expect(symbology.legend.map(\.label) == ["Major", "Three", "Other"])
        #expect(symbology.fields == ["typdamage"])
        #expect(symbology.legend[0].swatch.svg.contains("#c2410c"))
        #expect(symbology.legend[1].swatch.svg.contains("fill=\"none\""))
    }

    @Test func aValueOfTheOnlyFieldHasTheSymbolOfItsClass() throws {
        let symbology = try Self.symbology(Self.damage)
        #expect(symbology.swatch(field: "TYPDAMAGE", value: "Major") == symbology.legend[0].swatch)
        #expect(symbology.swatch(field: "typdamage", value: 3.0) == symbology.legend[1].swatch)
        #expect(symbology.swatch(field: "typdamage", value: "Minor") == nil)
        #expect(symbology.swatch(field: "other", value: "Major") == nil)
    }

    @Test func smallSymbolsAreShownEnlargedAndLargeOnesFitTheirLine() throws {
        func side(_ size: Double) throws -> Int? {
            let symbol = SimpleMarkerSymbol(size: size)
            return Swatch(symbol)?.side
        }
        #expect(try side(2) == 12)
        #expect(try side(9) == 16)
        #expect(try side(60) == 22)
    }

    @Test(arguments: [GeometryKind.point, .line, .polygon])
    func withoutARendererAllFeaturesLookTheSame(kind: GeometryKind) {
        let symbology = Symbology(nil, kind: kind)
        #expect(symbology.legend.count == 1)
        #expect(symbology.swatch(of: Graphic()) == symbology.legend[0].swatch)
    }

    @Test func whatCannotBeEvaluatedLooksNeutral() throws {
        let symbology = try Self.symbology(
            """
            {"type":"uniqueValue","field1":"a","valueExpression":"Count($layer)","uniqueValueInfos":[
             {"value":"1","symbol":{"type":"esriSLS","style":"esriSLSSolid","color":[255,0,0,255],"width":2}}]}
            """, kind: .line)
        #expect(symbology.legend.count == 1)
        #expect(symbology.legend[0].swatch.svg.contains("#6e6e6e"))
    }

    @Test func aColourThatIsNoNumberDoesNotGetIntoThePage() throws {
        let symbology = try Self.symbology(
            "{\"type\":\"simple\",\"symbol\":{\"type\":\"esriSMS\",\"color\":[1e308,-5,2.5,\"<script>\"]}}")
        #expect(symbology.legend.first?.swatch.svg.contains("script") != true)
    }
}
