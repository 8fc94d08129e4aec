import FieldworkGeometry
import FieldworkREST
import Foundation

/// How far the edits of a file have come to the service, upload by upload: when the service is put back to an earlier state, the
/// file goes back to the last upload that the service still has.
struct SentEdits: Sendable, Hashable {
    /// The file's own generations up to which the service has its edits.
    struct Mark: Sendable, Hashable {
        var generation: Int64
        var layers: [Int: Int64]
    }

    struct Upload: Sendable, Hashable {
        var id: UUID
        /// How far the service was with this upload.
        var mark: Mark
        /// The service was put back to a state without it. Another backup that is put back later may have it again.
        var isLost = false
    }

    /// Before the oldest of the uploads.
    private(set) var start: Mark?
    /// The oldest first.
    private(set) var uploads: [Upload] = []

    init() {}

    /// Takes note of an upload that the service has taken.
    mutating func add(_ id: UUID, from old: Mark, to new: Mark) {
        if start == nil { start = old }
        uploads.removeAll { $0.id == id }
        uploads.append(Upload(id: id, mark: new))
        while uploads.count > Limits.sentUploads {
            if let lost = uploads.firstIndex(where: \.isLost) {
                uploads.remove(at: lost)
            } else {
                start = uploads.removeFirst().mark
            }
        }
    }

    /// Takes note of which uploads the service has now. What came before the last of them it has as well, though it may have
    /// forgotten the names.
    /// - Returns: how far the service has the edits of the file; nil when none of them was sent as far as is known.
    mutating func goBack(to known: Set<UUID>) -> Mark? {
        let last = uploads.lastIndex { known.contains($0.id) }
        for index in uploads.indices {
            if known.contains(uploads[index].id) {
                uploads[index].isLost = false
            } else if last.map({ index > $0 }) ?? true {
                uploads[index].isLost = true
            }
        }
        return last.map { uploads[$0].mark } ?? start
    }
}

extension SentEdits {
    var json: JSONValue {
        var object = JSONObject()
        if let start { object.append("start", start.json) }
        object.append(
            "uploads",
            .array(
                uploads.map { upload -> JSONValue in
                    ["id": .string(upload.id.uuidString), "mark": upload.mark.json, "isLost": .bool(upload.isLost)]
                }))
        return .object(object)
    }

    init(json: JSONValue?) {
        start = json?["start"].map { Mark(json: $0) }
        uploads = (json?["uploads"]?.arrayValue ?? []).compactMap { upload in
            guard let id = upload["id"]?.stringValue.flatMap(UUID.init), let mark = upload["mark"] else { return nil }
            return Upload(id: id, mark: Mark(json: mark), isLost: upload["isLost"]?.boolValue ?? false)
        }
    }
}

extension SentEdits.Mark {
    var json: JSONValue {
        var members = JSONObject()
        for (id, generation) in layers.sorted(by: { $0.key < $1.key }) {
            members.append(String(id), .integer(generation))
        }
        return ["generation": .integer(generation), "layers": .object(members)]
    }

    init(json: JSONValue) {
        generation = json["generation"]?.integerValue ?? 0
        layers = [:]
        for member in json["layers"]?.objectValue?.members ?? [] {
            if let id = Int(member.key) { layers[id] = member.value.integerValue ?? 0 }
        }
    }
}

extension ReplicaRecord {
    var sentMark: SentEdits.Mark { SentEdits.Mark(generation: sentGeneration, layers: layerSentGenerations) }

    /// The newest restoration of the service that the file knows of: one before the state that it has is no news.
    var newestRestoration: Int64 { max(knownRestoration, serverGeneration, layerGenerations.values.max() ?? 0) }

    /// Takes note that the service was put back: what it has taken since goes again, and all rows of the service come anew. What
    /// this device never sent stays as it is.
    mutating func goBack(_ restored: RestoredService, layers: [Int]) {
        let known = Set(restored.uploads)
        if let mark = sent.goBack(to: known) {
            sentGeneration = min(sentGeneration, mark.generation)
            for (id, generation) in layerSentGenerations {
                layerSentGenerations[id] = min(generation, mark.layers[id] ?? mark.generation)
            }
            for (id, generation) in mark.layers where layerSentGenerations[id] == nil {
                layerSentGenerations[id] = max(generation, sentGeneration)
            }
        }
        // An upload that the service does not know goes under a new name, with all that goes again.
        if let pending = pendingUpload, !known.contains(pending.id) { pendingUpload = nil }
        contentUploads = [:]
        serverGeneration = min(serverGeneration, restored.from)
        layerGenerations = layerGenerations.mapValues { min($0, restored.from) }
        knownRestoration = max(knownRestoration, restored.to)
        wholeLayers = Set(layers)
    }
}
