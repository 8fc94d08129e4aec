import Foundation
import TemporaryPostgres
import Testing

/// People, their tokens and their rights lie in the database: each of its servers knows them.
@Suite(
    "People of several servers", .serialized,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct SharedPeopleTests {
    /// What was revoked or taken away opens nothing any more after this time.
    private static let delay = Duration.seconds(1)

    private static func verb(_ arguments: [String]) async throws {
        let output = try await FieldworkProcess.run(
            ["-c", "printf '%s\\n' \"$FIELDWORK_TEST_LINE\" | \"$0\" \"$@\"", FieldworkProcess.executable.path]
                + arguments,
            environment: ["FIELDWORK_TEST_LINE": "correct horse"], program: URL(filePath: "/bin/bash"))
        try #require(output.status == 0, "\(arguments): \(output.text)\(output.errors)")
    }

    private static func root(_ server: FieldworkProcess) -> String {
        server.services.replacing("/rest/services", with: "")
    }

    private static func token(of name: String, from server: FieldworkProcess) async throws -> String {
        let answer = try await PlainRequest.post(
            "\(root(server))/tokens/generateToken",
            [("username", name), ("password", "correct horse"), ("f", "json")])
        return try #require(answer["token"] as? String, "\(answer)")
    }

    /// The error's code of each server's answer to a request with a token; 0 where there is none.
    private static func codes(
        _ servers: [FieldworkProcess], _ path: String, _ form: [(String, String)], token: String
    ) async throws -> [Int] {
        var codes: [Int] = []
        for server in servers {
            let answer = try await PlainRequest.post(
                "\(server.services)/Trees/FeatureServer/0\(path)", form + [("f", "json"), ("token", token)])
            codes.append((answer["error"] as? [String: Any])?["code"] as? Int ?? 0)
        }
        return codes
    }

    @Test("Three servers of one database take each other's tokens, and what is revoked or taken away within a second")
    func revocations() async throws {
        let folder = try TemporaryFolder()
        let home = try await ServiceHome(.database, in: folder.url)
        let table = folder.url.appending(path: "trees.csv")
        try Data("species,height,lon,lat\nOak,7,-122.6,45.5\n".utf8).write(to: table)
        try await Self.verb(
            ["publish", table.path, "--service", "Trees", "--x", "lon", "--y", "lat"] + home.arguments)
        try await Self.verb(["users", "add", "ana", "--role", "administrator"] + home.arguments)
        try await Self.verb(["users", "add", "ben", "--role", "editor"] + home.arguments)
        var servers: [FieldworkProcess] = []
        for _ in 0..<3 { servers.append(try await home.serve()) }
        let edit = [("features", #"[{"attributes":{"OBJECTID":1,"height":8}}]"#)]

        let first = try await Self.token(of: "ben", from: servers[0])
        #expect(try await Self.codes(servers, "/updateFeatures", edit, token: first) == [0, 0, 0])
        let revoked = try await PlainRequest.post(
            "\(Self.root(servers[1]))/sharing/rest/oauth2/revokeToken",
            [("client_id", "fieldwork"), ("auth_token", first), ("f", "json")])
        #expect(revoked["success"] as? Bool == true, "\(revoked)")
        try await Task.sleep(for: Self.delay)
        #expect(try await Self.codes(servers, "", [], token: first) == [498, 498, 498])

        let second = try await Self.token(of: "ben", from: servers[2])
        #expect(try await Self.codes(servers, "/updateFeatures", edit, token: second) == [0, 0, 0])
        try await Self.verb(["users", "role", "ben", "viewer"] + home.arguments)
        try await Task.sleep(for: Self.delay)
        #expect(try await Self.codes(servers, "/updateFeatures", edit, token: second) == [403, 403, 403])
        #expect(try await Self.codes(servers, "", [], token: second) == [0, 0, 0])
        try await Self.verb(["users", "disable", "ben"] + home.arguments)
        try await Task.sleep(for: Self.delay)
        #expect(try await Self.codes(servers, "", [], token: second) == [498, 498, 498])
        for server in servers { #expect(await server.interrupt() == 0) }
    }
}
