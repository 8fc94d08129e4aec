import Crypto
import Foundation
import Testing

/// A service of a database, whose servers are killed while clients work.
enum CrashService {
    private static let words = "Create,Delete,Query,Update,Editing,Uploads,Sync,ChangeTracking"

    static func publish(in folder: URL, at address: String) async throws {
        let (csv, file) = (folder.appending(path: "seed.csv"), folder.appending(path: "definition.json"))
        let rows = (0..<1_500).map { "1,1,first,\($0)\n" }.joined()
        try Data("x,y,name,counter\n\(rows)".utf8).write(to: csv)
        let layer: [String: Any] = ["id": 0, "capabilities": words, "hasAttachments": true]
        let document: [String: Any] = ["capabilities": words, "layers": [layer]]
        try JSONSerialization.data(withJSONObject: document).write(to: file)
        let published = try await FieldworkProcess.run([
            "publish", csv.path, "--service", "Crash", "--x", "x", "--y", "y", "--wkid", "4326", "--store", address,
            "--definition", file.path,
        ])
        try #require(published.status == 0, "\(published.errors)")
    }

    static func features(_ root: String) async throws -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        for attributes in try await rows("\(root)/Crash/FeatureServer/0/query") {
            let id = try #require(attributes["GlobalID"] as? String)
            found[id, default: []].append(try #require(attributes["counter"] as? Int))
        }
        return found
    }

    private static func rows(_ address: String) async throws -> [[String: Any]] {
        var found: [[String: Any]] = []
        var last = 0
        while true {
            let page = try await PlainRequest.post(
                address,
                [
                    ("f", "json"), ("where", "name <> 'first' AND OBJECTID > \(last)"),
                    ("outFields", "OBJECTID,GlobalID,counter"), ("returnGeometry", "false"),
                    ("orderByFields", "OBJECTID"),
                ])
            let attributes = try #require(page["features"] as? [[String: Any]]).compactMap {
                $0["attributes"] as? [String: Any]
            }
            found += attributes
            last = attributes.last?["OBJECTID"] as? Int ?? last
            guard page["exceededTransferLimit"] as? Bool == true else { return found }
        }
    }

    /// The hashes of all attachments' bytes, by global id.
    static func attachments(_ root: String) async throws -> [String: [String]] {
        let layer = "\(root)/Crash/FeatureServer/0"
        let answer = try await PlainRequest.post("\(layer)/queryAttachments", [("f", "json"), ("objectIds", "1")])
        var found: [String: [String]] = [:]
        for group in answer["attachmentGroups"] as? [[String: Any]] ?? [] {
            for info in group["attachmentInfos"] as? [[String: Any]] ?? [] {
                let (id, global) = (try #require(info["id"] as? Int), try #require(info["globalId"] as? String))
                let bytes = try await PlainRequest.page("\(layer)/1/attachments/\(id)")
                found[global.uppercased(), default: []].append(SHA256.hash(data: bytes).description)
            }
        }
        return found
    }

    static func replicas(_ root: String) async throws -> [String] {
        let data = try await PlainRequest.page("\(root)/Crash/FeatureServer/replicas?f=json")
        let list = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        return list.compactMap { ($0["replicaID"] as? String)?.uppercased() }
    }
}
