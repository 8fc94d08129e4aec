import FieldworkREST
import Foundation
import Synchronization

@testable import Fieldwork

/// The attachments of a service, in memory, as the protocol tells of them; all else goes to the server behind it.
final class AttachmentScript: ServiceClient, FileDownloading {
    struct Stored: Sendable {
        var id: Int64
        var globalID: UUID
        var parent: String
        var name: String
        var contentType: String
        var bytes: Data
    }

    fileprivate struct State {
        var stored: [Stored] = []
        var uploads: [String: Data] = [:]
        var sent: [String] = []
        var losses: [String] = []
        var refusesNames: Set<String> = []
        var nextID: Int64 = 1
    }

    let keepsGlobalIDs: Bool
    private let next: any ServiceClient
    private let state = Mutex(State())

    init(over next: any ServiceClient, keepsGlobalIDs: Bool = true) {
        self.next = next
        self.keepsGlobalIDs = keepsGlobalIDs
    }

    var stored: [Stored] { state.withLock { $0.stored } }
    /// The operations on attachments that came, in order.
    var sent: [String] { state.withLock { $0.sent } }

    /// The next answer of an operation is lost after the operation was done.
    func loseAnswer(of operation: String) { state.withLock { $0.losses.append(operation) } }

    /// Attachments of this name are refused from now on; nil for none.
    func refuse(_ name: String?) { state.withLock { $0.refusesNames = Set([name].compactMap(\.self)) } }

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
        guard let operation = Self.operation(of: request) else {
            var answer = try await next.answer(to: request)
            if !keepsGlobalIDs, answer.bytes.first == UInt8(ascii: "{") {
                let text = String(decoding: answer.bytes, as: UTF8.self)
                let flag = "\"supportsApplyEditsWithGlobalIds\":"
                answer.bytes = Array(text.replacing("\(flag)true", with: "\(flag)false").utf8)
            }
            return answer
        }
        let json = try state.withLock { state in
            state.sent.append(operation)
            return try state.answer(operation, request)
        }
        let isLost = state.withLock { state in
            state.losses.firstIndex(of: operation).map { state.losses.remove(at: $0) } != nil
        }
        if isLost { throw ServiceError.connectionFailed(details: "answer lost in this test") }
        return ServiceAnswer(bytes: Array(json.text.utf8), contentType: "application/json")
    }

    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        let id = Int64(url.lastPathComponent)
        guard let own = stored.first(where: { $0.id == id }) else {
            throw ServiceError.serverFailure(details: "no such attachment")
        }
        try own.bytes.write(to: file)
    }

    private static func operation(of request: ServiceRequest) -> String? {
        let name = request.url.lastPathComponent
        let known = [
            "attachments", "addAttachment", "updateAttachment", "deleteAttachments", "register", "parts", "uploadPart",
            "commit",
        ]
        if known.contains(name) { return name }
        let edits = request.parameters.first { $0.name == "edits" }?.value ?? ""
        return name == "applyEdits" && edits.contains("\"attachments\"") ? "applyEdits" : nil
    }
}

extension AttachmentScript.State {
    fileprivate mutating func answer(_ operation: String, _ request: ServiceRequest) throws -> JSONValue {
        let parent = request.url.deletingLastPathComponent().lastPathComponent
        let parameters = Dictionary(request.parameters.map { ($0.name, $0.value) }) { $1 }
        switch operation {
        case "attachments":
            // Parents are told apart by the object id, or by the global id of edits: one feature has both here.
            return ["attachmentInfos": .array(stored.map(\.info))]
        case "register":
            // A service that takes uploads in parts, as the protocol has them, and no other way.
            let id = "i\(uploads.count + 1)"
            uploads[id] = Data()
            return ["success": true, "item": ["itemID": .string(id), "committed": false]]
        case "parts": return ["parts": .array(uploads[parent]?.isEmpty == false ? [1] : [])]
        case "uploadPart":
            uploads[parent] = try request.file.map { try Data(contentsOf: $0.url) } ?? Data()
            return ["success": true, "partId": 1]
        case "commit": return ["success": true, "item": ["itemID": .string(parent), "committed": true]]
        case "addAttachment":
            let bytes = try request.file.map { try Data(contentsOf: $0.url) } ?? Data()
            let result = add(
                UUID(), parent, request.file?.name ?? "", request.file?.contentType ?? "", bytes)
            return ["addAttachmentResult": result]
        case "updateAttachment":
            let bytes = try request.file.map { try Data(contentsOf: $0.url) } ?? Data()
            let id = parameters["attachmentId"].flatMap { Int64($0) }
            let index = stored.firstIndex { $0.id == id }
            return ["updateAttachmentResult": replace(index, request.file?.name ?? "", bytes)]
        case "deleteAttachments":
            let id = parameters["attachmentIds"].flatMap { Int64($0) }
            return ["deleteAttachmentResults": [delete(stored.firstIndex { $0.id == id })]]
        default: return try edits(try JSONParser.parse(parameters["edits"] ?? ""))
        }
    }

