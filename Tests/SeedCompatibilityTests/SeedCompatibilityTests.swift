import ArcGIS
import FieldworkREST
import Foundation
import TestSupport
import Testing

/// Code of the source documents, which says `import ArcGIS`, against a real server.
@Suite("The source documents' code", .fewAtATime, .serialized)
struct SeedCompatibilityTests {
    init() { SeedServer.keepEditsAside() }

    @Test("The feature management sample creates, changes, moves and deletes a feature")
    func manageFeatures() async throws {
        try await SeedServer.with { @MainActor url, rows in
            let model = ManageFeaturesModel(serviceURL: url)
            await model.loadData()
            let data = try #require(model.data).get()
            #expect(data.map.initialViewpoint?.targetScale == 3e7)
            try await data.map.load()
            #expect(data.map.operationalLayers.first === data.featureLayer)

            let place = Point(x: -10_800_000, y: 4_500_000, spatialReference: .webMercator)
            await model.createFeature(point: place)
            #expect(model.status == "Create feature succeeded.")
            var row = try #require(try await rows().first)
            #expect(row.attributes["typdamage"] == .text("Inaccessible"))

            let identified = try await data.featureLayer.identify(at: place, tolerance: 10)
            let feature = try #require(identified.geoElements.first as? Feature)
            data.featureLayer.selectFeature(feature)
            #expect(
                model.callout(feature: feature, table: data.featureTable) == [
                    "ID: \(row.objectID)", "Damage: Inaccessible",
                ])
            model.clearSelection()
            #expect(Array(try await data.featureLayer.selectedFeatures.features()).isEmpty)

            await model.updateAttribute(for: feature, damageKind: .destroyed)
            #expect(model.status == "Update attribute succeeded.")
            let target = Viewpoint(
                center: Point(x: -10_700_000, y: 4_400_000, spatialReference: .webMercator), scale: 1e6)
            await model.updateGeometry(for: feature, geometry: target.targetGeometry)
            #expect(model.status == "Update geometry succeeded.")
            row = try #require(try await rows().first)
            #expect(row.attributes["typdamage"] == .text("Destroyed"))
            #expect(row.geometry == target.targetGeometry)

            await model.delete(feature: feature)
            #expect(model.status == "Delete feature succeeded.")
            #expect(try await rows().isEmpty)
        }
    }

    @Test("The editing guide's fragments add, change, delete and undo")
    func editFeatures() async throws {
        try await SeedServer.with { url, rows in
            let geodatabase = ServiceGeodatabase(url: url)
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let guide = EditFeaturesGuide(
                damageTable: table, damageLayer: FeatureLayer(featureTable: table), serviceGeodatabase: geodatabase)
            try await guide.addFeature(point: Point(x: 1, y: 2, spatialReference: .webMercator))
            _ = try await geodatabase.applyEdits()
            #expect(try await rows().count == 1)

            let feature = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            try await guide.updateFeature(feature)
            _ = try await geodatabase.applyEdits()
            #expect(try await rows().first?.attributes["typdamage"] == .text("Inaccessible"))
            let moved = try #require(try await rows().first?.geometry as? Point)
            #expect(abs(moved.y - 50_002) < 0.001)

            let parameters = QueryParameters()
            parameters.whereClause = "typdamage = 'Inaccessible'"
            try await guide.damageLayer.selectFeatures(withQuery: parameters, mode: .new)
            try await guide.deleteSelectedFeatures()
            #expect(geodatabase.hasLocalEdits)
            try await guide.undoChanges()
            #expect(!geodatabase.hasLocalEdits)
            try await guide.deleteSelectedFeatures()
            _ = try await geodatabase.applyEdits()
            #expect(try await rows().isEmpty)
        }
    }

    @Test("Pop-ups and forms of clients work on a feature of the service")
    @MainActor
    func popupsAndForms() async throws {
        try await SeedServer.with { url, _ in
            try await Self.showAndEdit(url)
        }
    }

    @MainActor
    private static func showAndEdit(_ url: URL) async throws {
        let table = ServiceFeatureTable(url: url)
        try await table.load()
        let feature = try #require(
            table.makeFeature(
                attributes: ["typdamage": "Minor", "primcause": "Fire"],
                geometry: Point(x: 1, y: 2, spatialReference: .webMercator)) as? ArcGISFeature)
        let popup = PopupModel(popup: Popup(geoElement: feature))
        try await popup.evaluate()
        #expect(popup.lines.contains("typdamage: Minor") && popup.lines.contains("primcause: Fire"))
        let form = FormModel(feature: feature)
        let errors = try await form.put("Unheard of", into: "typdamage")
        #expect(errors.count == 1)
        #expect(try await !form.submit())
        #expect(try await form.put("Major", into: "typdamage").isEmpty)
        #expect(try await form.submit())
        #expect(try await SurfaceUses.related(feature).isEmpty)
        let fields = form.form.elements.compactMap { $0 as? FieldFormElement }
        #expect(fields.map(form.describe) == ["list or ", "one line of 0 to 254"])
        #expect(fields.first?.codedValues.count == 5 && fields.last?.isMultiline == false)
        try await table.undoLocalEdits()
    }

    @Test("What samples draw with says which symbol each graphic and feature has")
    @MainActor
    func drawing() throws {
        let model = DrawingModel()
        model.show([Point(x: 1, y: 2), Point(x: 3, y: 4)])
        #expect(model.overlay.graphics.count == 3 && model.overlay.graphics.first?.isSelected == true)
        let symbols = model.overlay.graphics.compactMap { model.overlay.symbol(for: $0) }
        #expect(symbols.map { $0 is SimpleMarkerSymbol } == [true, true, false])
        model.clear()
        #expect(model.overlay.graphics.isEmpty)
        let layer = FeatureLayer(featureTable: ServiceFeatureTable(url: URL(filePath: "/none/FeatureServer/0")))
        model.style(layer)
        #expect(layer.labelDefinitions.count == 1 && layer.labelDefinitions.first?.textSymbol?.size == 12)
        model.frame()
        #expect(model.map.bookmarks.map(\.name) == ["Home"] && model.map.minScale == 100_000)
    }
}
