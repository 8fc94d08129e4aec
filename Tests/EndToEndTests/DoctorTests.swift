import Foundation
import Testing

/// What the doctor finds in folders and files that something has happened to.
@Suite("The doctor", .serialized)
final class DoctorTests: Sendable {
    private let folder: TemporaryFolder
    private var data: URL { folder.url.appending(path: "data", directoryHint: .isDirectory) }

    init() async throws {
        folder = try TemporaryFolder()
        let csv = folder.url.appending(path: "trees.csv")
        try Data("x,y,name\n1,1,seed\n".utf8).write(to: csv)
        for service in ["Trees", "City/Benches", "Walls"] {
            let published = try await FieldworkProcess.run([
                "publish", csv.path, "--service", service, "--x", "x", "--y", "y", "--wkid", "4326", "--data",
                data.path,
            ])
            try #require(published.status == 0, "\(published.errors)")
        }
    }

    private func rights(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("Folders of services and files in them are their owner's alone, and so is what a server writes there")
    func ownersAlone() async throws {
        let server = try await FieldworkProcess.serve(data: data)
        let answer = try await PlainRequest.post(
            "\(server.services)/Trees/FeatureServer/0/applyEdits",
            [("f", "json"), ("adds", #"[{"attributes":{"name":"x"},"geometry":{"x":2,"y":2}}]"#)])
        #expect(answer["addResults"] != nil)
        let backup = folder.url.appending(path: "backup", directoryHint: .isDirectory)
        #expect(try await FieldworkProcess.run(["backup", "--to", backup.path, "--data", data.path]).status == 0)
        for place in [data, backup] {
            #expect(try rights(place) == 0o700)
            let inside = try FileManager.default.subpathsOfDirectory(atPath: place.path)
            #expect(inside.contains("City/Benches.gpkg"))
            for name in inside {
                let right = try rights(place.appending(path: name))
                #expect(right & 0o077 == 0, "\(name): \(String(right, radix: 8))")
            }
        }
        #expect(await server.interrupt() == 0)
    }

    @Test("One broken file is named, and the other services are looked at, listed and served")
    func brokenFile() async throws {
        try Data("no database at all".utf8).write(to: data.appending(path: "AAA.gpkg"))
        try FileManager.default.createSymbolicLink(
            at: data.appending(path: "Moved.gpkg"), withDestinationURL: folder.url.appending(path: "elsewhere.gpkg"))
        let damaged = data.appending(path: "Walls.gpkg")
        var bytes = try Data(contentsOf: damaged)
        bytes.replaceSubrange(4_096..<bytes.count, with: Data(count: bytes.count - 4_096))
        try bytes.write(to: damaged)

        let doctor = try await FieldworkProcess.run(["doctor", "--data", data.path])
        #expect(doctor.status == 65)
        let named = doctor.text.split(separator: "\n").filter { $0.contains(data.path) }
            .compactMap { $0.split(separator: " ").first }
        #expect(Set(named) == ["AAA", "Moved", "Walls"], "\(doctor.text)")
        #expect(doctor.text.contains(folder.url.appending(path: "elsewhere.gpkg").path))
        #expect(doctor.errors.contains("in 3 of 5 services"), "\(doctor.errors)")

        let listed = try await FieldworkProcess.run(["services", "--data", data.path])
        #expect(listed.status == 65)
        #expect(listed.text.contains("City/Benches\n  0") && listed.text.contains("Trees\n  0"), "\(listed.text)")
        #expect(listed.errors.contains("AAA can't be read"))

        let whole = try await FieldworkProcess.run(["doctor", data.appending(path: "Trees.gpkg").path])
        #expect(whole.status == 0 && whole.text == "1 file is sound\n", "\(whole.text)\(whole.errors)")
        let one = try await FieldworkProcess.run(["doctor", data.appending(path: "AAA.gpkg").path])
        #expect(one.status == 65 && one.text.contains("AAA.gpkg"))
    }

    @Test("The doctor names what a killed publish left, and removes it when nothing has written to it for an hour")
    func leftovers() async throws {
        let fresh = data.appending(path: ".Big.1.making", directoryHint: .isDirectory)
        let old = data.appending(path: "City").appending(path: ".Big.2.making", directoryHint: .isDirectory)
        for left in [fresh, old] {
            try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date.now.addingTimeInterval(-7_200)], ofItemAtPath: old.path)
        let told = try await FieldworkProcess.run(["doctor", "--data", data.path])
        #expect(told.status == 0 && told.errors.contains(".Big.1.making") && told.errors.contains(".Big.2.making"))
        let removed = try await FieldworkProcess.run(["doctor", "--remove-leftovers", "--data", data.path])
        #expect(removed.status == 0 && removed.text.contains(".Big.2.making"))
        #expect(!FileManager.default.fileExists(atPath: old.path))
        #expect(FileManager.default.fileExists(atPath: fresh.path))
    }

    @Test(
        "The doctor tells which services are open to whoever has not signed in, and with which settings they were served"
    )
    func open() async throws {
        func doctor() async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(["doctor", "--data", data.path])
        }
        let before = try await doctor()
        #expect(before.status == 0 && before.text.contains("Open: There are no people: every program of this machine"))
        #expect(
            !FileManager.default.fileExists(atPath: data.appending(path: "portal.sqlite").path), "looking makes no file"
        )
        let server = try FieldworkProcess.start(
            ["serve", "--data", data.path, "--port", "0", "--host", "0.0.0.0", "--open", "--allow-origin", "*"])
        _ = try await server.readyLine()
        let served = try await doctor()
        for words in ["everybody who reaches 0.0.0.0", "started with --open", "without TLS", "--allow-origin '*'"] {
            #expect(served.text.contains(words), "\(words): \(served.text)")
        }
        #expect(await server.interrupt() == 0)

        let added = try await FieldworkProcess.run(
            [
                "-c", "printf 'correct horse\\n' | \"$0\" \"$@\"", FieldworkProcess.executable.path, "users", "add",
                "ana",
                "--role", "administrator", "--data", data.path,
            ], program: URL(filePath: "/bin/bash"))
        #expect(added.status == 0, "\(added.errors)")
        for arguments in [
            ["Trees", "--everyone", "--editing"], ["City/Benches", "--everyone"], ["Walls", "--organisation"],
        ] {
            let shared = try await FieldworkProcess.run(["share"] + arguments + ["--data", data.path])
            #expect(shared.status == 0, "\(shared.errors)")
        }
        let safe = try await FieldworkProcess.serve(data: data)
        let bytes = try Data(contentsOf: data.appending(path: "portal.sqlite"))
        let told = try await doctor()
        #expect(told.status == 0 && told.text.contains("Open: Trees: everybody may edit it without signing in"))
        #expect(
            told.text.contains("Open: Everybody sees without signing in: City/Benches.") && !told.text.contains("Walls")
        )
        #expect(!told.text.contains("TLS") && !told.text.contains("--open"), "it is served to this machine alone now")
        #expect(try Data(contentsOf: data.appending(path: "portal.sqlite")) == bytes)
        #expect(await safe.interrupt() == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: data.path)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: data.appending(path: "Walls.gpkg").path)
        #expect(try await doctor().text.contains("Open: Other users of this machine may open Walls.gpkg"))
    }

