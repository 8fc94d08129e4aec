import ArcGIS
import Foundation
import TestSupport
import Testing

/// What clients use of tables, features and their schema, in the types that they expect.
@Suite("The names of tables and features", .fewAtATime, .serialized)
struct TableSurface {
    init() { SeedServer.keepEditsAside() }

    @Test("A table says what it is before and after it is loaded")
    func table() async throws {
        try await SeedServer.with { url, _ in
            let table: ServiceFeatureTable = [url].map(ServiceFeatureTable.init(url:))[0]
            #expect(table.fields.isEmpty && table.geometryType == nil && table.layerInfo == nil)
            table.featureRequestMode = .manualCache
            try await table.load()
            let name: String = table.tableName
            table.displayName = "Reports"
            let (type, extent, reference): (Geometry.Type?, Envelope?, SpatialReference?) = (
                table.geometryType, table.extent, table.spatialReference
            )
            #expect(name == "Damage" && table.displayName == "Reports" && type == Point.self)
            #expect(reference == .webMercator && (extent?.spatialReference ?? .webMercator) == .webMercator)
            let (layer, count): (Layer?, Int) = (table.layer, table.numberOfFeatures)
            #expect(layer == nil && count == 0)
            let definition: PopupDefinition? = table.popupDefinition
            table.popupIsEnabled = table.popupIsEnabled && definition == nil
            let url: URL? = table.url
            let item: (any Item)? = table.item
            #expect(url?.lastPathComponent == "0" && item == nil)
            let geodatabase: ServiceGeodatabase? = table.serviceGeodatabase
            #expect(geodatabase?.table(withLayerID: 0) === table)
            let modes: [FeatureRequestMode] = [.undefined, .onInteractionCache, .onInteractionNoCache, .manualCache]
            #expect(modes.contains(table.featureRequestMode))
        }
    }

    @Test("Types, fields, domains and ids have the names that clients read")
    func schema() async throws {
        try await SeedServer.with { url, _ in
            let table = ServiceFeatureTable(url: url)
            try await table.load()
            let general: ArcGISFeatureTable = table
            let types: [FeatureType] = general.featureTypes
            #expect(types.first { $0.name == "None of these" } == nil)
            let (id, attachments, layerID): (String, Bool, Int64) = (
                general.objectIDField, general.hasAttachments, general.serviceLayerID
            )
            #expect(id == "OBJECTID" && !attachments && layerID == 0)
            let info: ArcGISFeatureLayerInfo? = general.layerInfo
            let relationships: [RelationshipInfo] = info?.relationshipInfos ?? []
            #expect(relationships.isEmpty && info?.serviceLayerID == 0 && info?.displayFieldName != nil)
            let values: ContingentValuesDefinition = general.contingentValuesDefinition
            try await values.load()
            let field: Field = try #require(table.field(named: "TYPDAMAGE"))
            let type: FieldType? = field.type
            #expect(field.name == "typdamage" && field.alias == "typdamage" && type == .text && field.isEditable)
            let domain: CodedValueDomain = try #require(field.domain as? CodedValueDomain)
            let (domainName, domainType): (String, FieldType?) = (domain.name, domain.fieldType)
            #expect(domainName == "DamageKind" && domainType == .text)
            let coded: ArcGIS.CodedValue = try #require(domain.codedValues.first)
            let (code, label): ((any Sendable)?, String) = (coded.code, coded.name)
            #expect(code as? String == "Inaccessible" && label == "Inaccessible")
            #expect(Set([coded, CodedValue(code: "Inaccessible", name: "Inaccessible")]).count == 1)
            let made = [
                Field.text(name: "NAME", alias: "Name", length: 20),
                Field(type: .int16, name: "N", alias: "Number"),
            ]
            #expect(made.map(\.name) == ["NAME", "N"])
            let kinds: [FieldType] = [
                .int16, .int32, .int64, .float32, .float64, .text, .date, .dateOnly, .timeOnly, .timestampOffset, .oid,
                .globalID, .guid, .blob, .geometry, .raster, .xml,
            ]
            #expect(kinds.count == 17)
        }
    }

    @Test("Features are made, added, changed and deleted under the names of the seeds")
    func features() async throws {
        try await SeedServer.with { url, rows in
            let table = ServiceFeatureTable(url: url)
            try await table.load()
            let attributes: [String: any Sendable] = ["typdamage": "Minor"]
            let place: Geometry = Point(x: 1, y: 2, spatialReference: .webMercator)
            let feature: Feature = table.makeFeature(attributes: attributes, geometry: place)
            #expect(table.canAdd && feature.table === table)
            try await table.add(feature)
            #expect(table.canUpdate(feature) && table.canDelete(feature))
            let element: any GeoElement = feature
            element.setAttributeValue("Major", forKey: "typdamage")
            element.geometry = Point(x: 2, y: 2, spatialReference: .webMercator)
            let value: (any Sendable)? = feature.attributeValue(forKey: "typdamage")
            #expect(value as? String == "Major" && "\(element.attributes["typdamage"] ?? "")" == "Major")
            try await table.update(feature)
            let own: ArcGISFeature = try #require(feature as? ArcGISFeature)
            own.refresh()
            try await own.load()
            #expect(try await table.hasLocalEdits())
            let results: [FeatureEditResult] = try await table.applyEdits()
            let result = try #require(results.first)
            let failure: (any Error)? = result.error
            #expect(!result.didCompleteWithErrors && failure == nil && result.attachmentResults.isEmpty)
            #expect(try await rows().count == 1)
            try await table.delete([feature])
            try await table.undoLocalEdits()
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
        }
    }

    @Test("What a layer has no attachments, relations or contingent values for says so by an error or by nothing")
    func extras() async throws {
        try await SeedServer.with { url, _ in
            let table = ServiceFeatureTable(url: url)
            try await table.load()
            let made = table.makeFeature(geometry: Point(x: 1, y: 2, spatialReference: .webMercator))
            let feature = try #require(made as? ArcGISFeature)
            try await table.add(feature)
            await #expect(throws: GeodatabaseError.self) { () async throws -> [ArcGIS.Attachment] in
                try await feature.attachments
            }
            await #expect(throws: GeodatabaseError.self) {
                let attachment = try await feature.addAttachment(
                    named: "a.jpg", contentType: "image/jpeg", data: Data())
                let (id, name, type): (Int, String, String) = (attachment.id, attachment.name, attachment.contentType)
                let bytes: Data = try await attachment.data
                try await feature.deleteAttachment(attachment)
                Issue.record("\(id) \(name) \(type) \(bytes.count) was kept")
            }
            let result: ContingentValuesResult? = table.contingentValues(with: feature, forFieldNamed: "typdamage")
            for value: ContingentValue in result?.contingentValues ?? [] {
                switch value {
                case let value as ContingentCodedValue: Issue.record("\(value.codedValue.name) is contingent")
                case let value as ContingentRangeValue:
                    Issue.record("\(String(describing: value.minValue)) to \(String(describing: value.maxValue))")
                default: break
                }
            }
            let groups: [String: [ContingentValue]] = result?.contingentValuesByFieldGroup ?? [:]
            #expect(groups.isEmpty)
            let violations: [ContingencyConstraintViolation] = table.validateContingencyConstraints(for: feature)
            #expect(violations.isEmpty)
            let related: [RelatedFeatureQueryResult] = try await table.queryRelatedFeatures(to: feature)
            #expect(related.isEmpty)
            #expect(throws: (any Error).self) { try feature.relate(to: feature) }
            try await table.undoLocalEdits()
        }
    }
}
