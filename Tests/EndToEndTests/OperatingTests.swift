import Foundation
import Synchronization
import Testing

/// What an operator has: readiness, logs, metrics, a file of options, a new start, and systemd.
@Suite("Operating", .serialized)
struct OperatingTests {
    private static let table = "species,lon,lat\nOak,-122.5,45.5\nElm,-122.6,45.6\n"

    private static func publish(_ service: String, _ folder: URL, _ options: String...) async throws -> String {
        let file = folder.appending(path: "\(service).csv")
        try Data(table.utf8).write(to: file)
        let data = folder.appending(path: "data").path
        let output = try await FieldworkProcess.run(
            ["publish", file.path, "--service", service, "--data", data] + options)
        try #require(output.status == 0, "\(output.errors)")
        return data
    }

    private static func root(_ server: FieldworkProcess) -> String {
        String(server.services.dropLast("/arcgis/rest/services".count))
    }

    private static func lines(_ url: URL) throws -> [[String: Any]] {
        try String(contentsOf: url, encoding: .utf8).split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    @Test(
        "A server with a service that can't be read is alive, not ready, and names it to its operator; status says so")
    func ready() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url, "--sync")
        _ = try await Self.publish("Parks", folder.url)
        let server = try await FieldworkProcess.serve(data: URL(filePath: data))
        #expect(try await PlainRequest.post("\(Self.root(server))/ready", [])["status"] as? String == "ready")
        let status = try await FieldworkProcess.run(["status", Self.root(server)])
        #expect(status.status == 0 && status.text.hasPrefix("ready · 2 services"), "\(status.errors)")
        #expect(status.text.contains("Trees") && status.text.contains("Parks"))
        await server.kill()