    @Test("Looking writes nothing: neither into a file nor beside it, also while it is served")
    func looking() async throws {
        func state() throws -> [String: Data] {
            var state: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: data.path) where name.contains(".gpkg") {
                state[name] = try Data(contentsOf: data.appending(path: name))
            }
            return state
        }
        let before = try state()
        #expect(try await FieldworkProcess.run(["doctor", "--data", data.path]).status == 0)
        #expect(try state() == before)
        let server = try await FieldworkProcess.serve(data: data)
        _ = try await PlainRequest.post(
            "\(server.services)/Trees/FeatureServer/0/applyEdits",
            [("f", "json"), ("adds", #"[{"attributes":{"name":"x"},"geometry":{"x":2,"y":2}}]"#)])
        // The server may still be writing what follows an edit.
        var logged = try state()
        var earlier: [String: Data] = [:]
        while earlier != logged {
            try await Task.sleep(for: .milliseconds(500))
            (earlier, logged) = (logged, try state())
        }
        logged = logged.filter { !$0.key.hasSuffix("-shm") }
        let checked = try await FieldworkProcess.run(["doctor", "--data", data.path])
        #expect(checked.status == 0, "\(checked.text)\(checked.errors)")
        let after = try state().filter { !$0.key.hasSuffix("-shm") }
        let changed = Set(after.keys).union(logged.keys).filter { after[$0] != logged[$0] }
        #expect(changed.isEmpty)
        #expect(await server.interrupt() == 0)
    }
}
