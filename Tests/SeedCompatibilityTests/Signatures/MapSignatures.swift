import ArcGIS
import Foundation

/// The members of maps and layers that clients rely on, each with the type that they rely on. That it compiles is the test.
enum MapSignatures {
    static func geoModel() {
        let _: KeyPath<GeoModel, [Layer]> = \.operationalLayers
        let _: (GeoModel) -> (Layer) -> Void = GeoModel.addOperationalLayer(_:)
        let _: (GeoModel) -> (Layer) -> Void = GeoModel.removeOperationalLayer(_:)
        let _: (GeoModel) -> () -> Void = GeoModel.removeAllOperationalLayers
        let _: KeyPath<GeoModel, [FeatureTable]> = \.tables
        let _: WritableKeyPath<GeoModel, Basemap?> = \.basemap
        let _: KeyPath<GeoModel, [Bookmark]> = \.bookmarks
        let _: (GeoModel) -> (Bookmark) -> Void = GeoModel.addBookmark(_:)
        let _: (GeoModel) -> ([Bookmark]) -> Void = GeoModel.addBookmarks(_:)
        let _: (GeoModel) -> () -> Void = GeoModel.removeAllBookmarks
        let _: WritableKeyPath<GeoModel, Viewpoint?> = \.initialViewpoint
        let _: KeyPath<GeoModel, (any Item)?> = \.item
        let _: KeyPath<GeoModel, SpatialReference?> = \.spatialReference
    }

    static func map() {
        let _: () -> Map = Map.init
        let _: (Basemap) -> Map = Map.init(basemap:)
        let _: (Basemap.Style) -> Map = Map.init(basemapStyle:)
        let _: (any Item) -> Map = Map.init(item:)
        let _: (SpatialReference) -> Map = Map.init(spatialReference:)
        let _: WritableKeyPath<Map, Double?> = \.minScale
        let _: WritableKeyPath<Map, Double?> = \.maxScale
        let _: WritableKeyPath<Map, Double> = \.referenceScale
        let _: WritableKeyPath<Map, Envelope?> = \.maxExtent
        let _: (Map) -> () -> Map = Map.clone
    }

    static func layer() {
        let _: KeyPath<Layer, String> = \.id
        let _: WritableKeyPath<Layer, String> = \.name
        let _: WritableKeyPath<Layer, Bool> = \.isVisible
        let _: WritableKeyPath<Layer, Double> = \.opacity
        let _: WritableKeyPath<Layer, Double?> = \.minScale
        let _: WritableKeyPath<Layer, Double?> = \.maxScale
        let _: KeyPath<Layer, Envelope?> = \.fullExtent
        let _: KeyPath<Layer, SpatialReference?> = \.spatialReference
        let _: KeyPath<Layer, (any Item)?> = \.item
        let _: KeyPath<Layer, [any LayerContent]> = \.subLayerContents
    }

    static func featureLayer() {
        let _: (FeatureTable) -> FeatureLayer = FeatureLayer.init(featureTable:)
        let _: (any Item) -> FeatureLayer = FeatureLayer.init(item:)
        let _: (any Item, Int) -> FeatureLayer = FeatureLayer.init(item:layerID:)
        let _: KeyPath<FeatureLayer, FeatureTable?> = \.featureTable
        let _: WritableKeyPath<FeatureLayer, Renderer?> = \.renderer
        let _: WritableKeyPath<FeatureLayer, FeatureRenderingMode> = \.renderingMode
        let _: WritableKeyPath<FeatureLayer, String> = \.definitionExpression
        let _: WritableKeyPath<FeatureLayer, DisplayFilterDefinition?> = \.displayFilterDefinition
        let _: WritableKeyPath<FeatureLayer, Bool> = \.labelsAreEnabled
        let _: WritableKeyPath<FeatureLayer, Bool> = \.scalesSymbols
        let _: WritableKeyPath<FeatureLayer, TimeInterval?> = \.refreshInterval
        let _: WritableKeyPath<FeatureLayer, TimeValue?> = \.timeOffset
        let _: WritableKeyPath<FeatureLayer, PopupDefinition?> = \.popupDefinition
        let _: WritableKeyPath<FeatureLayer, Bool> = \.popupsAreEnabled
        let _: (FeatureLayer) async throws -> FeatureQueryResult = { try await $0.selectedFeatures }
        let _: (FeatureLayer) -> (Feature) -> Void = FeatureLayer.selectFeature(_:)
        let _: (FeatureLayer) -> (QueryParameters, SelectionMode) async throws -> FeatureQueryResult = FeatureLayer
            .selectFeatures(withQuery:mode:)
        let _: (FeatureLayer) -> (Feature) -> Void = FeatureLayer.unselectFeature(_:)
        let _: (FeatureLayer) -> () -> Void = FeatureLayer.clearSelection
        let _: (FeatureLayer) -> (Bool, Feature) -> Void = FeatureLayer.setVisible(_:for:)
        let _: (FeatureLayer) -> () -> Void = FeatureLayer.resetFeaturesVisible
    }

