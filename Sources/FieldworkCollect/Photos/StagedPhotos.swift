import Crypto
import Fieldwork
import Foundation

/// A photo or file that was chosen in a form and is kept when the form is saved. The original is on this device's disk.
struct StagedPhoto: Sendable, Codable, Hashable, Identifiable {
    let id: UUID
    /// What it is called unless the user says otherwise.
    let name: String
    let contentType: String
    /// Bytes of the original.
    let size: Int
    /// What it would have in each of the sizes, where that is less; by the name of the size.
    let smaller: [String: Int]
    /// Whether it says where it was taken.
    let hasPlace: Bool
    /// Its saving was begun: after a crash it may be among the feature's already.
    var isBegun = false

    var isPicture: Bool { contentType.hasPrefix("image/") }
}

/// The photos and files of unfinished forms: a folder for each draft, a file for each content and one for what is known of
/// it. They go with the draft.
struct StagedPhotos: Sendable {
    /// Holds the drafts.
    let folder: URL

    private func folder(of draft: String) -> URL {
        folder.appending(path: "\(draft).files", directoryHint: .isDirectory)
    }

    func file(_ id: UUID, of draft: String) -> URL { folder(of: draft).appending(path: id.uuidString.lowercased()) }

    private func note(_ id: UUID, of draft: String) -> URL { file(id, of: draft).appendingPathExtension("json") }

    /// Those of a draft, in the order in which they were chosen.
    func photos(of draft: String) -> [StagedPhoto] {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder(of: draft), includingPropertiesForKeys: [.creationDateKey])
        let notes = (files ?? []).filter { $0.pathExtension == "json" }.compactMap { file -> (Date, StagedPhoto)? in
            guard let data = try? Data(contentsOf: file), let note = try? JSONDecoder().decode(Note.self, from: data)
            else { return nil }
            return (note.date, note.photo)
        }
        return notes.sorted { ($0.0, $0.1.id.uuidString) < ($1.0, $1.1.id.uuidString) }.map(\.1)
    }

    private struct Note: Codable {
        var date: Date
        var photo: StagedPhoto
    }

    /// Keeps a file. Both its bytes and its note survive the loss of power when this returns.
    @discardableResult
    func add(_ data: Data, name: String, claimed: String, to draft: String) throws -> StagedPhoto {
        guard photos(of: draft).count < Limits.stagedPhotos else {
            throw CollectError(
                .notAllowed, "\(Limits.stagedPhotos) photos and files wait in this form.", nextStep: "Save it first.")
        }
        let kind = FileKind(data)
        var smaller: [String: Int] = [:]
        if kind.isJPEG {
            for size in StagedAttachment.PreferredSize.allCases {
                guard let edge = size.longerEdge,
                    let bytes = PhotoScaler.scaled(data, longerEdge: edge, keepsNotes: true)?.count, bytes < data.count
                else { continue }
                smaller[size.rawValue] = bytes
            }
        }
        let photo = StagedPhoto(
            id: UUID(), name: name, contentType: kind.contentType(claimed: claimed), size: data.count,
            smaller: smaller, hasPlace: kind.isJPEG && PhotoNotes(data).hasPlace)
        try FileManager.default.createDirectory(at: folder(of: draft), withIntermediateDirectories: true)
        try SafeFile.write(data, to: file(photo.id, of: draft))
        try keep(Note(date: Date(), photo: photo), of: draft)
        return photo
    }

    private func keep(_ note: Note, of draft: String) throws {
        try SafeFile.write(try JSONEncoder().encode(note), to: self.note(note.photo.id, of: draft))
    }

    /// Writes down that the saving of these is begun.
    func begin(_ photos: [StagedPhoto], of draft: String) throws {
        for photo in photos where !photo.isBegun {
            let data = try Data(contentsOf: note(photo.id, of: draft))
            var note = try JSONDecoder().decode(Note.self, from: data)
            note.photo.isBegun = true
            try keep(note, of: draft)
        }
    }

    /// The bytes to keep: as small as was chosen, without its place where that was chosen.
    func content(_ edit: PhotoEdits.Addition, of draft: String) throws -> Data {
        let data = try Data(contentsOf: file(edit.photo.id, of: draft), options: .mappedIfSafe)
        if let edge = edit.size.longerEdge, edit.photo.smaller[edit.size.rawValue] != nil,
            let scaled = PhotoScaler.scaled(data, longerEdge: edge, keepsNotes: !edit.removesPlace)
        {
            return scaled
        }
        return edit.removesPlace && edit.photo.hasPlace ? PhotoNotes(data).withoutPlace(data) : data
    }

    func removeAll(of draft: String) { try? FileManager.default.removeItem(at: folder(of: draft)) }
}

/// Writing a file so that it is whole or not there, also after the loss of power.
enum SafeFile {
    static func write(_ data: Data, to file: URL) throws {
        let part = file.appendingPathExtension("part")
        try data.write(to: part)
        let handle = try FileHandle(forUpdating: part)
        try handle.synchronize()
        try handle.close()
        guard rename(part.path, file.path) == 0 else {
            throw CollectError(.notAllowed, "\(file.lastPathComponent) could not be kept on this device.")
        }
        let folder = open(file.deletingLastPathComponent().path, O_RDONLY)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}
