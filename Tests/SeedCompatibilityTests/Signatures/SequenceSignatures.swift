import ArcGIS
import Foundation

/// What clients observe and the members that take sequences, with the types that they rely on. That it compiles is the test.
enum SequenceSignatures {
    static func observed(_ form: FeatureForm, _ field: FieldFormElement, _ text: TextFormElement) async {
        for await title in form.$title.dropFirst() { let _: String = title }
        for await hasEdits in form.$hasEdits { let _: Bool = hasEdits }
        for await isVisible in field.$isVisible { let _: Bool = isVisible }
        for await isRequired in field.$isRequired { let _: Bool = isRequired }
        for await isEditable in field.$isEditable { let _: Bool = isEditable }
        for await value in field.$value { let _: (any Sendable)? = value }
        for await shown in text.$text { let _: String = shown }
    }

    static func loaded(_ table: FeatureTable, _ layer: Layer, _ model: GeoModel, _ service: ServiceGeodatabase) async {
        for await status in table.$loadStatus { let _: LoadStatus = status }
        for await status in layer.$loadStatus { let _: LoadStatus = status }
        for await status in model.$loadStatus { let _: LoadStatus = status }
        for await status in service.$loadStatus { let _: LoadStatus = status }
        await [table].load()
        await [layer].load()
    }

    static func ran(_ job: Job) async {
        for await status in job.$status { let _: Job.Status = status }
        for message in job.messages { let _: JobMessage = message }
    }

    static func edited(_ table: FeatureTable, _ found: FeatureQueryResult) async throws {
        try await table.delete(found.features())
        try await table.delete([Feature]())
        let set: FeatureSet = found
        let _: AnySequence<Feature> = set.features()
    }

    static func arranged(_ map: Map, _ layers: [FeatureLayer], _ tables: [ServiceFeatureTable]) {
        map.addOperationalLayers(layers)
        map.addTables(tables)
        map.removeBookmark(Bookmark(name: "Here"))
        map.removeBookmarks([Bookmark(name: "There", viewpoint: nil)])
        let overlay = GraphicsOverlay(graphics: [])
        overlay.addGraphics([Graphic]())
        overlay.removeGraphic(Graphic())
        for layer in layers {
            layer.selectFeatures([ArcGISFeature]())
            layer.unselectFeatures([Feature]())
            let _: FeatureLayer = layer.clone()
        }
    }

    static func made(_ points: [Point]) {
        let _: Multipoint = Multipoint(points: points)
        let _: Polyline = Polyline(points: points, spatialReference: .wgs84)
        let polygon: Polygon = Polygon(points: points)
        let _: Polygon? = GeometryEngine.project(polygon, into: .webMercator)
        let _: Envelope? = GeometryEngine.combineExtents(polygon, polygon)
        let box = Envelope(xRange: 0...1, yRange: 0...2, spatialReference: .wgs84)
        let _: [Double] = [box.xMin, box.yMin, box.xMax, box.yMax]
        let _: [Double?] = [box.zMin, box.zMax, box.mMin, box.mMax]
        let _: Map? = URL(string: "https://example.com/home/item.html?id=1").flatMap { Map(url: $0) }
    }
}