        try Data("no database".utf8).write(to: URL(filePath: "\(data)/Parks.gpkg"))
        let other = try await FieldworkProcess.serve(data: URL(filePath: data))
        #expect(try await PlainRequest.post("\(Self.root(other))/health", [])["status"] as? String == "ok")
        let (code, answer) = try await PlainRequest.reply("\(Self.root(other))/ready")
        #expect(code == 503)
        #expect(answer["status"] as? String == "failing" && answer["names"] as? [String] == ["Parks"], "\(answer)")
        let json = try await FieldworkProcess.run(["status", Self.root(other), "--format", "json"])
        #expect(json.status == 69)
        let figures = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
        #expect(figures?["unreadable"] as? Int == 1 && figures?["ready"] as? Bool == false)
        let services = figures?["services"] as? [[String: Any]]
        #expect(services?.first?["features"] as? Int == 2 && (services?.first?["bytes"] as? Int ?? 0) > 10_000)
        let log = try other.errors()
        #expect(log.contains("service=Parks"), "\(log)")
        await other.kill()
        let away = try await FieldworkProcess.run(["status", Self.root(other)])
        #expect(away.status == 69)
    }

    @Test("The board for Grafana asks for metrics that a server has")
    func dashboard() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url, "--sync")
        let server = try await FieldworkProcess.serve(data: URL(filePath: data))
        let service = "\(server.services)/Trees/FeatureServer"
        let taken = try await FieldworkProcess.run([
            "offline", "create", service, "--extent=-123,45,-122,46", "--out",
            folder.url.appending(path: "a.gpkg").path,
        ])
        try #require(taken.status == 0, "\(taken.errors)")
        let file = folder.url.appending(path: "metrics")
        try #require(await Shell.run("curl -s '\(Self.root(server))/metrics' > '\(file.path)'") == 0)
        let metrics = try String(contentsOf: file, encoding: .utf8)
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Packaging/grafana-dashboard.json")
        let board = try JSONSerialization.jsonObject(with: Data(contentsOf: source)) as? [String: Any]
        let panels = try #require(board?["panels"] as? [[String: Any]])
        let expressions = panels.flatMap {
            ($0["targets"] as? [[String: Any]] ?? []).compactMap { $0["expr"] as? String }
        }
        #expect(expressions.count > 10)
        for expression in expressions {
            for name in expression.matches(of: /(?:fieldwork|process)_[a-z_]+/).map({ String($0.output) }) {
                #expect(metrics.contains("\n\(name)"), "\(name) is no metric")
            }
        }
        #expect(metrics.contains(#"fieldwork_replicas{service="Trees"} 1"#))
        #expect(metrics.contains(#"fieldwork_features{service="Trees"} 2"#))
        #expect(metrics.contains(#"fieldwork_sync_lag_seconds{service="Trees"}"#))
        await server.kill()
    }

    @Test(
        "The access log has a line for each request, with what the client got as X-Request-ID; a moved file is begun anew"
    )
    func accessLog() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url)
        let log = folder.url.appending(path: "access.log")
        let server = try FieldworkProcess.start([
            "serve", "--data", data, "--port", "0", "--access-log", log.path, "--log-format", "json",
        ])
        _ = try await server.readyLine()
        let address = "\(server.services)/Trees/FeatureServer/0/query?where=1%3D1&token=secret&f=json"
        let head = folder.url.appending(path: "head")
        try #require(await Shell.run("curl -s -D '\(head.path)' '\(address)' > /dev/null") == 0)
        _ = try await PlainRequest.post("\(server.services)/Trees/FeatureServer/9", [("f", "json")])
        var lines: [[String: Any]] = []
        while lines.count < 2 {
            lines = try Self.lines(log)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(lines[0]["service"] as? String == "Trees" && lines[0]["operation"] as? String == "query")
        #expect(lines[0]["code"] as? Int == 200 && (lines[0]["bytes"] as? Int ?? 0) > 100 && lines[0]["ms"] != nil)
        #expect(lines[1]["code"] as? Int == 404)
        let id = try #require(lines[0]["request"] as? String)
        #expect(try String(contentsOf: head, encoding: .utf8).contains("X-Request-ID: \(id)"))
        #expect(try !String(contentsOf: log, encoding: .utf8).contains("secret"))

        try FileManager.default.moveItem(at: log, to: folder.url.appending(path: "access.log.1"))
        try await Task.sleep(for: .milliseconds(1_100))
        _ = try await PlainRequest.post("\(server.services)/Trees/FeatureServer/0", [("f", "json")])
        while !FileManager.default.fileExists(atPath: log.path) { try await Task.sleep(for: .milliseconds(20)) }
        await server.kill()
    }

    @Test(
        "Options stand in a file and in the environment; the command line comes first, mistakes are named with their line"
    )
    func configuration() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url)
        let file = folder.url.appending(path: "fieldwork.toml")
        func write(_ text: String) throws { try Data(text.utf8).write(to: file) }
        func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> FieldworkProcess.Output {
            try await FieldworkProcess.run(
                arguments, environment: ["FIELDWORK_CONFIG": file.path].merging(more) { $1 })
        }
        try write(
            "# services\ndata = \"\(data)\"\n\n[serve]\nport = 0 # any\ninstance = 'gis'\nallow-host = [\"a.example\",\n  \"b.example\"]\n"
        )
        #expect(try await run(["services"]).text.contains("Trees"))
        #expect(try await run(["config", "check"]).text.contains("4 options, no mistake"))
        let shown = try await run(["config", "show"], ["FIELDWORK_SERVE_INSTANCE": "maps"])
        #expect(
            shown.text.contains("FIELDWORK_SERVE_INSTANCE") && shown.text.contains("a.example, b.example"),
            "\(shown.errors)")
        #expect(try await run(["services"], ["FIELDWORK_DATA": "/nowhere"]).status == 66)
        #expect(try await run(["services", "--data", data], ["FIELDWORK_DATA": "/nowhere"]).status == 0)
        let server = try FieldworkProcess.start(["serve", "--config", file.path, "--instance", "own"])
        #expect(try await server.readyLine().hasSuffix("/own/rest/services"))
        await server.kill()
        for (text, line, words) in [
            ("[serve]\nprot = 80\n", 2, "no option prot"), ("[sreve]\nport = 80\n", 2, "no verb sreve"),
            ("port = 80\n", 1, "[serve]"), ("[serve]\nport = eighty\n", 2, "quotes"),
            ("[serve]\nopen = \"yes\"\n", 2, "true or false"),
            ("[serve]\nport = 1\nport = 2\n", 3, "twice"), ("data = \"x\n", 1, "not closed"),
        ] {
            try write(text)
            let refused = try await run(["config", "check"])
            #expect(
                refused.status == 65 && refused.errors.contains(":\(line): ") && refused.errors.contains(words),
                "\(refused.errors)")
            #expect(try await run(["serve"]).status == 65)
        }
        try write("[serve]\nport = 99999\n")
        #expect(try await run(["config", "check"]).errors.contains("65535"))
    }

    @Test("SIGHUP takes a changed file over in the same process; with a wrong one the server goes on as it is")
    func reload() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url)
        let file = folder.url.appending(path: "fieldwork.toml")
        func write(_ text: String) throws {
            try Data("data = '\(data)'\n[serve]\nport = 0\n\(text)".utf8).write(to: file)
        }
        try write("")
        let server = try FieldworkProcess.start(["serve", "--config", file.path])
        _ = try await server.readyLine()
        try write("prot = 1\n")
        kill(server.processID, SIGHUP)
        while try !server.errors().contains("goes on as it is") { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await PlainRequest.post("\(server.services)", [("f", "json")])["services"] != nil)
        for instance in ["first", "second"] {
            try write("instance = '\(instance)'\n")
            kill(server.processID, SIGHUP)
            while try !server.text().contains("/\(instance)/rest/services") {
                let errors = try server.errors()
                try #require(server.isRunning, "\(errors)")
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let line = try #require(try server.text().split(separator: "\n").last)
        let address = String(line.split(separator: " ").last ?? "")
        #expect(try await PlainRequest.post(address, [("f", "json")])["services"] != nil)
        #expect(await server.interrupt() == 0)
    }

    @Test("systemd learns when the server is ready and when it stops")
    func systemd() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url)
        let (socket, heard) = (folder.url.appending(path: "notify"), folder.url.appending(path: "heard"))
        let script = """
            import socket
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind('\(socket.path)')
            with open('\(heard.path)', 'wb', 0) as f:
                while True:
                    text = s.recv(4096)
                    f.write(text + b'\\n')
                    if b'STOPPING' in text: break
            """
        let listener = try FieldworkProcess.start(["-c", script], program: URL(filePath: "/usr/bin/python3"))
        while !FileManager.default.fileExists(atPath: socket.path) { try await Task.sleep(for: .milliseconds(10)) }
        let server = try FieldworkProcess.start(
            ["serve", "--data", data, "--port", "0"], environment: ["NOTIFY_SOCKET": socket.path])
        _ = try await server.readyLine()
        #expect(await server.interrupt() == 0)
        #expect(await listener.status() == 0)
        let text = try String(contentsOf: heard, encoding: .utf8)
        #expect(text.hasPrefix("READY=1\nSTATUS=Serving http") && text.hasSuffix("STOPPING=1\n"), "\(text)")
    }

    @Test("Backups are made again and again, and the newest are kept; each is whole and has people and rights")
    func backups() async throws {
        let folder = try TemporaryFolder()
        let data = try await Self.publish("Trees", folder.url)
        let server = try await FieldworkProcess.serve(data: URL(filePath: data))
        let target = folder.url.appending(path: "backups")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try Data("own".utf8).write(to: target.appending(path: "note.txt"))
        let backup = try FieldworkProcess.start([
            "backup", "--to", target.path, "--every", "1s", "--keep", "2", "--data", data,
        ])
        while try backup.text().components(separatedBy: "The backup is whole").count < 5 {
            let errors = try backup.errors()
            try #require(backup.isRunning, "\(errors)")
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await backup.interrupt() == 130)
        let left = try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
        #expect(left.count == 3 && left.last == "note.txt", "\(left)")
        let newest = target.appending(path: left[1])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: newest.path).sorted() == [
                "Trees.gpkg", "portal.sqlite",
            ])
        let checked = try await FieldworkProcess.run(["doctor", "--data", newest.path, "--format", "json"])
        #expect(checked.status == 0 && checked.text.contains(#""checked":1"#), "\(checked.errors)")
        await server.kill()
        let refused = try await FieldworkProcess.run(["backup", "--to", target.path, "--every", "soon", "--data", data])
        #expect(refused.status == 64)
    }
}
