import Crypto
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The uploads on the disk, a folder each: what is known of it, its parts, its content. Each file appears whole or not at
/// all, so that an upload goes on after a restart where it was.
struct UploadFolder: UploadKeeper {
    /// The folder of all that is made on behalf of clients.
    let work: URL

    /// Where files of forms are received.
    var incoming: URL { work.appending(path: "incoming", directoryHint: .isDirectory) }
    private var uploads: URL { work.appending(path: "uploads", directoryHint: .isDirectory) }

    private func folder(_ id: String) -> URL { uploads.appending(path: id, directoryHint: .isDirectory) }
    private func description(_ id: String) -> URL { folder(id).appending(path: "item.json") }
    private func content(_ id: String) -> URL { folder(id).appending(path: "content") }
    private func part(_ number: Int, of id: String) -> URL { folder(id).appending(path: "part-\(number)") }
    /// What has arrived of an upload that comes in stretches.
    func stretches(of item: UploadItem) -> UploadStretches { UploadStretches(folder: folder(item.id)) }

    // MARK: Items

    /// Keeps a new upload, or what is new of it.
    func keep(_ item: UploadItem) throws {
        try makeFolder(of: item)
        let file = try ResultFile(at: folder(item.id).appending(path: ".\(UUID().uuidString)"))
        try file.write(Array(item.storageJSON.text.utf8))
        try file.publish(as: description(item.id))
    }

    /// An upload that has not expired; nil when there is none.
    func item(_ id: String, now: Date) -> UploadItem? {
        guard UploadItem.isID(id), let data = try? Data(contentsOf: description(id)),
            let item = (try? JSONParser.parse(data)).flatMap(UploadItem.init(storageJSON:)),
            item.date.addingTimeInterval(Limits.uploadLifetimeSeconds) > now
        else { return nil }
        return item
    }

    /// The file of a complete upload, where it is.
    func localFile(of item: UploadItem) -> UploadedFile? {
        guard let known = item.content else { return nil }
        return UploadedFile(
            name: item.name, contentType: item.contentType,
            content: AttachmentContent(path: content(item.id).path, size: known.size, sha256: known.sha256))
    }

    func file(of item: UploadItem) -> FetchedUpload? { localFile(of: item).map { FetchedUpload($0) } }

    func remove(_ id: String) {
        guard UploadItem.isID(id) else { return }
        // The item first: what is left of a folder without one is nobody's.
        try? FileManager.default.removeItem(at: description(id))
        try? FileManager.default.removeItem(at: folder(id))
    }

    /// Keeps an upload that came in one piece.
    func keep(_ item: UploadItem, content file: ReceivedFile) throws -> UploadItem {
        var item = item
        try makeFolder(of: item)
        try file.move(to: content(item.id))
        item.content = UploadItem.Content(size: file.size, sha256: file.sha256)
        try keep(item)
        return item
    }

    private func makeFolder(of item: UploadItem) throws {
        try StoreError.writing {
            try FileManager.default.createDirectory(at: folder(item.id), withIntermediateDirectories: true)
        }
    }

    // MARK: Parts

    /// The same part again replaces the one that is there.
    func keepPart(_ number: Int, _ file: ReceivedFile, of item: UploadItem) throws {
        let others = parts(of: item).filter { $0 != number }
        try UploadRules.checkPart(item, size: file.size, others: others.map { Self.size(part($0, of: item.id)) })
        try file.move(to: part(number, of: item.id))
    }

    /// The numbers of the parts that are there, in their order.
    func parts(of item: UploadItem) -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder(item.id).path)) ?? []
        return names.filter { $0.hasPrefix("part-") }.compactMap { Int($0.dropFirst(5)) }.sorted()
    }

    static func size(_ url: URL) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: url.path))?[.size] as? NSNumber)?.intValue ?? 0
    }

    func received(of item: UploadItem) -> Int { stretches(of: item).received }

    func beginStretch(of item: UploadItem, at offset: Int) throws -> any UploadStretchSink {
        try stretches(of: item).begin(at: offset)
    }

    /// Joins parts, or stretches where there are any, to the content. A commit that was done before gives what it gave.
    /// - Parameter numbers: nil for all that is there.
    func commit(_ item: UploadItem, parts numbers: [Int]?, as announced: UploadAnnouncement = .init()) throws
        -> UploadItem
    {
        guard item.content == nil else { return item }
        let (stretches, present) = (stretches(of: item), parts(of: item))
        var item = item
        let file = try ResultFile(at: folder(item.id).appending(path: ".\(UUID().uuidString)"))
        let content: UploadItem.Content
        do {
            content =
                numbers == nil && !stretches.isEmpty
                ? try stretches.join(to: file) : try join(numbers ?? present, of: item, to: file)
        } catch {
            file.discard()
            throw error
        }
        guard announced.names(content) else {
            file.discard()
            // With all of its bytes there and not the right ones, going on would never end well.
            if announced.size == content.size { stretches.remove() }
            throw UploadAnnouncement.refusal(content)
        }
        try file.publish(as: self.content(item.id))
        item.content = content
        try keep(item)
        for number in present { try? FileManager.default.removeItem(at: part(number, of: item.id)) }
        stretches.remove()
        return item
    }

    private func join(_ numbers: [Int], of item: UploadItem, to file: ResultFile) throws -> UploadItem.Content {
        try UploadRules.checkParts(numbers, present: Set(parts(of: item)))
        var hash = SHA256()
        var size = 0
        for number in numbers {
            let part = try FileHandle(forReadingFrom: part(number, of: item.id))
            defer { try? part.close() }
            while let piece = try part.read(upToCount: Limits.uploadPiece), !piece.isEmpty {
                hash.update(data: piece)
                size += piece.count
                try file.write([UInt8](piece))
            }
        }
        return UploadItem.Content(size: size, sha256: hash.finalize().hexadecimal)
    }

    // MARK: Room

    /// How many uploads there are.
    func count() -> Int { ((try? FileManager.default.contentsOfDirectory(atPath: uploads.path)) ?? []).count }

    /// Removes uploads that have expired, and what broken requests left.
    func sweep(now: Date) {
        let oldest = now.addingTimeInterval(-Limits.uploadLifetimeSeconds)
        let keys: Set<URLResourceKey> = [.contentModificationDateKey]
        for folder in [incoming, uploads] {
            let entries =
                (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys)))
                ?? []
            for entry in entries {
                // A folder is as young as the last file that came into it.
                guard let modified = try? entry.resourceValues(forKeys: keys).contentModificationDate,
                    modified < oldest, item(entry.lastPathComponent, now: now) == nil
                else { continue }
                try? FileManager.default.removeItem(at: entry)
            }
        }
    }
}
