import ArcGIS
import Foundation

/// How samples of the vendor's SDK draw: each declaration is used in the way that they use it.
@MainActor
final class DrawingModel {
    let overlay = GraphicsOverlay(graphics: [])
    let map = Map(basemapStyle: .arcGISTopographic)

    func show(_ points: [Point]) {
        let symbol = SimpleMarkerSymbol(style: .diamond, color: .red, size: 10)
        symbol.outline = SimpleLineSymbol(style: .solid, color: .white, width: 1)
        overlay.addGraphics(points.map { Graphic(geometry: $0, attributes: ["kind": "place"], symbol: symbol) })
        overlay.addGraphic(Graphic(geometry: points.first))
        overlay.renderer = SimpleRenderer(symbol: SimpleFillSymbol(style: .solid, color: .blue.withAlphaComponent(0.3)))
        overlay.graphics.first?.isSelected = true
        overlay.graphics.last?.zIndex = 3
    }

    func clear() { overlay.removeAllGraphics() }

    func style(_ layer: FeatureLayer) {
        let values = [
            UniqueValue(
                description: "Oaks", label: "Oak", symbol: SimpleMarkerSymbol(style: .circle, color: .green, size: 8),
                values: ["QU"])
        ]
        layer.renderer = UniqueValueRenderer(
            fieldNames: ["SPECIES"], uniqueValues: values, defaultLabel: "Other",
            defaultSymbol: SimpleMarkerSymbol(style: .cross, color: .gray, size: 8))
        layer.resetRenderer()
        let label = LabelDefinition(
            labelExpression: ArcadeLabelExpression(arcadeString: "$feature.NAME"),
            textSymbol: TextSymbol(color: .black, size: 12))
        label.placement = .polygonAlwaysHorizontal
        layer.addLabelDefinition(label)
        layer.labelsAreEnabled = true
    }

    func frame() {
        map.initialViewpoint = Viewpoint(latitude: 45.5, longitude: -122.6, scale: 10_000)
        map.addBookmark(Bookmark(name: "Home", viewpoint: map.initialViewpoint))
        map.minScale = 100_000
    }
}