    private mutating func edits(_ json: JSONValue) throws -> JSONValue {
        .array(
            (json.arrayValue ?? []).map { layer in
                let own = layer["attachments"]
                let adds = (own?["adds"]?.arrayValue ?? []).map { item -> JSONValue in
                    let id = item["globalId"]?.stringValue.flatMap(GUID.parse) ?? UUID()
                    return add(
                        id, item["parentGlobalId"]?.stringValue ?? "", item["name"]?.stringValue ?? "",
                        item["contentType"]?.stringValue ?? "", bytes(item))
                }
                let updates = (own?["updates"]?.arrayValue ?? []).map { item in
                    replace(index(item["globalId"]), item["name"]?.stringValue ?? "", bytes(item))
                }
                let deletes = (own?["deletes"]?.arrayValue ?? []).map { delete(index($0)) }
                return [
                    "id": layer["id"] ?? 0,
                    "attachments": [
                        "addResults": .array(adds), "updateResults": .array(updates),
                        "deleteResults": .array(deletes),
                    ],
                ]
            })
    }

    private func index(_ globalID: JSONValue?) -> Int? {
        let id = globalID?.stringValue.flatMap(GUID.parse)
        return stored.firstIndex { $0.globalID == id }
    }

    private func bytes(_ item: JSONValue) -> Data {
        item["data"]?.stringValue.flatMap { Data(base64Encoded: $0) }
            ?? item["uploadId"]?.stringValue.flatMap { uploads[$0] } ?? Data()
    }

    private mutating func add(
        _ globalID: UUID, _ parent: String, _ name: String, _ type: String, _ bytes: Data
    ) -> JSONValue {
        if refusesNames.contains(name) { return Self.failure("The type of \(name) is not allowed.") }
        if stored.contains(where: { $0.globalID == globalID }) { return Self.failure("The global id is taken.") }
        stored.append(
            .init(id: nextID, globalID: globalID, parent: parent, name: name, contentType: type, bytes: bytes))
        nextID += 1
        return stored[stored.count - 1].success
    }

    private mutating func replace(_ index: Int?, _ name: String, _ bytes: Data) -> JSONValue {
        guard let index, !refusesNames.contains(name) else { return Self.failure("There is no such attachment.") }
        stored[index].name = name
        stored[index].bytes = bytes
        return stored[index].success
    }

    private mutating func delete(_ index: Int?) -> JSONValue {
        guard let index else { return Self.failure("There is no such attachment.") }
        return stored.remove(at: index).success
    }

    private static func failure(_ text: String) -> JSONValue {
        ["success": false, "error": ["code": 1000, "description": .string(text)]]
    }
}

extension AttachmentScript.Stored {
    fileprivate var success: JSONValue {
        ["objectId": .integer(id), "globalId": .string(GUID.normalForm(globalID)), "success": true]
    }

    fileprivate var info: JSONValue {
        [
            "id": .integer(id), "globalId": .string(GUID.normalForm(globalID)), "name": .string(name),
            "contentType": .string(contentType), "size": .integer(Int64(bytes.count)),
        ]
    }
}
