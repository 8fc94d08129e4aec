import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import FieldworkServer

/// Servers whose trees take attachments.
enum AttachmentServer {
    static let name = ServiceName(name: "Field")
    static let trees = LayerAddress(service: name, layerID: 0)

    static var definition: ServiceDefinition {
        var definition = SyncService.definition
        definition.layers[0].hasAttachments = true
        return definition
    }

    /// Runs a test with the client of a server with two trees, the store, and its folder, which stays for further servers.
    static func serve<Result: Sendable>(
        _ service: ServiceDefinition = definition,
        _ test: (TestClient, WholeStore, URL) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-files-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await EveryStore.open(in: folder)
        try await store.createService(service)
        let adds = (0..<2).map { index in
            FeatureEdit(
                globalID: SyncService.trees[index], attributes: [("Name", .text("Tree \(index)"))],
                geometry: .geometry(Point(x: Double(index), y: 0, spatialReference: .webMercator)))
        }
        _ = try await store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: true, moment: TemporaryStore.moment),
            to: name)
        return try await serve(store) { try await test($0, store, folder) }
    }

    static func serve<Result: Sendable>(
        _ store: any FeatureStore, _ test: (TestClient) async throws -> Result
    ) async throws -> Result {
        try await TestServer.with(store: store) { server in
            var client = server.client
            client.base += "/Field/FeatureServer"
            return try await test(client)
        }
    }
}

/// A file of a form.
struct FormFile {
    var field = "attachment"
    var name = "bark.jpg"
    var type: String? = "image/jpeg"
    var content: [UInt8]

    init(_ content: [UInt8], name: String = "bark.jpg", type: String? = "image/jpeg", field: String = "attachment") {
        self.field = field
        self.name = name
        self.type = type
        self.content = content
    }
}

extension TestClient {
    /// Posts a form with a file, as browsers and the vendor's Python client do.
    func post(
        _ path: String, _ parameters: KeyValuePairs<String, String> = ["f": "json"], file: FormFile
    ) async throws -> Answer {
        let boundary = "fieldwork-test-boundary"
        var body: [UInt8] = []
        for (name, value) in parameters {
            body += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
        }
        let disposition = "Content-Disposition: form-data; name=\"\(file.field)\"; filename=\"\(file.name)\""
        let type = file.type.map { "\r\nContent-Type: \($0)" } ?? ""
        body += "--\(boundary)\r\n\(disposition)\(type)\r\n\r\n".utf8
        body += file.content
        body += "\r\n--\(boundary)--\r\n".utf8
        return try await send(
            "POST", path, headers: [("Content-Type", "multipart/form-data; boundary=\(boundary)")], body: body)
    }

    /// Adds an attachment to a tree.
    /// - Returns: its id.
    @discardableResult
    func attach(_ file: FormFile, to objectID: Int = 1, keywords: String = "") async throws -> Int64 {
        let answer = try await post("0/\(objectID)/addAttachment", ["f": "json", "keywords": keywords], file: file)
        guard let result = try answer.json["addAttachmentResult"], result["success"]?.boolValue == true,
            let id = result["objectId"]?.integerValue
        else { throw NotAttached(answer: answer.text) }
        return id
    }

    struct NotAttached: Error {
        var answer: String
    }

    func attachmentNames(of objectID: Int = 1) async throws -> [String] {
        let list = try await get("0/\(objectID)/attachments", ["f": "json"]).json["attachmentInfos"]?.arrayValue
        return (list ?? []).compactMap { $0["name"]?.stringValue }
    }
}

extension JSONValue {
    /// An element of a list.
    subscript(index: Int) -> JSONValue? {
        guard let list = arrayValue, list.indices.contains(index) else { return nil }
        return list[index]
    }
}
