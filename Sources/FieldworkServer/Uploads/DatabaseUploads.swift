import Crypto
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// The uploads in the database of a store: any process takes the next part, and any uses the file.
struct DatabaseUploads: UploadKeeper {
    let work: SharedWork
    /// A folder of this process alone, for what one request receives or uses.
    let folder: URL

    var incoming: URL { folder.appending(path: "incoming", directoryHint: .isDirectory) }

    // MARK: Items

    func keep(_ item: UploadItem) async throws {
        try await work.keepUpload(item.id, item: item.storageJSON.text, content: nil)
    }

    func item(_ id: String, now: Date) async throws -> UploadItem? { try await kept(id, now: now)?.item }

    private func kept(_ id: String, now: Date) async throws -> (item: UploadItem, content: Int64?)? {
        guard UploadItem.isID(id), let kept = try await work.upload(id),
            let item = (try? JSONParser.parse(Array(kept.item.utf8))).flatMap(UploadItem.init(storageJSON:)),
            item.date.addingTimeInterval(Limits.uploadLifetimeSeconds) > now
        else { return nil }
        return (item, kept.content)
    }

    func remove(_ id: String) async throws { try await work.removeUpload(id) }

    func keep(_ item: UploadItem, content file: ReceivedFile) async throws -> UploadItem {
        let kept = try await work.keepFile(at: file.url)
        var item = item
        item.content = UploadItem.Content(size: file.size, sha256: file.sha256)
        try await work.keepUpload(item.id, item: item.storageJSON.text, content: kept.file)
        return item
    }

    /// Copies the content to this machine: the store reads it from a file.
    func file(of item: UploadItem) async throws -> FetchedUpload? {
        guard let known = item.content, let content = try await work.upload(item.id)?.content else { return nil }
        try StoreError.writing {
            try FileManager.default.createDirectory(at: incoming, withIntermediateDirectories: true)
        }
        let url = incoming.appending(path: UUID().uuidString)
        let fetched = FetchedUpload(
            UploadedFile(
                name: item.name, contentType: item.contentType,
                content: AttachmentContent(path: url.path, size: known.size, sha256: known.sha256)), copy: url)
        let file = try ResultFile(at: url)
        for try await piece in work.pieces(of: content, in: 0..<Int64(known.size)) { try file.write(piece) }
        return fetched
    }

    // MARK: Parts

    func keepPart(_ number: Int, _ file: ReceivedFile, of item: UploadItem) async throws {
        let others = try await work.parts(of: item.id).filter { !$0.isStretch && $0.place != Int64(number) }
        try UploadRules.checkPart(item, size: file.size, others: others.map { Int($0.size) })
        let kept = try await work.keepFile(at: file.url)
        guard try await work.addPart(Int64(number), file: kept.file, to: item.id) else {
            throw UploadRules.complete(item.id)
        }
    }

    func parts(of item: UploadItem) async throws -> [Int] {
        try await work.parts(of: item.id).filter { !$0.isStretch }.map { Int($0.place) }
    }

    func received(of item: UploadItem) async throws -> Int {
        UploadRules.reach(of: try await stretches(of: item).map { ($0.offset, $0.size) })
    }

    private func stretches(of item: UploadItem) async throws -> [(offset: Int, size: Int, file: Int64)] {
        try await work.parts(of: item.id).filter(\.isStretch).map { (Int($0.place), Int($0.size), $0.file) }
    }

    func beginStretch(of item: UploadItem, at offset: Int) async throws -> any UploadStretchSink {
        let present = try await stretches(of: item)
        try UploadRules.checkStretch(at: offset, present: present.map { ($0.offset, $0.size) })
        guard let file = try await work.beginStretch(at: Int64(offset), of: item.id) else {
            throw UploadRules.complete(item.id)
        }
        return DatabaseStretch(
            work: work, file: file, maximumBytes: FieldworkREST.Limits.attachmentBytes - offset)
    }

    // MARK: Completion

