import FieldworkREST
import Foundation

/// The contents of staged attachments: one file each, whole or not there.
struct AttachmentFiles: Sendable {
    let folder: URL

    /// Bytes to keep: in memory, or in a file of somebody else.
    enum Source: Sendable {
        case data(Data)
        case file(URL)
    }

    func url(of id: UUID) -> URL { folder.appending(path: GUID.fileName(id)) }

    /// Keeps a content. When it returns the bytes survive the loss of power. Throws `CommonError.io`, and
    /// `GeodatabaseError.valueOutOfRange` for a content that is too large.
    func keep(_ source: Source) throws -> (id: UUID, size: Int64) {
        let id = UUID()
        let part = folder.appending(path: GUID.fileName(id) + ".part")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            switch source {
            case .data(let data): try data.write(to: part)
            case .file(let url): try FileManager.default.copyItem(at: url, to: part)
            }
            let handle = try FileHandle(forUpdating: part)
            let size = try handle.seekToEnd()
            try handle.synchronize()
            try handle.close()
            guard size <= Limits.attachmentBytes else {
                throw GeodatabaseError.valueOutOfRange(details: "The attachment is too large: \(size) bytes.")
            }
            guard rename(part.path, url(of: id).path) == 0 else {
                throw CommonError.io(details: "The attachment could not be kept on this device.")
            }
            try synchronizeFolder()
            return (id, Int64(size))
        } catch {
            try? FileManager.default.removeItem(at: part)
            if error is any ArcGISError { throw error }
            throw CommonError.io(details: "The attachment could not be kept on this device: \(error)")
        }
    }

    /// The name of the file has to survive too.
    private func synchronizeFolder() throws {
        let descriptor = open(folder.path, O_RDONLY)
        guard descriptor >= 0 else { throw CommonError.io(details: "The folder of attachments can't be opened.") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw CommonError.io(details: "The folder of attachments could not be written.")
        }
    }

    /// Forgets contents that nothing needs any more. One that can't be removed now is removed with the next opening.
    func remove(_ ids: some Sequence<UUID>) {
        for id in ids {
            try? FileManager.default.removeItem(at: url(of: id))
            try? FileManager.default.removeItem(at: uploadNote(of: id))
        }
    }

    // MARK: Uploads under way

    private func uploadNote(of id: UUID) -> URL { folder.appending(path: GUID.fileName(id) + Self.noteSuffix) }
    private static let noteSuffix = ".upload"

    /// The upload that is bringing a content to the service.
    func uploadID(of id: UUID) -> String? { try? String(contentsOf: uploadNote(of: id), encoding: .utf8) }

    /// Keeps the id of an upload for who goes on with it. Without the note it would go anew: nothing else is lost.
    func note(uploadID: String?, of id: UUID) {
        if let uploadID {
            try? Data(uploadID.utf8).write(to: uploadNote(of: id), options: .atomic)
        } else {
            try? FileManager.default.removeItem(at: uploadNote(of: id))
        }
    }

    /// Forgets what no edit names: left by a process that ended between writing a content and naming it.
    func sweep(keeping ids: Set<UUID>) {
        let names = Set(ids.map(GUID.fileName))
        let present = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in present where !names.contains(name.replacing(Self.noteSuffix, with: "")) {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }
}

extension GUID {
    /// A GUID as the name of a file: digits, letters and hyphens.
    fileprivate static func fileName(_ id: UUID) -> String { id.uuidString.lowercased() }
}
