import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// How often the content of an attachment is compared with its hash.
@Suite("Verified contents", .fewAtATime)
struct VerifiedContentsTests {
    private let folder: TemporaryFolder
    private let store: GeoPackageStore
    private var path: String { folder.url.appending(path: "Trees.gpkg").path }
    private static let content = Array("a photo of a tree".utf8)

    init() async throws {
        folder = try TemporaryFolder()
        store = try await GeoPackageStore.open(at: folder.url)
        var service = Samples.service
        service.layers[0].hasAttachments = true
        try await store.createService(service)
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer")]), to: Samples.name)
        var batch = Samples.batch()
        batch.layers[0].attachments = AttachmentEdits(adds: [
            AttachmentEdit(
                parent: .objectID(1), name: "bark.jpg", content: AttachmentContent(bytes: Self.content))
        ])
        _ = try await store.apply(batch, to: Samples.name)
    }

    private func mediaRow(_ connection: StoreConnection) throws -> Int64 {
        try #require(try connection.integer("SELECT id FROM \(AttachmentTables.media)"))
    }

    /// A read of the whole content.
    /// - Returns: how often it was compared.
    private func read(_ verified: VerifiedContents, _ connection: StoreConnection) throws -> Int {
        var comparisons = 0
        let cursor = try MediaCursor(
            mediaRow: try mediaRow(connection), range: 2..<7, verified: verified, on: connection,
            verify: { blob, hash in
                comparisons += 1
                try MediaStore.verify(blob, sha256: hash)
            })
        #expect(try cursor.piece(of: 100) == Array(Self.content[2..<7]))
        return comparisons
    }

    @Test("A content is compared once while nobody writes the file, and again when somebody did")
    func once() throws {
        let verified = VerifiedContents(path: path)
        let connection = try StoreConnection(path: path, mode: .readOnly)
        // What was written a moment ago is compared each time.
        #expect(try read(verified, connection) == 1)
        let state = verified.state
        verified.remember(
            try mediaRow(connection), in: state, now: state.lastChange + FieldworkStore.Limits.settledSeconds)
        #expect(try read(verified, connection) == 0)
        #expect(try read(verified, connection) == 0)
        let other = try StoreConnection(path: path, mode: .readWrite)
        try other.execute("UPDATE fieldwork_counts SET row_count = row_count")
        #expect(try read(verified, connection) == 1)
    }

    @Test("What another program puts in place of a known content is found out")
    func tampered() throws {
        let verified = VerifiedContents(path: path)
        let connection = try StoreConnection(path: path, mode: .readOnly)
        let state = verified.state
        verified.remember(
            try mediaRow(connection), in: state, now: state.lastChange + FieldworkStore.Limits.settledSeconds)
        #expect(try read(verified, connection) == 0)
        let other = try StoreConnection(path: path, mode: .readWrite)
        try other.execute("UPDATE \(AttachmentTables.media) SET data = x'00112233445566778899aabbccddeeff00'")
        do {
            _ = try read(verified, connection)
            Issue.record("The changed content was given.")
        } catch let error as StoreError {
            #expect(error.code == .corrupt)
        }
    }

    @Test("A file that changed just now is not remembered; the number of contents is bounded")
    func bounds() throws {
        let verified = VerifiedContents(path: path)
        let state = verified.state
        verified.remember(1, in: state, now: state.lastChange + FieldworkStore.Limits.settledSeconds - 1)
        #expect(!verified.holds(1, in: state))
        let settled = state.lastChange + FieldworkStore.Limits.settledSeconds
        for row in 1...Int64(FieldworkStore.Limits.verifiedContents) { verified.remember(row, in: state, now: settled) }
        #expect(
            verified.holds(1, in: state) && verified.holds(Int64(FieldworkStore.Limits.verifiedContents), in: state))
        verified.remember(0, in: state, now: settled)
        #expect(verified.holds(0, in: state) && !verified.holds(1, in: state))
    }
}