    func commit(
        _ item: UploadItem, parts numbers: [Int]?, as announced: UploadAnnouncement
    ) async throws -> UploadItem {
        guard item.content == nil else { return item }
        do {
            return try await join(item, parts: numbers, as: announced)
        } catch {
            // Of two commits at a time the second finds parts that the first one is taking away.
            guard let other = try? await self.item(item.id, now: item.date), other.content != nil else { throw error }
            return other
        }
    }

    private func join(
        _ item: UploadItem, parts numbers: [Int]?, as announced: UploadAnnouncement
    ) async throws -> UploadItem {
        let present = try await work.parts(of: item.id)
        let isStretched = numbers == nil && present.contains(where: \.isStretch)
        let segments =
            isStretched ? Self.joined(present.filter(\.isStretch)) : try Self.chosen(numbers, of: present)
        let content = try await content(of: segments)
        guard announced.names(content) else {
            // With all of its bytes there and not the right ones, going on would never end well.
            if announced.size == content.size { try await work.removeStretches(of: item.id) }
            throw UploadAnnouncement.refusal(content)
        }
        var complete = item
        complete.content = content
        let isDone = try await work.completeUpload(item.id, of: segments, item: complete.storageJSON.text)
        if isDone { return complete }
        // Somebody else was faster, or has sent a part anew.
        throw ServiceError(code: 503, message: "The upload was changed in this moment. Try again.")
    }

    /// Of stretches that may overlap, what makes one content.
    private static func joined(_ stretches: [SharedWork.Part]) -> [SharedWork.Segment] {
        var size: Int64 = 0
        return stretches.compactMap { stretch in
            guard stretch.place <= size, stretch.place + stretch.size > size else { return nil }
            defer { size = stretch.place + stretch.size }
            return SharedWork.Segment(file: stretch.file, range: (size - stretch.place)..<stretch.size)
        }
    }

    private static func chosen(
        _ numbers: [Int]?, of present: [SharedWork.Part]
    ) throws(ServiceError) -> [SharedWork.Segment] {
        let parts = Dictionary(present.filter { !$0.isStretch }.map { (Int($0.place), $0) }) { $1 }
        let numbers = numbers ?? parts.keys.sorted()
        try UploadRules.checkParts(numbers, present: Set(parts.keys))
        return numbers.compactMap { parts[$0] }.map { SharedWork.Segment(file: $0.file, range: 0..<$0.size) }
    }

    private func content(of segments: [SharedWork.Segment]) async throws -> UploadItem.Content {
        var hash = SHA256()
        var size = 0
        for segment in segments {
            for try await piece in work.pieces(of: segment.file, in: segment.range) {
                piece.withUnsafeBytes { hash.update(bufferPointer: $0) }
                size += piece.count
            }
        }
        return UploadItem.Content(size: size, sha256: hash.finalize().hexadecimal)
    }

    // MARK: Room

    func count() async throws -> Int { try await work.uploadCount() }

    /// By the clock of the database, which is the same for all processes.
    func sweep(now: Date) async throws {
        try await work.sweepUploads(olderThan: Limits.uploadLifetimeSeconds)
    }
}

/// A stretch that is arriving in a database: each full piece counts from its COMMIT on.
actor DatabaseStretch: UploadStretchSink {
    private let work: SharedWork
    private let file: Int64
    private let maximumBytes: Int
    private var written = 0
    private var waiting: [UInt8] = []

    init(work: SharedWork, file: Int64, maximumBytes: Int) {
        self.work = work
        self.file = file
        self.maximumBytes = maximumBytes
    }

    func write(_ bytes: [UInt8]) async throws {
        guard written + waiting.count + bytes.count <= maximumBytes else { throw UploadRules.tooLarge }
        waiting += bytes
        if waiting.count >= FieldworkStore.Limits.workPiece { try await flush() }
    }

    func finish() async throws {
        guard !waiting.isEmpty else { return }
        try await flush()
    }

    private func flush() async throws {
        let (piece, place) = (waiting, Int64(written))
        let (work, file) = (work, file)
        waiting = []
        // What has arrived is kept although its request was broken off, which cancels the task.
        try await Task { try await work.append(piece, to: file, at: place) }.value
        written += piece.count
    }
}
