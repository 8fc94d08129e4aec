import ArcGIS
import Foundation
import TestSupport
import Testing

/// What clients use of maps and layers, in the types that they expect.
@Suite("The names of maps and layers", .fewAtATime, .serialized)
struct MapSurface {
    init() { SeedServer.keepEditsAside() }

    @Test("A map holds layers, tables, a basemap, bookmarks and limits")
    func map() async throws {
        try await SeedServer.with { url, _ in
            let tables = [url].map(ServiceFeatureTable.init(url:))
            let layers = tables.map(FeatureLayer.init(featureTable:))
            let map = Map(basemapStyle: .arcGISStreets)
            let model: GeoModel = map
            model.addOperationalLayers(layers)
            model.addOperationalLayer(GroupLayer())
            model.insertOperationalLayer(GroupLayer(), at: 0)
            model.removeOperationalLayer(model.operationalLayers[0])
            model.addTables([ServiceFeatureTable(url: url)])
            model.addBookmarks([Bookmark(name: "Here"), Bookmark(name: "There", viewpoint: nil)])
            model.removeBookmark(model.bookmarks[0])
            model.removeBookmarks([])
            #expect(model.bookmarks.map(\.name) == ["There"] && model.tables.count == 1)
            model.removeAllBookmarks()
            let item: (any Item)? = model.item
            #expect(model.operationalLayers.first === layers.first && item == nil)
            map.minScale = 100_000
            map.maxScale = nil
            map.referenceScale = 4_000
            map.maxExtent = Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1, spatialReference: .webMercator)
            map.initialViewpoint = Viewpoint(latitude: 45, longitude: -122, scale: 4_000)
            try await map.load()
            #expect(map.spatialReference == .webMercator && map.loadStatus == .loaded)
            let other: Map = map.clone()
            #expect(other.loadStatus == .notLoaded && other.minScale == 100_000)
            #expect(other.operationalLayers.count == 2 && other.operationalLayers.first !== layers.first)
            model.removeAllOperationalLayers()
            #expect(map.operationalLayers.isEmpty && other.operationalLayers.count == 2)
            let more = [
                Map(), Map(spatialReference: .wgs84), Map(basemap: Basemap(baseLayers: [], referenceLayers: [])),
            ]
            #expect(more.compactMap { $0.basemap?.name } == [""])
        }
    }

    @Test("A map and a basemap come from an address, and say when it serves none")
    func addresses() async throws {
        let page = try #require(URL(string: "http://127.0.0.1:9/portal/home/item.html?id=0123456789abcdef"))
        let item = try #require(PortalItem(url: page))
        let id: Item.ID = try #require(PortalItem.ID("0123456789abcdef"))
        let known: PortalItem.ID? = item.id
        #expect(known == id && id.rawValue == "0123456789abcdef" && PortalItem.ID("../secret") == nil)
        let words: [String] = [item.title, item.description, item.snippet] + item.tags
        #expect(words == ["", "", ""])
        for map in [Map(item: item), try #require(Map(url: page))] {
            await #expect(throws: ServiceError.self) { try await map.load() }
            #expect(map.item?.id == id)
        }
        let nowhere = try #require(URL(string: "mailto:nobody@example.com"))
        #expect(Map(url: nowhere) == nil)
        let basemaps = [
            Basemap(item: item), Basemap(url: page), Basemap(style: .osmStandard), Basemap(baseLayer: GroupLayer()),
        ]
        await basemaps.load()
        #expect(basemaps.map(\.loadStatus) == [.failed, .failed, .loaded, .loaded])
        let layer = FeatureLayer(item: item, layerID: 2)
        let first = FeatureLayer(item: item)
        let table = ServiceFeatureTable(item: item, layerID: 1)
        await [layer, first].load()
        #expect(layer.item?.id == id && table.item?.id == id && table.url == nil)
        #expect(layer.loadError is ServiceError && first.loadError is ServiceError)
    }

    @Test("A layer is shown, hidden, limited, selected and cloned by the names that clients use")
    func layer() async throws {
        try await SeedServer.with { url, _ in
            let table = ServiceFeatureTable(url: url)
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            let (id, general): (String, Layer) = (layer.id, layer)
            general.name = "Reports"
            general.isVisible = true
            general.opacity = 0.5
            general.minScale = 50_000
            general.maxScale = 100
            #expect(general.isVisible(atScale: 1_000) && !general.isVisible(atScale: 10) && !id.isEmpty)
            let (extent, reference): (Envelope?, SpatialReference?) = (layer.fullExtent, layer.spatialReference)
            #expect((extent?.spatialReference ?? .webMercator) == .webMercator && reference == .webMercator)
            #expect(general.subLayerContents.isEmpty)
            let item: (any Item)? = layer.item
            let shown: FeatureTable? = layer.featureTable
            #expect(item == nil && shown === table && table.layer as? FeatureLayer === layer)
            layer.definitionExpression = "typdamage = 'Major'"
            layer.renderingMode = .dynamic
            let modes: [FeatureRenderingMode] = [.automatic, .static, .dynamic]
            layer.scalesSymbols = true
            layer.labelsAreEnabled = true
            layer.refreshInterval = 3_600
            layer.timeOffset = TimeValue(duration: 10, unit: .days)
            layer.isTimeFilteringEnabled = false
            layer.popupsAreEnabled = layer.popupDefinition == nil
            layer.resetRenderer()
            let renderer: Renderer? = layer.renderer
            _ = (renderer, layer.displayFilterDefinition)
            let copy: FeatureLayer = layer.clone()
            #expect(copy.renderingMode == .dynamic && modes.contains(copy.renderingMode) && copy.scalesSymbols)
            #expect(copy.refreshInterval == 3_600 && copy.timeOffset == layer.timeOffset)
            #expect(copy.definitionExpression == layer.definitionExpression && copy.featureTable !== table)
            #expect(copy.name == "Reports" && copy.loadStatus == .notLoaded && copy.minScale == 50_000)
            layer.refreshInterval = nil
        }
    }

    @Test("Features are selected one by one, many, and by a query")
    func selection() async throws {
        try await SeedServer.with { url, _ in
            let table = ServiceFeatureTable(url: url)
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            for kind in ["Minor", "Major"] {
                try await table.add(
                    table.makeFeature(
                        attributes: ["typdamage": kind], geometry: Point(x: 1, y: 2, spatialReference: .webMercator)))
            }
            let parameters = QueryParameters()
            parameters.whereClause = "1=1"
            try await layer.selectFeatures(withQuery: parameters, mode: .new)
            let selected: [Feature] = Array(try await layer.selectedFeatures.features())
            #expect(selected.count == 2)
            layer.unselectFeature(selected[0])
            layer.unselectFeatures([selected[1]])
            layer.selectFeature(selected[0])
            layer.selectFeatures(selected)
            layer.setVisible(false, for: selected[0])
            layer.resetFeaturesVisible()
            let modes: [SelectionMode] = [.add, .new, .subtract]
            for mode in modes { try await layer.selectFeatures(withQuery: parameters, mode: mode) }
            #expect(Array(try await layer.selectedFeatures.features()).isEmpty)
            let onDismiss: () -> Void = layer.clearSelection
            onDismiss()
            let found: IdentifyLayerResult = try await layer.identify(
                at: Point(x: 1, y: 2, spatialReference: .webMercator), tolerance: 1)
            let (content, elements): (any LayerContent, [any GeoElement]) = (found.layerContent, found.geoElements)
            let (popups, parts): ([Popup], [IdentifyLayerResult]) = (found.popups, found.sublayerResults)
            #expect(content === layer && elements.count == 2 && popups.isEmpty && parts.isEmpty)
            try await table.undoLocalEdits()
        }
    }

    @Test("A viewpoint keeps its kind, and graphics are kept in an overlay")
    func viewpoints() throws {
        let center = Point(x: 1, y: 2, spatialReference: .webMercator)
        let views = [
            Viewpoint(center: center, scale: 1_000), Viewpoint(latitude: 1, longitude: 2, scale: 1_000, rotation: 90),
            Viewpoint(boundingGeometry: center.extent),
        ]
        let kinds: [Viewpoint.Kind] = views.map(\.kind)
        #expect(kinds == [.centerAndScale, .centerAndScale, .boundingGeometry])
        let (target, scale, rotation): (Geometry, Double, Double) = (
            views[0].targetGeometry, views[0].targetScale, views[1].rotation
        )
        #expect(target == center && scale == 1_000 && rotation == 90 && views[2].targetScale.isNaN)
        #expect(try Viewpoint.fromJSON(views[1].toJSON()) == views[1])
        let overlay = GraphicsOverlay(graphics: [], renderingMode: .dynamic)
        overlay.id = "sketch"
        let graphic = Graphic(geometry: center, attributes: [:], symbol: nil)
        overlay.addGraphic(graphic)
        overlay.addGraphics([Graphic()])
        overlay.removeGraphic(graphic)
        graphic.isVisible = false
        #expect(overlay.graphics.count == 1 && overlay.renderer == nil && !graphic.isVisible && !graphic.isSelected)
        overlay.removeAllGraphics()
        #expect(overlay.graphics.isEmpty)
        let styles: [Basemap.Style] = [
            .arcGISStreets, .arcGISOceans, .arcGISTopographic, .arcGISImagery, .arcGISImageryStandard,
            .arcGISNavigation,
            .arcGISLightGray, .arcGISDarkGray, .arcGISTerrain, .arcGISNewspaper, .osmStandard,
        ]
        #expect(styles.count == 11)
    }
}
