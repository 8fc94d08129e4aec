import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork

@Suite("The record of a replica")
struct ReplicaRecordTests {
    private static let ids = (0..<3).map { _ in UUID() }

    private static func record() throws -> ReplicaRecord {
        try ReplicaRecord(json: [
            "serviceURL": "http://127.0.0.1/arcgis/rest/services/Trees/FeatureServer",
            "replicaID": .string(UUID().uuidString), "syncModel": .string(Geodatabase.SyncModel.geodatabase.rawValue),
        ])
    }

    @Test("Refused edits are read as they were written, with what was asked")
    func refused() throws {
        var record = try Self.record()
        #expect(!record.hasRefused)
        record.refused = [0: [Self.ids[0]: .add, Self.ids[1]: .update], 7: [Self.ids[2]: .delete]]
        record.refusedAttachments = [0: [Self.ids[2]: .update]]
        let again = try ReplicaRecord(json: try JSONParser.parse(record.json.text))
        #expect(again.refused == record.refused && again.refusedAttachments == record.refusedAttachments)
        #expect(again.hasRefused && again == record)
    }

    @Test("What is half taken over is read as it was written, with nothing else in the record")
    func halfTaken() throws {
        var record = try Self.record()
        record.halfTaken = [0: [Self.ids[0]], 7: [Self.ids[1], Self.ids[2]]]
        let again = try ReplicaRecord(json: try JSONParser.parse(record.json.text))
        #expect(again.halfTaken == record.halfTaken)
        record.halfTaken = [:]
        #expect(try ReplicaRecord(json: try JSONParser.parse(record.json.text)).halfTaken.isEmpty)
    }

    @Test("All that a record can hold is read as it was written")
    func everything() throws {
        let plain = try Self.record()
        var record = try Self.record()
        record.serviceURL = record.serviceURL.appending(path: "other")
        record.replicaName = "crew"
        record.syncModel = .layer
        record.serverGeneration = 7
        record.layerGenerations = [0: 7, 3: 6]
        record.sentGeneration = 4
        record.layerSentGenerations = [3: 5]
        record.area = Envelope(xMin: -1, yMin: 2, xMax: 3, yMax: 4, spatialReference: .wgs84)
        record.lastSync = Date(timeIntervalSince1970: 1_700_000_000)
        record.pendingUpload = ReplicaRecord.PendingUpload(id: Self.ids[0], throughGeneration: 5)
        record.refused = [0: [Self.ids[0]: .add]]
        record.refusedFields = [Self.ids[1]: ["Name", "Height"]]
        record.refusals = [Self.ids[1]: ReplicaRecord.Refusal(reason: "Too high.", base: 3)]
        record.refusedAttachments = [3: [Self.ids[2]: .delete]]
        record.attachmentDirection = .bidirectional
        record.acceptsGzip = true
        record.arrived = ReplicaRecord.Arrived(answer: ["edits": []], parameters: ["layers": [0]], through: 9)
        record.contentUploads = ["photo": "i12"]
        record.heldFeatures = [0: [Self.ids[0]]]
        record.awaitedAttachments = [0: [Self.ids[1]: ["globalId": .string(GUID.normalForm(Self.ids[1]))]]]
        record.halfTaken = [0: [Self.ids[0], Self.ids[1]], 3: [Self.ids[2]]]
        record.halfTakenAttachments = [3: [Self.ids[1]]]
        record.sent.add(
            Self.ids[0], from: SentEdits.Mark(generation: 3, layers: [3: 4]),
            to: SentEdits.Mark(generation: 4, layers: [3: 5]))
        record.knownRestoration = 1_000_000
        record.wholeLayers = [0, 3]
        // A member that is new must get a value above.
        for (member, other) in zip(Mirror(reflecting: record).children, Mirror(reflecting: plain).children) {
            #expect("\(member.value)" != "\(other.value)", "\(member.label ?? "") has no value of its own")
        }
        #expect(try ReplicaRecord(json: try JSONParser.parse(record.json.text)) == record)
    }

    @Test("A file of an earlier version tells the same: it lists the refused features, and the new ones once more")
    func earlierVersion() throws {
        var object = try #require(try Self.record().json.objectValue)
        object["refused"] = ["0": .array(Self.ids.prefix(2).map { .string($0.uuidString) })]
        object["refusedAdds"] = ["0": [.string(Self.ids[1].uuidString)]]
        let record = try ReplicaRecord(json: .object(object))
        #expect(record.refused == [0: [Self.ids[0]: .update, Self.ids[1]: .add]])
        #expect(record.hasRefused)
    }
}