    static func selectionMode() {
        let _: [SelectionMode] = [.add, .new, .subtract]
    }

    static func basemap() {
        let _: (Basemap.Style) -> Basemap = Basemap.init(style:)
        let _: (Layer) -> Basemap = Basemap.init(baseLayer:)
        let _: ([Layer], [Layer]) -> Basemap = Basemap.init(baseLayers:referenceLayers:)
        let _: (any Item) -> Basemap = Basemap.init(item:)
        let _: (URL) -> Basemap = Basemap.init(url:)
        let _: KeyPath<Basemap, [Layer]> = \.baseLayers
        let _: KeyPath<Basemap, [Layer]> = \.referenceLayers
        let _: WritableKeyPath<Basemap, String> = \.name
    }

    static func basemapStyle() {
        let _: [Basemap.Style] = [
            .arcGISStreets, .arcGISOceans, .arcGISTopographic, .arcGISImagery, .arcGISImageryStandard,
            .arcGISNavigation, .arcGISLightGray, .arcGISDarkGray, .arcGISTerrain, .arcGISNewspaper, .osmStandard,
        ]
    }

    static func viewpoint() {
        let _: (Point, Double, Double) -> Viewpoint = Viewpoint.init(center:scale:rotation:)
        let _: (Double, Double, Double, Double) -> Viewpoint = Viewpoint.init(latitude:longitude:scale:rotation:)
        let _: (Geometry, Double) -> Viewpoint = Viewpoint.init(boundingGeometry:rotation:)
        let _: KeyPath<Viewpoint, Viewpoint.Kind> = \.kind
        let _: KeyPath<Viewpoint, Geometry> = \.targetGeometry
        let _: KeyPath<Viewpoint, Double> = \.targetScale
        let _: KeyPath<Viewpoint, Double> = \.rotation
        let _: (Viewpoint) -> () -> Data = Viewpoint.toJSON
    }

    static func bookmark() {
        let _: (String, Viewpoint?) -> Bookmark = Bookmark.init(name:viewpoint:)
    }

    static func identifyLayerResult() {
        let _: KeyPath<IdentifyLayerResult, any LayerContent> = \.layerContent
        let _: KeyPath<IdentifyLayerResult, [any GeoElement]> = \.geoElements
        let _: KeyPath<IdentifyLayerResult, [Popup]> = \.popups
        let _: KeyPath<IdentifyLayerResult, [IdentifyLayerResult]> = \.sublayerResults
    }

    static func graphic() {
        let _: (Geometry?, [String: any Sendable], Symbol?) -> Graphic = Graphic.init(geometry:attributes:symbol:)
        let _: WritableKeyPath<Graphic, Symbol?> = \.symbol
        let _: WritableKeyPath<Graphic, Bool> = \.isSelected
        let _: WritableKeyPath<Graphic, Bool> = \.isVisible
        let _: WritableKeyPath<Graphic, Int> = \.zIndex
    }

    static func graphicsOverlay() {
        let _: ([Graphic], GraphicsOverlay.RenderingMode) -> GraphicsOverlay = GraphicsOverlay.init(
            graphics:renderingMode:)
        let _: WritableKeyPath<GraphicsOverlay, String> = \.id
        let _: KeyPath<GraphicsOverlay, [Graphic]> = \.graphics
        let _: (GraphicsOverlay) -> (Graphic) -> Void = GraphicsOverlay.addGraphic(_:)
        let _: (GraphicsOverlay) -> () -> Void = GraphicsOverlay.removeAllGraphics
        let _: WritableKeyPath<GraphicsOverlay, Renderer?> = \.renderer
    }
}
