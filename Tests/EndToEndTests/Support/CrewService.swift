import Fieldwork
import FieldworkGeometry
import Foundation
import Testing

/// A service of points, made with the command, that crews take along and that takes photos.
enum CrewService {
    /// - Parameter rows: lines of `x,y,name,counter`.
    static func publish(_ rows: String, in data: URL) async throws {
        try await publish(rows, in: ServiceHome(data: data), with: data.deletingLastPathComponent())
    }

    /// - Parameter folder: for the files that it is made of.
    static func publish(_ rows: String, in home: ServiceHome, with folder: URL) async throws {
        let (csv, file) = (folder.appending(path: "seed.csv"), folder.appending(path: "crews.json"))
        try Data("x,y,name,counter\n\(rows)".utf8).write(to: csv)
        let published = try await FieldworkProcess.run(
            [
                "publish", csv.path, "--service", "Crews", "--x", "x", "--y", "y", "--wkid", "4326",
            ] + home.arguments)
        try #require(published.status == 0, "\(published.errors)")
        // What is published from a table of text can't be taken offline before somebody says so.
        let words: JSONValue = "Create,Delete,Query,Update,Editing,Sync,ChangeTracking"
        let layer: JSONValue = ["id": 0, "capabilities": words, "hasAttachments": true]
        let document: JSONValue = ["capabilities": words, "layers": [layer]]
        try Data(document.text.utf8).write(to: file)
        let edited = try await FieldworkProcess.run(
            [
                "service", "edit", "Crews", "--merge", "--file", file.path,
            ] + home.arguments)
        try #require(edited.status == 0, "\(edited.errors)")
    }

    static func serve(_ data: URL, port: Int) async throws -> FieldworkProcess {
        try await ServiceHome(data: data).serve(port: port)
    }

    static func takeOffline(_ services: String, to file: URL) async throws {
        let made = try await FieldworkProcess.run([
            "offline", "create", "\(services)/Crews/FeatureServer", "--extent", "0,0,10,10", "--out", file.path,
        ])
        try #require(made.status == 0, "\(made.errors)")
    }

    /// The counters that a server has, by name.
    static func served(_ services: String) async throws -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        var last = 0
        while true {
            let page = try await PlainRequest.post(
                "\(services)/Crews/FeatureServer/0/query",
                [
                    ("f", "json"), ("where", "OBJECTID > \(last)"), ("outFields", "OBJECTID,name,counter"),
                    ("returnGeometry", "false"), ("orderByFields", "OBJECTID"),
                ])
            for feature in try #require(page["features"] as? [[String: Any]]) {
                let attributes = try #require(feature["attributes"] as? [String: Any])
                found[try #require(attributes["name"] as? String), default: []].append(
                    try #require(attributes["counter"] as? Int))
                last = max(last, try #require(attributes["OBJECTID"] as? Int))
            }
            guard page["exceededTransferLimit"] as? Bool == true else { return found }
        }
    }
}

/// A crew with its file, and what it saved there. Each call opens the file anew, as after a restart of its app.
struct Crew {
    let name: String
    let file: URL
    /// The last values of its own features, by name.
    private(set) var values: [String: Int] = [:]

    init(_ name: String, in folder: URL) {
        self.name = name
        file = folder.appending(path: "\(name).gpkg")
    }

    private func with<Result>(_ body: (Geodatabase, GeodatabaseFeatureTable) async throws -> Result) async throws
        -> Result
    {
        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        defer { geodatabase.close() }
        return try await body(geodatabase, try #require(geodatabase.featureTables.first))
    }

    private static func feature(_ name: String, _ table: GeodatabaseFeatureTable) async throws -> Feature {
        let parameters = QueryParameters()
        parameters.whereClause = "name = '\(name)'"
        let found = try await table.queryFeatures(using: parameters).features()
        return try #require(found.first { _ in true }, "\(name)")
    }

    mutating func add(_ name: String, _ counter: Int) async throws {
        try await with { _, table in
            try await table.add(
                table.makeFeature(
                    attributes: ["name": name, "counter": Int32(counter)],
                    geometry: Point(x: 5, y: 5, spatialReference: .wgs84)))
        }
        values[name] = counter
    }

    mutating func change(_ name: String, _ counter: Int) async throws {
        try await with { _, table in
            let feature = try await Self.feature(name, table)
            feature.setAttributeValue(Int32(counter), forKey: "counter")
            try await table.update(feature)
        }
        values[name] = counter
    }

    mutating func delete(_ name: String) async throws {
        try await with { _, table in try await table.delete(try await Self.feature(name, table)) }
        values[name] = nil
    }

    /// The counters in its file, by name. Nothing may be left to send.
    func kept() async throws -> [String: [Int]] {
        try await with { geodatabase, table in
            #expect(!geodatabase.hasLocalEdits)
            var found: [String: [Int]] = [:]
            for feature in try await table.queryFeatures(using: QueryParameters()).features() {
                let name = try #require(feature.attributes["name"] as? String)
                let counter = try #require(feature.attributes["counter"] as? any BinaryInteger)
                found[name, default: []].append(Int(counter))
            }
            return found
        }
    }

    func sync() async throws {
        let sync = try await FieldworkProcess.run(["sync", file.path])
        #expect(sync.status == 0, "\(sync.text)\(sync.errors)")
    }
}
