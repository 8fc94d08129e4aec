import FieldworkGeometry
import FieldworkREST
import Testing

@testable import FieldworkTiles

/// The styles of the basemaps that Fieldwork makes.
@Suite("Looks of basemaps")
struct BasemapStyleTests {
    private static func layers(_ look: BasemapLook, language: String? = nil, hasEarth: Bool = false) -> [JSONValue] {
        let known = hasEarth ? BasemapSchema.Layer.allCases : BasemapSchema.Layer.allCases.filter { $0 != .earth }
        let description = TileSetDescription(
            name: "A", format: .vector, levels: 0...14, vectorLayers: known.map { ["id": .string($0.rawValue)] })
        return BasemapStyle(look: look, language: language)
            .json(description, name: "A", addresses: .relative)["layers"]?.arrayValue ?? []
    }

    @Test("Each layer of a style has its own id, a layer of the schema, and one font", arguments: BasemapLook.allCases)
    func sound(look: BasemapLook) {
        let layers = Self.layers(look)
        #expect(layers.count > 50)
        #expect(Set(layers.compactMap { $0["id"]?.stringValue }).count == layers.count)
        let known = Set(BasemapSchema.Layer.allCases.map(\.rawValue))
        for layer in layers where layer["type"]?.stringValue != "background" {
            #expect(known.contains(layer["source-layer"]?.stringValue ?? ""), "\(layer.text)")
            guard layer["type"]?.stringValue == "symbol" else { continue }
            #expect(layer["layout"]?["text-font"]?.arrayValue?.count == 1, "\(layer.text)")
        }
        let drawn = Set(layers.compactMap { $0["source-layer"]?.stringValue })
        #expect(drawn == known.subtracting(["earth"]), "every layer is drawn")
    }

    @Test("Names stand in the reader's language where there is one; what is no language is left aside")
    func language() {
        func text(_ language: String?) -> JSONValue? {
            Self.layers(.light, language: language).first { $0["id"]?.stringValue == "label/place/city" }?["layout"]?[
                "text-field"]
        }
        #expect(text("de-AT") == ["coalesce", ["get", "name:de"], ["get", "name"]])
        #expect(text(nil) == ["get", "name"] && text("\"]}") == ["get", "name"])
    }

    @Test("A map of the world has the sea as its ground, others the land")
    func ground() {
        let (city, world) = (Self.layers(.light), Self.layers(.light, hasEarth: true))
        #expect(city[0]["paint"]?["background-color"]?.stringValue == BasemapLook.light.colors.land)
        #expect(world[0]["paint"]?["background-color"]?.stringValue == BasemapLook.light.colors.water)
        #expect(world[1]["source-layer"]?.stringValue == "earth")
    }

    @Test("The looks differ")
    func looks() {
        #expect(Set(BasemapLook.allCases.map { JSONValue.array(Self.layers($0)).text }).count == 3)
    }
}
