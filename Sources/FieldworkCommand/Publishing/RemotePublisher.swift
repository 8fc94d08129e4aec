import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Publishes a file on a portal, with the sign-in of this user: the file becomes an item there, and the portal makes the service of
/// it.
struct RemotePublisher {
    let portal: URL
    let service: String
    let layerName: String
    /// What is said of a table's coordinates, by the protocol's names.
    var parameters = JSONObject()

    struct Result: Sendable {
        var item: String
        var address: String
    }

    init(_ text: String, service: String, layerName: String) throws {
        portal = try ServiceReader(text).url
        self.service = service
        self.layerName = layerName
    }

    func publish(_ input: URL) async throws -> Result {
        let kinds: [String: PortalItem.Kind] = [
            "csv": .csv, "geojson": .geoJSON, "json": .geoJSON, "gpkg": .geoPackage,
        ]
        guard let kind = kinds[input.pathExtension.lowercased()] else {
            throw CommandFailure(
                .badData, "A portal publishes .csv, .geojson and .gpkg, and not \(input.lastPathComponent).")
        }
        guard FileManager.default.isReadableFile(atPath: input.path) else {
            throw CommandFailure(.noInput, "\(input.path) is not there, or can't be read.")
        }
        let there = Portal(url: portal, connection: .authenticated)
        try await there.load()
        guard let user = there.user else {
            throw CommandFailure(
                .notPermitted, "Nobody is signed in to \(portal.absoluteString). fieldwork sign-in does it.")
        }
        let file = PortalItem(portal: there, kind: kind, title: service)
        Terminal.error("Sending \(input.lastPathComponent)")
        try await user.add(file, with: .file(at: input))
        do {
            return try await make(of: file, kind, user)
        } catch {
            // Nothing came of the file: it is sent again with the next attempt.
            try? await user.delete(file)
            throw error
        }
    }

    private func make(of file: PortalItem, _ kind: PortalItem.Kind, _ user: PortalUser) async throws -> Result {
        var wanted = parameters
        wanted["name"] = .string(service)
        wanted["layerInfo"] = ["name": .string(layerName)]
        let answer = try await post(
            ["content", "users", user.username, "publish"],
            [
                (name: "itemid", value: file.id?.rawValue ?? ""), (name: "fileType", value: kind.rawValue),
                (name: "publishParameters", value: JSONValue.object(wanted).text), (name: "overwrite", value: "false"),
            ])
        guard let made = answer["services"]?.arrayValue?.first, let item = made["serviceItemId"]?.stringValue else {
            throw CommandFailure(.unavailable, "\(portal.absoluteString) does not answer as a portal does.")
        }
        if let job = made["jobId"]?.stringValue { try await wait(for: job, item, user) }
        return Result(item: item, address: made["serviceurl"]?.stringValue ?? "")
    }

    private func wait(for job: String, _ item: String, _ user: PortalUser) async throws {
        var pause = 100
        while true {
            let answer = try await post(
                ["content", "users", user.username, "items", item, "status"],
                [(name: "jobId", value: job), (name: "jobType", value: "publish")])
            switch answer["status"]?.stringValue?.lowercased() {
            case "completed"?: return
            case "failed"?, nil:
                let reason = answer["statusMessage"]?.stringValue ?? "The portal gives no reason."
                throw CommandFailure(.badData, "\(portal.absoluteString) could not publish it: \(reason)")
            default: break
            }
            try await Task.sleep(for: .milliseconds(pause))
            pause = min(pause * 2, 2_000)
        }
    }

    private func post(_ steps: [String], _ form: [(name: String, value: String)]) async throws -> JSONValue {
        let root = portal.appending(path: "sharing/rest")
        let address = steps.reduce(root) { $0.appending(component: $1) }
        let bytes = try await ArcGISEnvironment.urlSession.post(form + [(name: "f", value: "json")], to: address)
        guard let json = try? JSONParser.parse(bytes) else {
            throw CommandFailure(.unavailable, "\(portal.absoluteString) does not answer as a portal does.")
        }
        if let error = FieldworkREST.ServiceError(answer: json) { throw error }
        return json
    }
}
