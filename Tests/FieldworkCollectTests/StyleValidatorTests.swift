import BrowserSupport
import Fieldwork
import FieldworkGeometry
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

/// The styles that we write, read by the map library, whose validator says what its specification does not allow.
@Suite(
    "Styles and the map library's validator", .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup"))
struct StyleValidatorTests {
    /// Gives a style to a map of its own, and waits until the library has read it: its complaints, without those of tiles, which
    /// are not there.
    private static let validate = """
        (window.validate = style => new Promise(resolve => {
          const holder = document.createElement('div');
          holder.style.cssText = 'position:fixed;width:64px;height:64px';
          document.body.append(holder);
          const empty = { version: 8, sources: {}, layers: [] };
          const map = new maplibregl.Map({ container: holder, style: empty, interactive: false });
          const complaints = [];
          map.on('error', event => {
            const error = event.error ?? event;
            if (error.status === undefined && event.tile === undefined) complaints.push(String(error.message ?? error));
          });
          const end = () => { map.remove(); holder.remove(); resolve(complaints); };
          map.once('load', () => {
            map.setStyle(style, { diff: false, validate: true });
            setTimeout(end, 150);
          });
        })) && true
        """

    private static func complaints(_ style: JSONValue, _ browser: Browser) async throws -> [String] {
        try await browser.evaluate("window.validate(\(style.text))")
    }

    /// A style of nothing but some layers, whose tiles nobody has.
    private static func style(_ layers: [JSONValue]) -> JSONValue {
        var sources = JSONObject()
        sources["s"] = ["type": "vector", "tiles": ["http://127.0.0.1:9/{z}/{y}/{x}"], "maxzoom": 1]
        var style = JSONObject()
        style["version"] = 8
        style["sources"] = .object(sources)
        style["glyphs"] = "http://127.0.0.1:9/{fontstack}/{range}"
        style["layers"] = .array(layers)
        return .object(style)
    }

    private static let labels: [JSONValue] = [
        [
            "labelExpression": "[Name] CONCAT \" m\"", "labelPlacement": "esriServerPointLabelPlacementAboveRight",
            "symbol": [
                "type": "esriTS", "color": [0, 0, 255, 255], "haloColor": [255, 255, 255, 255], "haloSize": 1,
                "font": ["size": 12, "weight": "bold"],
            ],
            "minScale": 50_000,
        ],
        [
            "labelExpressionInfo": ["expression": "$feature.Name"],
            "symbol": ["type": "esriTS", "color": [0, 0, 0, 255], "font": ["size": 9]],
        ],
    ]

    private static let heat: JSONValue = [
        "type": "heatmap", "field": "Height", "radius": 12, "maxDensity": 0.02,
        "colorStops": [
            ["ratio": 0, "color": [0, 0, 255, 0]], ["ratio": 0.5, "color": [0, 0, 255, 255]],
            ["ratio": 1, "color": [255, 0, 0, 255]],
        ],
    ]

    private static func layers(_ renderer: JSONValue, _ type: String) throws -> [JSONValue] {
        let fields = ["OBJECTID", "Name", "Height", "Kind", "State"]
        let looks = LayerStyle.Looks(
            geometryType: type, fields: fields, objectIDField: "OBJECTID", renderer: Data(renderer.text.utf8),
            labels: labels.map { Data($0.text.utf8) }, opacity: 0.7, minScale: 500_000, maxScale: 1_000)
        let style = LayerStyle(looks, source: "s")
        return try [style.drawing, style.labels].flatMap { try #require(try JSONParser.parse($0).arrayValue) }
    }

    private static func open(_ field: DamageField) async throws -> Browser {
        let browser = try await Browser.start()
        try await browser.open(field.app.door)
        try await browser.wait("document.documentElement.dataset.map === 'ready'", seconds: 60)
        #expect(try await browser.evaluate(validate, as: Bool.self))
        return browser
    }

    @Test("The styles of renderers, labels and heat maps pass the validator, which finds a wrong one")
    func renderers() async throws {
        try await DamageField.with(points: 1) { field in
            let browser = try await Self.open(field)
            defer { browser.stop() }
            let wrong: JSONValue = [
                "id": "wrong", "type": "circle", "source": "s", "source-layer": "f",
                "paint": ["circle-radius": "large"],
            ]
            #expect(try await Self.complaints(Self.style([wrong]), browser).count == 1)
            let every = RecordedRenderer.recorded + RecordedRenderer.made
            for recorded in every {
                let layers = try Self.layers(recorded.renderer, recorded.type.name)
                #expect(!layers.isEmpty, "\(recorded.name)")
                #expect(try await Self.complaints(Self.style(layers), browser) == [], "\(recorded.name)")
            }
            let heat = try Self.layers(Self.heat, "esriGeometryPoint")
            #expect(heat.first?["type"] == "heatmap")
            #expect(try await Self.complaints(Self.style(heat), browser) == [])
        }
    }

    @Test("The looks of a basemap pass the validator", arguments: BasemapLook.allCases)
    func basemaps(look: BasemapLook) async throws {
        try await DamageField.with(points: 1, hasBasemap: true) { field in
            let browser = try await Self.open(field)
            defer { browser.stop() }
            let description = TileSetDescription(
                name: "City", format: .vector, levels: 0...14,
                vectorLayers: BasemapSchema.Layer.allCases.map { ["id": .string($0.rawValue)] })
            let style = BasemapStyle(look: look).json(
                description, name: "City", addresses: .absolute("http://127.0.0.1:9/City"))
            #expect(style["layers"]?.arrayValue?.isEmpty == false)
            #expect(try await Self.complaints(style, browser) == [])
        }
    }
}
