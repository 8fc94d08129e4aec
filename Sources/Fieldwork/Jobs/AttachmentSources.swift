import FieldworkREST
import FieldworkStore
import Foundation

/// Geodatabases of this device whose attachments are taken from there instead of being fetched again. They are read and not changed.
struct AttachmentSources: Sendable {
    private let sessions: [GeodatabaseSession]

    static let none = AttachmentSources(sessions: [])

    private init(sessions: [GeodatabaseSession]) { self.sessions = sessions }

    /// Those that can be opened. One that can't be is no reason to fail: its attachments are fetched.
    static func open(_ files: [URL]) async -> AttachmentSources {
        var sessions: [GeodatabaseSession] = []
        for file in files {
            if let session = try? await GeodatabaseSession.look(at: file) { sessions.append(session) }
        }
        return AttachmentSources(sessions: sessions)
    }

    func close() async {
        for session in sessions { await session.file.close() }
    }

    /// The geodatabases that consist for the larger part of attachments. A service that is to send the attachments one by one sends the
    /// features as text, which takes longer than its file: that pays off only where the attachments weigh more.
    static func worthwhile(_ files: [URL]) async -> [URL] {
        var found: [URL] = []
        for file in files {
            let sources = await open([file])
            var bytes: Int64 = 0
            for session in sources.sessions {
                for layer in session.file.definition.layers where layer.hasAttachments {
                    bytes += (try? await onDevice { try await session.file.attachmentBytes(in: layer.id) }) ?? 0
                }
            }
            await sources.close()
            let whole = (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
            if bytes > Int64(whole) / 2 { found.append(file) }
        }
        return found
    }

    /// Copies the content of an attachment.
    /// - Parameters:
    ///   - id: its global id.
    ///   - sha256: what its bytes have to be, in hexadecimal digits.
    ///   - file: where to.
    /// - Returns: false where none of the geodatabases has these bytes of it.
    func copy(_ id: UUID, sha256: String, in layerID: Int, to file: URL) async -> Bool {
        for session in sessions where session.file.definition.layer(id: layerID)?.hasAttachments == true {
            let isCopied = try? await onDevice {
                let own = try await session.file.attachmentDigest(.globalID(id), in: layerID)
                guard own == sha256 else { return false }
                return try await session.file.copyAttachment(.globalID(id), in: layerID, to: file)
            }
            if isCopied == true { return true }
        }
        return false
    }
}
