import Foundation
import Testing

/// Disks that are full at any point of a sync, on either side: files may not grow beyond a limit that moves.
@Suite("Full disks", .serialized)
struct FullDiskTests {
    /// The limits in KB that are tried; `FIELDWORK_FULL_DISK=full` tries many.
    private static let limits: [Int] =
        ProcessInfo.processInfo.environment["FIELDWORK_FULL_DISK"] == "full"
        ? Array(stride(from: 1, through: 400, by: 3)) : [1, 24, 90]

    @Test("The next sync completes what a full disk broke off", arguments: [Side.crew, .server])
    func syncs(_ side: Side) async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish((0..<300).map { "5,5,place \($0),\($0)\n" }.joined(), in: data)
        var server = try await FieldworkProcess.serve(data: data)
        let port = try #require(URL(string: server.services)?.port)
        var crew = Crew("crew", in: folder.url)
        try await CrewService.takeOffline(server.services, to: crew.file)
        var failures = 0
        for (round, limit) in Self.limits.enumerated() {
            for number in 0..<20 { try await crew.add("\(round)-\(number)", round) }
            if side == .server {
                #expect(await server.interrupt() == 0)
                let full = try FieldworkProcess.start(
                    ["serve", "--data", data.path, "--port", String(port)], fileKilobytes: limit)
                // A server that has no room to start is gone by itself.
                guard (try? await full.readyLine()) != nil else {
                    failures += 1
                    server = try await CrewService.serve(data, port: port)
                    continue
                }
                server = full
            }
            // Every other time the process is ended at the write that finds no room.
            let sync =
                side == .crew
                ? try FieldworkProcess.start(
                    ["sync", crew.file.path], fileKilobytes: limit, isKilled: !round.isMultiple(of: 2))
                : try FieldworkProcess.start(["sync", crew.file.path])
            if await sync.status() != 0 { failures += 1 }
            if side == .server {
                await server.kill()
                server = try await CrewService.serve(data, port: port)
            }
        }
        #expect(failures > 0)
        print("Full disks of the \(side): \(Self.limits.count) limits, \(failures) syncs failed")
        for _ in 0..<2 { try await crew.sync() }
        var expected = Dictionary(uniqueKeysWithValues: (0..<300).map { ("place \($0)", [$0]) })
        expected.merge(crew.values.mapValues { [$0] }) { $0 + $1 }
        #expect(try await CrewService.served(server.services) == expected)
        #expect(try await crew.kept() == expected)
        #expect(await server.interrupt() == 0)
        let doctor = try await FieldworkProcess.run(["doctor", "--data", data.path])
        #expect(doctor.status == 0, "\(doctor.text)\(doctor.errors)")
    }

    @Test("An attachment or an upload for which there is no room is answered with an error, and the log says where")
    func files() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        try await CrewService.publish("5,5,place,1\n", in: data)
        let server = try FieldworkProcess.start(["serve", "--data", data.path, "--port", "0"], fileKilobytes: 1_000)
        _ = try await server.readyLine()
        let service = "\(server.services)/Crews/FeatureServer"
        let photo = Data(repeating: 7, count: 3_000_000)
        for (path, field) in [("0/1/addAttachment", "attachment"), ("uploads/upload", "file")] {
            let answer = try await PlainRequest.file("\(service)/\(path)", photo, field: field)
            let error = try #require(answer["error"] as? [String: Any], "\(answer)")
            #expect(error["code"] as? Int == 507)
            #expect(error["message"] as? String == "The disk of the service is full. Nothing was changed.")
            let log = try server.errors()
            #expect(log.contains("Crews/FeatureServer/\(path)"), "\(log)")
        }
        // What fits is taken, and nothing is left of what did not.
        let small = try await PlainRequest.file(
            "\(service)/0/1/addAttachment", Data(repeating: 7, count: 1_000), field: "attachment")
        #expect((small["addAttachmentResult"] as? [String: Any])?["success"] as? Bool == true, "\(small)")
        let list = try await PlainRequest.post("\(service)/0/1/attachments", [("f", "json")])
        #expect((list["attachmentInfos"] as? [Any])?.count == 1)
        #expect(await server.interrupt() == 0)
    }

    enum Side: String, Sendable { case crew, server }
}
