import FieldworkGeometry
package import FieldworkREST
package import Foundation

extension ServiceData {
    package func attachments(_ query: AttachmentQuery, in layerID: Int) async throws -> AttachmentPage {
        let layer = try layer(layerID)
        return try await read {
            try AttachmentReader(layer: layer, connection: $0, now: Date.now.milliseconds).page(query)
        }
    }

    package func attachmentCounts(_ query: AttachmentQuery, in layerID: Int) async throws -> [AttachmentCount] {
        let layer = try layer(layerID)
        return try await read {
            try AttachmentReader(layer: layer, connection: $0, now: Date.now.milliseconds).counts(query)
        }
    }

    /// While a transaction is open its own attachments are not among these.
    package func attachmentContent(
        _ id: AttachmentIdentifier, of objectID: Int64? = nil, range: Range<Int>? = nil, in layerID: Int
    ) async throws -> StoredAttachment? {
        let layer = try layer(layerID)
        let found = try await readers.read {
            try AttachmentReader(layer: layer, connection: $0, now: Date.now.milliseconds).find(id, of: objectID)
        }
        guard let found else { return nil }
        let pieces = try await FeatureStream.start(pool: readers) { [verifiedContents] in
            try MediaCursor(mediaRow: found.mediaRow, range: range, verified: verifiedContents, on: $0)
        }
        return StoredAttachment(info: found.info, pieces: pieces)
    }

    package func attachmentChanges(
        after generation: Int64, in layerID: Int, limit: Int
    ) async throws -> [AttachmentChange] {
        let layer = try layer(layerID)
        return try await read {
            try AttachmentLog(layer: layer, connection: $0).changes(after: generation, limit: limit)
        }
    }

    /// What became of each attachment from one generation to another.
    package func netAttachmentChanges(
        after base: Int64, through last: Int64 = .max, in layerID: Int
    ) async throws -> [AttachmentChange] {
        let layer = try layer(layerID)
        return try await read { try AttachmentLog(layer: layer, connection: $0).net(after: base, through: last) }
    }

    /// The global ids of all attachments of a layer.
    package func attachmentGlobalIDs(in layerID: Int) async throws -> [UUID] {
        let layer = try layer(layerID)
        guard layer.definition.hasAttachments else { return [] }
        return try await read { connection in
            try connection.texts("SELECT globalid FROM \(quoted(layer.attachmentTable))").compactMap(GUID.parse)
        }
    }

    /// Writes the bytes of an attachment to a file, piece by piece; those of the open transaction as well.
    /// - Returns: false when there is none with this id.
    package func copyAttachment(_ id: AttachmentIdentifier, in layerID: Int, to url: URL) async throws -> Bool {
        let layer = try layer(layerID)
        return try await read { connection in
            let reader = AttachmentReader(layer: layer, connection: connection, now: 0)
            guard let found = try reader.find(id, of: nil) else { return false }
            let cursor = try MediaCursor(mediaRow: found.mediaRow, range: nil, on: connection)
            do {
                try Data().write(to: url)
                let file = try FileHandle(forWritingTo: url)
                defer { try? file.close() }
                while !cursor.isAtEnd { try file.write(contentsOf: cursor.piece(of: Limits.mediaPiece)) }
            } catch let error as CocoaError {
                throw StoreError(.failure, "The attachment could not be written: \(error.localizedDescription)")
            }
            return true
        }
    }

    /// The bytes of an attachment, or some of them; nil when there is none with this id.
    package func attachmentBytes(
        _ id: AttachmentIdentifier, _ range: Range<Int>? = nil, in layerID: Int
    ) async throws -> [UInt8]? {
        let layer = try layer(layerID)
        return try await read { connection in
            let reader = AttachmentReader(layer: layer, connection: connection, now: 0)
            guard let found = try reader.find(id, of: nil) else { return nil }
            let cursor = try MediaCursor(mediaRow: found.mediaRow, range: range, on: connection)
            var bytes: [UInt8] = []
            while !cursor.isAtEnd { bytes += try cursor.piece(of: Limits.mediaPiece) }
            return bytes
        }
    }

    /// How long the contents of a layer's attachments are together, in bytes.
    package func attachmentBytes(in layerID: Int) async throws -> Int64 {
        let layer = try layer(layerID)
        guard layer.definition.hasAttachments else { return 0 }
        return try await read { connection in
            try connection.integer("SELECT coalesce(sum(data_size), 0) FROM \(quoted(layer.attachmentTable))") ?? 0
        }
    }

    /// The SHA-256 of an attachment's content in hexadecimal; nil when there is no attachment with this id.
    package func attachmentDigest(_ id: AttachmentIdentifier, in layerID: Int) async throws -> String? {
        let layer = try layer(layerID)
        return try await read { connection in
            let reader = AttachmentReader(layer: layer, connection: connection, now: 0)
            guard let found = try reader.find(id, of: nil) else { return nil }
            return try MediaStore(connection: connection).sha256(ofRow: found.mediaRow)
        }
    }

    package func attachmentHistory(of objectID: Int64, in layerID: Int) async throws -> [AttachmentVersion] {
        let layer = try layer(layerID)
        guard view?.conditions[layerID] == nil else { return [] }
        return try await read { try AttachmentLog(layer: layer, connection: $0).history(of: objectID) }
    }

    package func attachmentContent(ofVersion version: Int64, in layerID: Int) async throws -> EncodedFeatures? {
        let layer = try layer(layerID)
        guard view?.conditions[layerID] == nil else { return nil }
        let row = try await readers.read {
            try AttachmentLog(layer: layer, connection: $0).mediaRow(ofVersion: version)
        }
        guard let row else { return nil }
        return try await FeatureStream.start(pool: readers) { try MediaCursor(mediaRow: row, range: nil, on: $0) }
    }
}
