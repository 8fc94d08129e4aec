import FieldworkLocator
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

@testable import FieldworkServer

/// A server with people: an administrator, an owner (a publisher), an editor and a viewer, who are named like that; with the
/// locator `Trees` beside the services.
struct PeopleServer: Sendable {
    let server: TestServer
    let portal: Portal
    let store: GeoPackageStore

    /// Where packages of tiles are served from.
    let basemaps: BasemapFolder

    var client: TestClient { server.client }

    static let password = "correct horse"

    static func with<Result: Sendable>(
        trees: Int = 2, provider: ProviderSettings? = nil, _ test: @Sendable (PeopleServer) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-people-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let portal = try await Portal(try RecordDatabase(file: Portal.file(in: folder)), passwordCost: 4)
        let author = Author(name: "test", address: "")
        for (name, role) in [
            ("administrator", Role.administrator), ("owner", .publisher), ("editor", .editor), ("viewer", .viewer),
        ] {
            try await portal.addPerson(name, password: password, role: role, by: author)
        }
        try GeocodeServiceTests.make(at: LocatorFile.url(name: "Trees", in: folder))
        var configuration = ServerConfiguration(
            port: 0, definitionLifetime: .zero, dataFolder: folder, portal: portal, codePicture: { "<svg>\($0)</svg>" })
        configuration.provider = provider
        let basemaps = BasemapFolder(data: folder)
        try FileManager.default.createDirectory(at: basemaps.url, withIntermediateDirectories: true)
        do {
            let result = try await TemporaryStore.serve(trees: trees, configuration: configuration) { server, store in
                try await portal.addServiceItems(try await store.serviceNames().map(\.path))
                for name in try await store.serviceNames() {
                    guard let item = try await portal.item(ofService: name.path) else { continue }
                    try await portal.reassign(item.id, to: "owner", for: .everybody, by: author)
                }
                return try await test(PeopleServer(server: server, portal: portal, store: store, basemaps: basemaps))
            }
            await portal.close()
            return result
        } catch {
            await portal.close()
            throw error
        }
    }

    func token(_ name: String, seconds: Int64 = 3_600) async throws -> String {
        try await portal.issueToken(to: name, seconds: seconds).token
    }

    func tokens() async throws -> [AccessMatrixTests.Caller: String?] {
        var tokens: [AccessMatrixTests.Caller: String?] = [.nobody: nil, .wrongToken: "wrong"]
        for caller in [AccessMatrixTests.Caller.viewer, .editor, .owner, .administrator] {
            tokens[caller] = try await token(caller.rawValue)
        }
        let short = try await token("viewer", seconds: 1)
        try await Task.sleep(for: .milliseconds(1_050))
        tokens[.expiredToken] = short
        return tokens
    }

    /// A request by a person.
    func get(_ path: String, _ parameters: KeyValuePairs<String, String> = ["f": "json"], as name: String?)
        async throws -> TestClient.Answer
    {
        try await client.get(path, parameters, headers: try await headers(name))
    }

    func post(_ path: String, _ parameters: KeyValuePairs<String, String>, as name: String?) async throws
        -> TestClient.Answer
    {
        try await client.post(path, parameters, headers: try await headers(name))
    }

    /// A form with one file.
    func postFile(_ path: String, name field: String, _ bytes: [UInt8], as name: String?) async throws
        -> TestClient.Answer
    {
        var body = Array("--b\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"x\"\r\n".utf8)
        body += Array("Content-Type: application/octet-stream\r\n\r\n".utf8) + bytes + Array("\r\n--b--\r\n".utf8)
        let type = ("Content-Type", "multipart/form-data; boundary=b")
        return try await client.send("POST", path, headers: try await headers(name) + [type], body: body)
    }

    private func headers(_ name: String?) async throws -> [(String, String)] {
        guard let name else { return [] }
        return [("X-Esri-Authorization", "Bearer \(try await token(name))")]
    }
}
