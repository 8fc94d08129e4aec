import ArcGIS
import Foundation
import TestSupport
import Testing

/// The names of the vendor's SDK for geodatabases, as an app writes them.
@Suite("The names of geodatabases", .fewAtATime)
struct OfflineSurfaceTests {
    @Test("A geodatabase is made with domains, fields and attachments by the vendor's names alone")
    func geodatabase() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-names-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let geodatabase = try await Geodatabase.createEmpty(fileURL: folder.appending(path: "new.gpkg"))
        let states = CodedValueDomainDescription(
            name: "states", fieldType: .text,
            codedValues: [CodedValue(code: "g", name: "Good"), CodedValue(code: "p", name: "Poor")])
        let domain: Domain = try await geodatabase.makeDomain(description: states)
        #expect(geodatabase.domains.map(\.name) == [domain.name])
        let description = TableDescription(
            name: "Hydrants", spatialReference: .webMercator, geometryType: Point.self)
        description.hasAttachments = true
        description.addFieldDescriptions([FieldDescription(name: "number", fieldType: .int32)])
        let table = try await geodatabase.makeTable(description: description)
        let state = FieldDescription(name: "state", fieldType: .text)
        state.domainName = domain.name
        let field: Field = try await table.addField(description: state)
        #expect(field.domain?.name == "states" && table.hasAttachments)
        let feature = table.makeFeature(
            attributes: ["number": Int32(7), "state": "g"], geometry: Point(x: 1, y: 2, spatialReference: .webMercator))
        try await table.add(feature)
        let hydrant = try #require(feature as? ArcGISFeature)
        let photo = try await hydrant.addAttachment(
            named: "photo.jpg", contentType: "image/jpeg", data: Data("photo".utf8))
        #expect(try await hydrant.attachments.map(\.name) == ["photo.jpg"])
        #expect(try await photo.data == Data("photo".utf8))
        try await hydrant.updateAttachment(photo, name: "b.png", contentType: "image/png", data: Data("b".utf8))
        try await hydrant.deleteAttachments([photo])
        let added = try await table.queryAddedFeatures(since: nil).features()
        #expect(added.map { $0.attributes["state"] as? String } == ["g"])
        try await table.delete(feature)
        #expect(try await table.queryUpdatedFeatures().features().map(\.attributes.count).isEmpty)
        #expect(try await table.queryDeletedFeatures().features().map(\.attributes.count).isEmpty)
        try await table.deleteField(named: "state")
        try await geodatabase.deleteDomain(named: "states")
        #expect(geodatabase.domains.isEmpty && geodatabase.syncInfo(forLayerID: 0) == nil)
        #expect(geodatabase.annotationTables.isEmpty && geodatabase.dimensionTables.isEmpty)
        #expect(geodatabase.annotationTable(named: "Hydrants") == nil)
        geodatabase.close()
    }

    @Test("What is taken offline, and what a sync keeps, is said by the vendor's names")
    func parameters() {
        let generate = GenerateGeodatabaseParameters()
        generate.returnsAttachments = true
        generate.attachmentSyncDirection = .bidirectional
        generate.addLayerOption(GenerateLayerOption(layerID: 0, whereClause: "number > 3", includesRelated: false))
        #expect(generate.layerOptions.map(\.layerID) == [0])
        let sync = SyncGeodatabaseParameters()
        sync.keepsGeodatabaseDeltas = true
        sync.rollsBackOnFailure = true
        sync.addLayerOption(SyncLayerOption(layerID: 0, syncDirection: .upload))
        #expect(sync.keepsGeodatabaseDeltas && sync.layerOptions.map(\.syncDirection) == [.upload])
    }
}
