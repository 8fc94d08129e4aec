import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Uploads that break off", .fewAtATime)
struct ResumableUploadTests {
    /// Larger than what goes within an edit, and than one part.
    private static let photo: Data = {
        var bytes = Data(capacity: 6_000_000)
        for number in 0..<UInt32(6_000) {
            [UInt32](repeating: number, count: 250).withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        return bytes
    }()

    private static func load(_ service: TestService, _ client: BreakingClient) async throws -> ServiceGeodatabase {
        let environment = ServiceEnvironment(directory: service.folder.appending(path: "device"), client: client)
        let geodatabase = ServiceGeodatabase(url: service.url, environment: environment)
        try await geodatabase.load()
        return geodatabase
    }

    private static func addPhoto(_ geodatabase: ServiceGeodatabase) async throws {
        let table = try #require(geodatabase.table(withLayerID: 0))
        let found = try await table.queryFeatures(using: QueryParameters()).features().first { _ in true }
        let tree = try #require(found as? ArcGISFeature)
        try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: photo)
    }

    /// The one attachment there is.
    private static func served(_ geodatabase: ServiceGeodatabase) async throws -> Data {
        let table = try #require(geodatabase.table(withLayerID: 0))
        let found = try await table.queryFeatures(using: QueryParameters()).features().first { _ in true }
        let tree = try #require(found as? ArcGISFeature)
        let there = try await tree.fetchAttachments()
        #expect(there.count == 1)
        return try await there[0].data
    }

    @Test("They go on where they broke, and no byte goes twice that arrived")
    func goingOn() async throws {
        try await TestService.withTrees(1) { service in
            let client = BreakingClient()
            let geodatabase = try await Self.load(service, client)
            try await Self.addPhoto(geodatabase)
            client.breaks = 5
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits && client.breaks == 0)
            #expect(client.sentBytes == Self.photo.count)
            #expect(try await Self.served(geodatabase) == Self.photo)
        }
    }

    @Test("They go on in another process")
    func afterRestart() async throws {
        try await TestService.withTrees(1) { service in
            let first = BreakingClient()
            do {
                let geodatabase = try await Self.load(service, first)
                try await Self.addPhoto(geodatabase)
                (first.breaks, first.isGone) = (1, true)
                await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
                #expect(geodatabase.hasLocalEdits)
            }
            let second = BreakingClient()
            let geodatabase = try await Self.load(service, second)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(first.sentBytes > 0 && first.sentBytes + second.sentBytes == Self.photo.count)
            #expect(try await Self.served(geodatabase) == Self.photo)
        }
    }

    @Test("A service that has forgotten an upload gets it anew")
    func forgotten() async throws {
        try await TestService.withTrees(1) { service in
            let first = BreakingClient()
            let geodatabase = try await Self.load(service, first)
            try await Self.addPhoto(geodatabase)
            (first.breaks, first.isGone) = (1, true)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            (first.breaks, first.isGone) = (0, false)
            let uploads = service.store.workFolder.appending(path: "uploads")
            for name in try FileManager.default.contentsOfDirectory(atPath: uploads.path) {
                try FileManager.default.removeItem(at: uploads.appending(path: name))
            }
            _ = try await geodatabase.applyEdits()
            #expect(try await Self.served(geodatabase) == Self.photo)
        }
    }

    @Test("A service that knows nothing but parts gets each part until it has it")
    func parts() async throws {
        try await TestService.withTrees(1) { service in
            let client = BreakingClient(knowsPartsOnly: true)
            let geodatabase = try await Self.load(service, client)
            try await Self.addPhoto(geodatabase)
            client.lose("uploadPart")
            client.lose("commit")
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(client.operations.count { $0 == "uploadPart" } == 2)
            #expect(client.operations.count { $0 == "append" } == 0)
            #expect(try await Self.served(geodatabase) == Self.photo)
        }
    }
}

/// A line that breaks in the midst of uploads.
private final class BreakingClient: ServiceClient {
    private struct State {
        var breaks = 0
        var isGone = false
        var sentBytes = 0
        var losses: [String] = []
        var operations: [String] = []
    }

    private let state = Mutex(State())
    private let client = HTTPServiceClient(pause: { _ in })
    private let knowsPartsOnly: Bool

    init(knowsPartsOnly: Bool = false) { self.knowsPartsOnly = knowsPartsOnly }

    func wait(beforeAttempt attempt: Int) async throws {}
    /// How many stretches of uploads still break off.
    var breaks: Int {
        get { state.withLock { $0.breaks } }
        set { state.withLock { $0.breaks = newValue } }
    }
    /// Whether there is no line any more once one broke off.
    var isGone: Bool {
        get { state.withLock { $0.isGone } }
        set { state.withLock { $0.isGone = newValue } }
    }
    /// Bytes of files that went in stretches.
    var sentBytes: Int { state.withLock { $0.sentBytes } }
    var operations: [String] { state.withLock { $0.operations } }

    /// The next answer of an operation is lost after it was done.
    func lose(_ operation: String) { state.withLock { $0.losses.append(operation) } }

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
        let operation = request.url.lastPathComponent
        var sent = request
        let isBroken = try state.withLock { state -> Bool in
            state.operations.append(operation)
            if state.isGone, state.breaks == 0 { throw Self.broken }
            guard operation == "append", let stretch = request.file else { return false }
            let isBroken = state.breaks > 0
            let size = isBroken ? stretch.size / 3 : stretch.size
            sent.file?.size = size
            if isBroken { state.breaks -= 1 }
            state.sentBytes += Int(size)
            return isBroken
        }
        var answer = try await client.answer(to: sent)
        let isLost = state.withLock { state in
            state.losses.firstIndex(of: operation).map { state.losses.remove(at: $0) } != nil
        }
        if isBroken || isLost { throw Self.broken }
        if knowsPartsOnly, request.url.path.contains("/uploads/") {
            let text = String(decoding: answer.bytes, as: UTF8.self)
            answer.bytes = Array(text.replacing("\"received\"", with: "\"x\"").utf8)
        }
        return answer
    }

    private static let broken = Fieldwork.ServiceError.connectionFailed(details: "broken in this test")
}
