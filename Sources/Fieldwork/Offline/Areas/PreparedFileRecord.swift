import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// What a file knows of the prepared replica that it was taken from, where it has no replica of its own: how far it has come, for the
/// packages of changes that lead on from there. Kept in the file itself.
struct PreparedFileRecord: Sendable {
    static let note = "preparedReplica"

    /// Of the prepared replica: its id, its generations, attachments that are still to come.
    var replica: ReplicaRecord
    /// Which rows of the service the file has: a newer replica of other rows brings all of them.
    var scope: String

    init(_ replica: ReplicaRecord, _ parameters: GenerateGeodatabaseParameters.Values) {
        self.replica = replica
        scope = Self.scope(parameters)
    }

    /// What parameters choose, in a form that is the same for the same rows.
    static func scope(_ parameters: GenerateGeodatabaseParameters.Values) -> String {
        var object = JSONObject()
        if let extent = parameters.extent { object.append("extent", GeoServicesJSON.json(for: extent)) }
        let options = parameters.layerOptions.sorted { $0.layerID < $1.layerID }
        object.append("layers", .array(options.map(\.json)))
        object.append("attachments", .string(parameters.effectiveAttachmentDirection.rawValue))
        return JSONValue.object(object).text
    }

    var json: JSONValue { ["replica": replica.json, "scope": .string(scope)] }

    /// Throws `CommonError.invalidJSON`.
    init(json: JSONValue) throws {
        guard let replica = json["replica"], let scope = json["scope"]?.stringValue else {
            throw CommonError.invalidJSON(details: "The file's record of its prepared replica can't be read.")
        }
        self.replica = try ReplicaRecord(json: replica)
        self.scope = scope
    }
}

extension GeodatabaseSession {
    /// nil for a file that was not taken from a prepared replica, or has a replica of its own.
    func preparedRecord() async throws -> PreparedFileRecord? {
        let note = try await onDevice { try await file.note(PreparedFileRecord.note) }
        return try note.map { try PreparedFileRecord(json: JSONParser.parse($0)) }
    }

    /// Keeps how far the file has come.
    func keep(_ record: PreparedFileRecord) async throws {
        try await onDevice { try await file.keepNote(record.json.text, as: PreparedFileRecord.note) }
    }
}
