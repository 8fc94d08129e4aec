import Foundation
import TestSupport
import Testing

/// The street trees of Portland, Oregon, published as an administrator would.
@Suite("Real data", .serialized)
struct RealDataTests {
    /// The public test data beside a checkout of the project; a stranger's clone has none.
    private static let trees: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.deletingLastPathComponent().appending(path: "shared/data/trees")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    @Test(
        "218,602 trees, their species and neighbourhoods are published, counted and found",
        .enabled(if: RealDataTests.trees != nil, "the public test data is absent"))
    func portland() async throws {
        let source = try #require(Self.trees)
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data").path
        func fieldwork(_ arguments: String...) async throws -> String {
            let output = try await FieldworkProcess.run(arguments + ["--data", data])
            try #require(output.status == 0, "\(arguments): \(output.errors)")
            return output.text
        }
        let published = try await fieldwork(
            "publish", source.appending(path: "portland_street_trees.csv.gz").path, "--service", "StreetTrees", "--x",
            "x_3857", "--y", "y_3857", "--wkid", "3857")
        #expect(published == "Published StreetTrees: 218602 features\n")
        #expect(
            try await fieldwork(
                "publish", source.appending(path: "portland_tree_species.csv").path, "--service", "TreeSpecies")
                == "Published TreeSpecies: 395 features\n")
        #expect(
            try await fieldwork(
                "publish", source.appending(path: "portland_neighborhoods.geojson").path, "--service", "Neighborhoods")
                == "Published Neighborhoods: 99 features\n")
        // The first row of the file, and a count that a spreadsheet gives as well.
        let first = try await fieldwork(
            "query", "StreetTrees", "--where", "address = '6132 NE 34TH AVE' AND species = 'PRPL'", "--format", "csv",
            "--out-fields", "dbh,condition,mature_size")
        #expect(first == "dbh,condition,mature_size,x,y\r\n6.1,Good,S,-13651062,5711318\r\n")
        let server = try await FieldworkProcess.serve(data: URL(filePath: data))
        let query = "\(server.services)/StreetTrees/FeatureServer/0/query"
        for (condition, count) in [("1=1", 218_602), ("condition = 'Dead'", try Self.count(of: "Dead", in: source))] {
            let answer = try await PlainRequest.post(
                query, [("where", condition), ("returnCountOnly", "true"), ("f", "json")])
            #expect(answer["count"] as? Int == count, "\(condition)")
        }
        // The first two trees of the file stand in one street.
        let box = try await PlainRequest.post(
            query,
            [
                ("geometry", "-13651063,5711165,-13651061,5711319"), ("geometryType", "esriGeometryEnvelope"),
                ("inSR", "3857"), ("where", "species IN ('PRPL', 'ACMA')"), ("returnCountOnly", "true"), ("f", "json"),
            ])
        #expect(try #require(box["count"] as? Int) >= 2)
        try await look(at: "\(server.services)/StreetTrees/FeatureServer", data: folder.url.appending(path: "crew"))
        await server.kill()
    }

    /// The app draws them thinned where they are crowded, and counts them right.
    private func look(at service: String, data: URL) async throws {
        let app = try await CollectVisitor.start(map: service, data: data)
        #expect(try await app.page("/list/0?scope=all&sort=address").contains("218,602"))
        // A tile over the whole town, and one over a few streets of it.
        let town = try await app.page("/data/tiles/0/10/163/366").utf8.count
        #expect((10_000...400_000).contains(town), "\(town) bytes")
        let streets = try await app.page("/data/tiles/0/16/10440/23440").utf8.count
        #expect(streets < 400_000, "\(streets) bytes")
        await app.process.kill()
    }

    /// How many rows of the table have a condition, counted without Fieldwork.
    private static func count(of condition: String, in folder: URL) throws -> Int {
        let list = folder.appending(path: "portland_street_trees.csv.gz").path
        let line = "gunzip -c '\(list)' | cut -d, -f8 | grep -cx '\(condition)'"
        let text = String(decoding: try ChildProcess.run("/bin/sh", ["-c", line]).standardOutput, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return try #require(Int(text))
    }
}
