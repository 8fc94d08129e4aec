import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Domains and fields that are made on the device, and what was done since a moment.
@Suite("Domains and fields of a geodatabase", .fewAtATime)
struct GeodatabaseSchemaTests {
    @Test("A domain is made, had by a field, there after a restart, and deleted when no field has it")
    func domains() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let plumage = try await file.geodatabase.makeDomain(
                description: CodedValueDomainDescription(
                    name: "plumage", fieldType: .text,
                    codedValues: [.init(code: "w", name: "White"), .init(code: "g", name: "Grey")]))
            #expect((plumage as? CodedValueDomain)?.codedValues.map(\.name) == ["White", "Grey"])
            let heights = try await file.geodatabase.makeDomain(
                description: RangeDomainDescription(
                    name: "height", fieldType: .float64, minValue: 0.0, maxValue: 2.5))
            #expect((heights as? RangeDomain)?.maxValue as? Double == 2.5)
            #expect(file.geodatabase.domains.map(\.name) == ["kinds", "plumage", "height"])
            await #expect(throws: GeodatabaseError.self) {
                _ = try await file.geodatabase.makeDomain(
                    description: CodedValueDomainDescription(name: "kinds", fieldType: .text, codedValues: []))
            }
            await #expect(throws: GeodatabaseError.self) {
                _ = try await file.geodatabase.makeDomain(
                    description: RangeDomainDescription(name: "x", fieldType: .int16, minValue: "a", maxValue: 3))
            }
            let field = FieldDescription(name: "plumage", fieldType: .text)
            field.domainName = "plumage"
            try await file.birds.addField(description: field)
            await #expect(throws: GeodatabaseError.self) { try await file.geodatabase.deleteDomain(named: "plumage") }
            try await file.geodatabase.deleteDomain(named: "height")
            await #expect(throws: GeodatabaseError.self) { try await file.geodatabase.deleteDomain(named: "height") }
            file.geodatabase.close()
            let again = try await Sightings(url)
            #expect(again.geodatabase.domains.map(\.name) == ["kinds", "plumage"])
            try await again.birds.deleteField(named: "plumage")
            try await again.geodatabase.deleteDomain(named: "plumage")
            #expect(again.geodatabase.domains.map(\.name) == ["kinds"])
        }
    }

    @Test("A field is added to rows that are there, is edited, and is deleted with its values")
    func fields() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            try await file.add("heron")
            let description = FieldDescription(name: "ring", fieldType: .text)
            description.length = 5
            description.defaultValue = "none"
            let field = try await file.birds.addField(description: description)
            #expect(field.name == "ring" && field.length == 5)
            #expect(file.birds.field(named: "ring") != nil)
            try await file.change("heron", ["ring": "A12"])
            #expect(try await file.bird("heron")?.attributes["ring"] as? String == "A12")
            await #expect(throws: GeodatabaseError.self) { try await file.birds.addField(description: description) }
            await #expect(throws: GeodatabaseError.self) { try await file.birds.deleteField(named: "GlobalID") }
            await #expect(throws: GeodatabaseError.self) { try await file.birds.deleteField(named: "nothing") }
            try await file.birds.deleteField(named: "ring")
            #expect(file.birds.field(named: "ring") == nil)
            #expect(try await file.bird("heron")?.attributes.keys.contains("ring") == false)
        }
    }

    @Test("The schema of a replica is its service's alone; the state of each of its layers is told")
    func replica() async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            await #expect(throws: GeodatabaseError.self) {
                try await geodatabase.damages.addField(description: FieldDescription(name: "x", fieldType: .text))
            }
            await #expect(throws: GeodatabaseError.self) {
                _ = try await geodatabase.makeDomain(
                    description: RangeDomainDescription(name: "x", fieldType: .int16, minValue: 1, maxValue: 3))
            }
            let info = try #require(geodatabase.syncInfo(forLayerID: 0))
            #expect(info.syncID == geodatabase.syncID && info.layerID == 0)
            #expect(info.serverGeneration == geodatabase.serverGeneration && info.lastSyncDate != nil)
            #expect(geodatabase.syncInfo(forLayerID: 7) == nil)
            #expect(geodatabase.annotationTables.isEmpty && geodatabase.dimensionTables.isEmpty)
            #expect(geodatabase.annotationTable(named: "Damage") == nil)
        }
    }

    @Test("What was added, changed and deleted since a moment is told, deleted features as they were")
    func sinceMoment() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            func comments(_ result: FeatureQueryResult) -> [String] {
                result.features().compactMap { $0.attributes["comments"] as? String }.sorted()
            }
            try await DeviceClock.$current.withValue(DeviceClock(read: { Date(timeIntervalSince1970: 1_000_000) })) {
                try await file.add("early")
                try await file.add("changed")
            }
            let moment = Date(timeIntervalSince1970: 2_000_000)
            try await DeviceClock.$current.withValue(DeviceClock(read: { Date(timeIntervalSince1970: 3_000_000) })) {
                try await file.add("late")
                try await file.change("changed", ["kind": Int32(2)])
                try await file.birds.delete(try #require(try await file.bird("early")))
            }
            #expect(comments(try await file.birds.queryAddedFeatures()) == ["changed", "late"])
            #expect(comments(try await file.birds.queryAddedFeatures(since: moment)) == ["late"])
            #expect(comments(try await file.birds.queryUpdatedFeatures(since: moment)) == ["changed"])
            #expect(comments(try await file.birds.queryDeletedFeatures(since: moment)) == ["early"])
            #expect(comments(try await file.birds.queryDeletedFeatures()).isEmpty)
        }
    }

    @Test("What a sync exchanged is kept where its parameters say so, and nowhere else")
    func deltas() async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            try await geodatabase.addDamage("New")
            let job = try await OfflineService.syncJob(geodatabase, environment: service.environment())
            #expect(job.deltaFileURL == nil)
            job.parameters.keepsGeodatabaseDeltas = true
            job.start()
            #expect(try await job.output.isEmpty)
            let folder = try #require(job.deltaFileURL)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files.count == 2)
            let upload = try #require(files.first { $0.hasSuffix("upload.json") })
            #expect(try String(contentsOf: folder.appending(path: upload), encoding: .utf8).contains("New"))
        }
    }
}
