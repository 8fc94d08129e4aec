package import FieldworkREST
import Foundation

extension PostgresStore {
    /// Makes a service of a file that holds one. It is there whole or not at all: nobody sees it before its last feature has come.
    /// Object ids and global ids stay, those of attachments too.
    /// - Parameter progress: is told how many features have come so far.
    /// - Returns: the number of features.
    package func publish(
        _ file: GeoPackageFile, as name: ServiceName, progress: (Int) -> Void
    ) async throws -> Int {
        var definition = file.definition
        definition.name = name
        try DefinitionRules.check(definition)
        let schema = try await catalogue.create(definition, isListed: false)
        do {
            let service = try await opened(schema)
            var count = 0
            for layer in definition.layers {
                let before = count
                try await copy(layer, from: file, to: service) { progress(before + $0) }
                if layer.hasAttachments { try await copyAttachments(of: layer.id, from: file, to: service) }
                count += try await service.count(FeatureQuery(), in: layer.id)
            }
            await service.close()
            try Task.checkCancellation()
            try await catalogue.list(name)
            return count
        } catch {
            try? await catalogue.delete(name)
            throw error
        }
    }

    /// In pieces by object id, each a transaction.
    private func copy(
        _ layer: LayerDefinition, from file: GeoPackageFile, to service: PostgresService,
        progress: (Int) -> Void
    ) async throws {
        var last = Int64.min
        var count = 0
        while true {
            try Task.checkCancellation()
            let rest = FeatureQuery(
                condition: .binary(.greater, .field(layer.objectIDField), .literal(.integer(last))),
                limit: Limits.rowsOfPage)
            let records = try await file.records(rest, in: layer.id)
            guard let newest = records.last?.objectID else { return }
            last = newest
            let adds = records.map { record in
                FeatureEdit(
                    objectID: record.objectID, globalID: record.globalID,
                    attributes: record.attributes.map { (name: $0.key, value: $0.value) },
                    geometry: record.geometry.map { .geometry($0) } ?? .null)
            }
            let result = try await service.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: layer.id, adds: adds)], usesGlobalIDs: true, moment: .now,
                    origin: .load))
            if let error = result.layers.first?.adds.compactMap(\.error).first(where: { $0 != .rolledBack }) {
                throw StoreError(.invalidDefinition, "A feature of \(layer.name) can't be taken: \(error.description)")
            }
            count += records.count
            progress(count)
        }
    }

    /// One content at a time lies in the work folder on its way.
    private func copyAttachments(
        of layerID: Int, from file: GeoPackageFile, to service: PostgresService
    ) async throws {
        try FileManager.default.createDirectory(at: workFolder, withIntermediateDirectories: true)
        let content = workFolder.appending(path: UUID().uuidString, directoryHint: .notDirectory)
        defer { try? FileManager.default.removeItem(at: content) }
        var last = Int64.min
        while true {
            let rest = AttachmentQuery(
                condition: .binary(.greater, .field(AttachmentFields.id), .literal(.integer(last))),
                order: [FeatureQuery.OrderTerm(expression: .field(AttachmentFields.id))],
                limit: Limits.attachmentsOfPage)
            let attachments = try await file.attachments(rest, in: layerID).attachments
            guard let newest = attachments.last?.id else { return }
            last = newest
            for attachment in attachments {
                try Task.checkCancellation()
                try await copy(attachment, in: layerID, from: file, by: content, to: service)
            }
        }
    }

    private func copy(
        _ attachment: AttachmentInfo, in layerID: Int, from file: GeoPackageFile, by content: URL,
        to service: PostgresService
    ) async throws {
        guard try await file.copyAttachment(.id(attachment.id), in: layerID, to: content) else { return }
        // What another program says of it in the file need not be so.
        let size = try FileManager.default.attributesOfItem(atPath: content.path)[.size] as? Int ?? 0
        var edits = LayerEdits(layerID: layerID)
        edits.attachments.adds = [
            AttachmentEdit(
                id: attachment.id, globalID: attachment.globalID, parent: .objectID(attachment.parentObjectID),
                name: attachment.name, contentType: attachment.contentType, keywords: attachment.keywords,
                content: AttachmentContent(path: content.path, size: size))
        ]
        let result = try await service.apply(
            EditBatch(layers: [edits], usesGlobalIDs: true, moment: .now, origin: .load))
        if let error = result.layers.first?.attachments.adds.first?.error {
            throw StoreError(
                .invalidDefinition, "The attachment \(attachment.id) can't be taken: \(error.description)")
        }
    }
}
