import Crypto
public import Foundation

extension EditJournal {
    /// An attachment that an edit added or deleted, as far as undo needs it.
    public struct AttachmentRecord: Sendable, Codable, Hashable {
        /// The name of the file.
        public let name: String
        /// The media type, as `image/jpeg`.
        public let contentType: String
        /// What it is for, as the form's author named it; empty for nothing.
        public let keywords: String
        /// The length in bytes.
        public let size: Int
        /// The SHA-256 of the bytes in hexadecimal digits; empty where they could not be had.
        public let hash: String
        /// The id under which a deleted one comes back with its feature; nil where its service gives none.
        public internal(set) var globalID: UUID?
        /// The file that holds the bytes of a deleted one; nil where they could not be had.
        public internal(set) var kept: UUID?

        init(
            name: String, contentType: String, keywords: String, size: Int, hash: String, globalID: UUID? = nil,
            kept: UUID? = nil
        ) {
            self.name = name
            self.contentType = contentType
            self.keywords = keywords
            self.size = size
            self.hash = hash
            self.globalID = globalID
            self.kept = kept
        }

        /// The record of an attachment that is about to be added.
        /// - Parameters:
        ///   - name: The name of the file.
        ///   - contentType: The media type.
        ///   - keywords: What it is for; empty for nothing.
        ///   - data: Its bytes.
        public init(name: String, contentType: String, keywords: String = "", data: Data) {
            self.init(
                name: name, contentType: contentType, keywords: keywords, size: data.count, hash: Self.digest(data))
        }

        fileprivate static func digest(_ data: Data) -> String { MapPackageIndex.digits(SHA256.hash(data: data)) }

        /// The first of some attachments that is the same file: of its name, its length and its bytes. nil for none.
        ///
        /// Throws what fetching the bytes of one of its name and length throws.
        public func first(of attachments: [Attachment]) async throws -> Attachment? {
            for attachment in attachments where attachment.name == name && attachment.size == size {
                if Self.digest(try await attachment.data) == hash { return attachment }
            }
            return nil
        }
    }

    /// The attachments of one edit.
    public struct AttachmentChanges: Sendable, Codable, Hashable {
        /// Those that it added.
        public var added: [AttachmentRecord]
        /// Those that it deleted.
        public var deleted: [AttachmentRecord]

        /// The attachments of an edit; none where nothing else is said.
        public init(added: [AttachmentRecord] = [], deleted: [AttachmentRecord] = []) {
            self.added = added
            self.deleted = deleted
        }

        /// Whether there are none.
        public var isEmpty: Bool { added.isEmpty && deleted.isEmpty }
    }

    /// Keeps the bytes of an attachment that is about to be deleted, so that undo can bring it back. One whose bytes can't be had now can be
    /// deleted all the same: its record says so.
    public func keep(_ attachment: Attachment) async -> AttachmentRecord {
        let data = try? await attachment.data
        return AttachmentRecord(
            name: attachment.name, contentType: attachment.contentType, keywords: attachment.keywords,
            size: attachment.size, hash: data.map(AttachmentRecord.digest) ?? "", globalID: attachment.globalID,
            kept: data.flatMap { try? keptFiles.keep(.data($0)).id })
    }

    /// Takes changes back: what was added goes, what was deleted comes again.
    /// - Parameter cameBack: The feature itself was deleted and is back: its attachments may have come with it.
    /// - Returns: The changes that this made.
    func undo(
        _ changes: AttachmentChanges, of feature: Feature, cameBack: Bool = false
    ) async throws -> AttachmentChanges {
        guard !changes.isEmpty, let feature = feature as? ArcGISFeature else { return AttachmentChanges() }
        var counter = AttachmentChanges()
        var present = changes.added.isEmpty ? [] : try await feature.attachments
        if cameBack { present = (try? await feature.attachments) ?? [] }
        for record in changes.added {
            guard let attachment = try await record.first(of: present) else { continue }
            counter.deleted.append(await keep(attachment))
            try await feature.deleteAttachment(attachment)
            present.removeAll { $0 === attachment }
        }
        for record in changes.deleted {
            if cameBack, let here = try await record.first(of: present) {
                present.removeAll { $0 === here }
                continue
            }
            guard let kept = record.kept, let data = try? Data(contentsOf: keptFiles.url(of: kept)) else {
                throw EditJournalError.attachmentNotKept(details: "\(record.name) isn't kept on this device.")
            }
            try await feature.addAttachment(
                named: record.name, contentType: record.contentType, keywords: record.keywords, data: data,
                globalID: cameBack ? record.globalID : nil)
            counter.added.append(record)
        }
        return counter
    }
}
