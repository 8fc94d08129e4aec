import Foundation
import Testing

/// Rows that are brought into a service that is there, services that crews may take along, and services that are deleted.
@Suite("Publishing again", .serialized)
struct PublishUpdateTests {
    private final class Office: Sendable {
        let folder: TemporaryFolder
        let home: ServiceHome

        init(_ kind: ServiceHome.Kind) async throws {
            folder = try TemporaryFolder()
            home = try await ServiceHome(kind, in: folder.url)
        }

        func run(_ arguments: String...) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(arguments + home.arguments)
        }

        func file(_ name: String, _ text: String) throws -> String {
            let url = folder.url.appending(path: name)
            try Data(text.utf8).write(to: url)
            return url.path
        }

        func rows(_ server: FieldworkProcess) async throws -> [String] {
            let answer = try await FieldworkProcess.run([
                "query", "\(server.services)/Trees/FeatureServer/0", "--format", "csv", "--out-fields",
                "OBJECTID,number,species,height",
            ])
            return answer.text.components(separatedBy: "\r\n").filter { !$0.isEmpty }
        }
    }

    private static let first =
        "number,species,height,lon,lat\n1,Oak,5.5,-122.5,45.5\n2,Elm,6,-122.6,45.6\n3,Yew,7,-122.7,45.7\n"

    @Test(
        "Rows are added and changed by a key: ids, history and what the file does not name stay",
        arguments: ServiceHome.Kind.installed)
    func replace(_ kind: ServiceHome.Kind) async throws {
        let office = try await Office(kind)
        let file = try office.file("trees.csv", Self.first)
        let published = try await office.run("publish", file, "--service", "Trees", "--sync")
        try #require(published.status == 0, "\(published.errors)")
        let server = try await office.home.serve()
        let before = try await office.rows(server)
        let next = try office.file(
            "next.csv",
            "number,species,lon,lat\n2,Ash,-122.6,45.6\n3,Yew,-122.75,45.7\n1,Oak,-122.5,45.5\n4,Fir,-122.8,45.8\n")
        let trial = try await office.run("publish", next, "--service", "Trees", "--replace", "number", "--dry-run")
        #expect(trial.text == "Trees would change: 1 added, 2 changed, 1 as they were\n", "\(trial.errors)")
        #expect(try await office.rows(server) == before)
        let updated = try await office.run("publish", next, "--service", "Trees", "--replace", "number")
        #expect(updated.text == "Updated Trees: 1 added, 2 changed, 1 as they were\n", "\(updated.errors)")
        let after = try await office.rows(server)
        #expect(after.count == before.count + 1)
        // The ids of the rows that were there, and the heights that the file does not have.
        let elm = try #require(before.first { $0.contains(",2,Elm,") })
        #expect(after.contains(elm.replacingOccurrences(of: "Elm", with: "Ash")))
        let id = try #require(elm.split(separator: ",").first.map(String.init))
        let history = try await FieldworkProcess.run(["history", "\(server.services)/Trees/FeatureServer/0", id])
        #expect(history.text.contains(#"species = "Elm" became "Ash""#), "\(history.text)\(history.errors)")
        #expect(!history.text.contains("height"), "only what changed: \(history.text)")

        let again = try await office.run("publish", next, "--service", "Trees", "--replace", "number")
        #expect(again.text == "Updated Trees: 0 added, 4 as they were\n")
        let few = try office.file("few.csv", "number,species\n1,Oak\n")
        let kept = try await office.run("publish", few, "--service", "Trees", "--replace", "number")
        #expect(
            kept.text == "Updated Trees: 0 added, 1 as they were, 3 not in the file, left as they are\n",
            "\(kept.errors)")
        let fewer = try await office.run(
            "publish", few, "--service", "Trees", "--replace", "number", "--delete-missing")
        #expect(fewer.text == "Updated Trees: 0 added, 3 deleted, 1 as they were\n", "\(fewer.errors)")
        #expect(try await office.rows(server).count == 2)
        await server.kill()
        try await office.home.settle()
        try await office.home.expectSound()
    }

    @Test("Rows are appended whole or not at all; an unknown column and a key that is there twice are refused")
    func append() async throws {
        let office = try await Office(.folder)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let more = try office.file("more.csv", "number;species;lon;lat\n4;Fir;-122,8;45,8\n5;Ivy;45,8;-122,8\n")
        let bad = try await office.run("publish", more, "--service", "Trees", "--append")
        #expect(bad.status == 65 && bad.errors.contains("line 3") && bad.errors.contains("Nothing was changed"))
        let skipped = try await office.run("publish", more, "--service", "Trees", "--append", "--skip-bad-rows")
        #expect(skipped.text == "Updated Trees: 1 added, 1 skipped\n", "\(skipped.errors)")
        let other = try office.file("other.csv", "number,colour,lon,lat\n6,green,-122.8,45.8\n")
        let unknown = try await office.run("publish", other, "--service", "Trees", "--append")
        #expect(unknown.status == 65 && unknown.errors.contains("colour") && unknown.errors.contains("--skip-columns"))
        #expect(try await office.run("publish", other, "--service", "Trees", "--append", "--skip-columns").status == 0)
        let twice = try office.file("twice.csv", "number,species\n1,Oak\n1,Elm\n")
        let refused = try await office.run("publish", twice, "--service", "Trees", "--replace", "number")
        #expect(refused.status == 65 && refused.errors.contains("line 3") && refused.errors.contains("twice"))
        let counted = try await office.run("services")
        #expect(counted.text == "Trees\n  0  Trees  point  5\n")
    }

    @Test(
        "A file that is appended twice adds its rows once, also after a crew has changed or deleted some",
        arguments: ServiceHome.Kind.installed)
    func appendedTwice(_ kind: ServiceHome.Kind) async throws {
        let office = try await Office(kind)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let more = try office.file(
            "more.csv", "number,species,height,lon,lat\n4,Fir,8,-122.8,45.8\n5,Ivy,1,-122.9,45.9\n")
        let appended = try await office.run("publish", more, "--service", "Trees", "--append")
        #expect(appended.text == "Updated Trees: 2 added\n", "\(appended.errors)")
        let changed = try await office.run("calculate", "Trees", "species", "'Larch'", "--where", "number = 4")
        #expect(changed.status == 0, "\(changed.errors)")
        // The columns in another order and a number written otherwise are the same rows.
        let same = try office.file(
            "same.csv", "species,number,lat,lon,height\nFir,4,45.8,-122.8,8.0\nIvy,5,45.9,-122.9,1.0\n")
        for again in [more, same] {
            let refused = try await office.run("publish", again, "--service", "Trees", "--append")
            #expect(refused.status == 65 && refused.errors.contains("Trees has the 2 rows of this file already"))
            #expect(refused.errors.contains("Nothing was changed; --again"), "\(refused.errors)")
        }
        // So it is with rows that came when the layer was published, and with a table that has grown.
        let first = try await office.run("publish", file, "--service", "Trees", "--append", "--skip-bad-rows")
        #expect(first.status == 65 && first.errors.contains("has the 3 rows"), "\(first.errors)")
        let grown = try office.file(
            "grown.csv", "number,species,height,lon,lat\n4,Fir,8,-122.8,45.8\n5,Ivy,1,-122.9,45.9\n6,Elm,2,-122,46\n")
        let partly = try await office.run("publish", grown, "--service", "Trees", "--append")
        #expect(partly.status == 65 && partly.errors.contains("2 of the 3 rows"), "\(partly.errors)")
        #expect(partly.errors.contains("--new-rows adds the other 1"))
        let trial = try await office.run("publish", grown, "--service", "Trees", "--append", "--new-rows", "--dry-run")
        #expect(trial.text == "Trees would change: 1 added, 2 there already\n", "\(trial.errors)")
        let others = try await office.run("publish", grown, "--service", "Trees", "--append", "--new-rows")
        #expect(others.text == "Updated Trees: 1 added, 2 there already\n", "\(others.errors)")
        // A row that a crew has deleted is not taken for one that is there: whoever sends it again decides.
        let server = try await office.home.serve()
        _ = try await PlainRequest.post(
            "\(server.services)/Trees/FeatureServer/0/deleteFeatures", [("where", "number = 5"), ("f", "json")])
        _ = await server.interrupt()
        let deleted = try await office.run("publish", more, "--service", "Trees", "--append")
        #expect(deleted.status == 65 && deleted.errors.contains("1 of the 2 rows"), "\(deleted.errors)")
        let back = try await office.run("publish", more, "--service", "Trees", "--append", "--new-rows")
        #expect(back.text == "Updated Trees: 1 added, 1 there already\n", "\(back.errors)")
        let wanted = try await office.run("publish", more, "--service", "Trees", "--append", "--again")
        #expect(wanted.text == "Updated Trees: 2 added\n", "\(wanted.errors)")
        #expect(try await office.run("services").text.contains("point  8"))
        try await office.home.settle()
        try await office.home.expectSound()
    }

    @Test("Rows whose key is there are left out, whatever else they say; two like rows of one file are two features")
    func appendByKey() async throws {
        let office = try await Office(.folder)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let more = try office.file(
            "more.csv", "number,species,height,lon,lat\n3,Yew tree,9,-122.7,45.7\n4,Fir,8,-122.8,45.8\n")
        let appended = try await office.run("publish", more, "--service", "Trees", "--append", "--key", "number")
        #expect(appended.text == "Updated Trees: 1 added, 1 there already\n", "\(appended.errors)")
        #expect(try await !office.run("query", "Trees", "--format", "csv").text.contains("Yew tree"))
        let twins = try office.file("twins.csv", "number,species\n,Oak\n,Oak\n")
        let both = try await office.run("publish", twins, "--service", "Trees", "--append")
        #expect(both.text == "Updated Trees: 2 added\n", "\(both.errors)")
        let three = try office.file("three.csv", "number,species\n,Oak\n,Oak\n,Oak\n")
        let third = try await office.run("publish", three, "--service", "Trees", "--append", "--new-rows")
        #expect(third.text == "Updated Trees: 1 added, 2 there already\n", "\(third.errors)")
        for options in [["--key", "number"], ["--again"], ["--append", "--again", "--new-rows"]] {
            let refused = try await FieldworkProcess.run(
                ["publish", more, "--service", "Trees"] + options + office.home.arguments)
            #expect(refused.status == 64, "\(options)")
        }
    }

    @Test("An export that is appended again adds nothing twice")
    func appendTwice() async throws {
        let office = try await Office(.folder)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let out = office.folder.url.appending(path: "out.geojson").path
        #expect(try await office.run("export", "Trees", "--to", out).status == 0)
        let again = try await office.run("publish", out, "--service", "Trees", "--append")
        #expect(again.status == 65 && again.errors.contains("Nothing was changed"), "\(again.errors)")
        let replaced = try await office.run("publish", out, "--service", "Trees", "--replace", "GlobalID")
        #expect(replaced.text == "Updated Trees: 0 added, 3 as they were\n", "\(replaced.errors)")
    }

    @Test(
        "A service is deleted when its name was typed, or --yes was given; a new one may have its name",
        arguments: ServiceHome.Kind.installed)
    func delete(_ kind: ServiceHome.Kind) async throws {
        let office = try await Office(kind)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let server = try await office.home.serve()
        #expect(try await office.rows(server).count == 4)
        let asked = try await office.run("unpublish", "Trees", "--delete")
        #expect(asked.status == 73 && asked.errors.contains("--yes"))
        #expect(try await office.run("services").text.contains("point  3"))
        let deleted = try await office.run("unpublish", "Trees", "--delete", "--yes")
        #expect(deleted.text == "Deleted Trees\n", "\(deleted.errors)")
        #expect(try await office.run("services").text.isEmpty)
        // The server had the old one open; what is saved in the new one is in the new one.
        #expect(try await office.run("publish", file, "--service", "Trees", "--sync").status == 0)
        let adds = #"[{"attributes":{"number":9,"species":"Fig"},"geometry":{"x":-122.5,"y":45.5}}]"#
        let layer = "\(server.services)/Trees/FeatureServer/0"
        var answer: [String: Any] = [:]
        for _ in 1...40 {
            answer = try await PlainRequest.post("\(layer)/applyEdits", [("adds", adds), ("f", "json")])
            if answer["addResults"] != nil { break }
            try await Task.sleep(for: .milliseconds(250))
        }
        #expect(answer["addResults"] != nil, "\(answer)")
        #expect(try await office.rows(server).count == 5)
        _ = await server.interrupt()
        #expect(try await office.run("services").text.contains("point  4"))
        try await office.home.expectSound()
    }

    @Test("An unpublished service is deleted too, and one in place is not")
    func deleteOthers() async throws {
        let office = try await Office(.folder)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        #expect(try await office.run("unpublish", "Trees").status == 0)
        #expect(try await office.run("unpublish", "Trees", "--delete", "--yes").status == 0)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let own = office.folder.url.appending(path: "own.gpkg").path
        #expect(try await office.run("export", "Trees", "--to", own).status == 0)
        #expect(try await office.run("publish", own, "--service", "Own", "--in-place").status == 0)
        let refused = try await office.run("unpublish", "Own", "--delete", "--yes")
        #expect(refused.status == 73 && FileManager.default.fileExists(atPath: own))
    }

    @Test("A service that is published with --sync is taken offline as it is")
    func sync() async throws {
        let office = try await Office(.folder)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees", "--sync").status == 0)
        let server = try await office.home.serve()
        let taken = try await FieldworkProcess.run([
            "offline", "create", "\(server.services)/Trees/FeatureServer", "--extent=-123,45,-122,46", "--out",
            office.folder.url.appending(path: "crew.gpkg").path,
        ])
        #expect(taken.status == 0 && taken.text.contains("3 features"), "\(taken.errors)")
        let listed = try await office.run("replicas", "Trees", "--format", "json")
        let replicas = try JSONSerialization.jsonObject(with: Data(listed.text.utf8)) as? [[String: Any]]
        #expect(replicas?.count == 1 && replicas?.first?["creationDate"] != nil)
        let id = try #require(replicas?.first?["replicaID"] as? String)
        #expect(try await office.run("replicas", "Trees").text.contains(id))
        #expect(try await office.run("replicas", "Trees", "--end", id).status == 0)
        #expect(try await office.run("replicas", "Trees").text.isEmpty)
        await server.kill()
    }

    @Test("A file has one name in place, and an export into a folder that is not there names it")
    func oneName() async throws {
        let office = try await Office(.folder)
        let file = try office.file("trees.csv", Self.first)
        #expect(try await office.run("publish", file, "--service", "Trees").status == 0)
        let own = office.folder.url.appending(path: "own.gpkg").path
        #expect(try await office.run("export", "Trees", "--to", own).status == 0)
        #expect(try await office.run("publish", own, "--service", "Own", "--in-place").status == 0)
        let again = try await office.run("publish", own, "--service", "Other", "--in-place")
        #expect(again.status == 73 && again.errors.contains("as Own"), "\(again.errors)")
        let nowhere = try await office.run("export", "Trees", "--to", "/nowhere/else/x.csv")
        #expect(nowhere.status == 73 && nowhere.errors.contains("/nowhere/else"))
    }
}
