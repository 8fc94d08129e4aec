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
