import FieldworkREST
import Foundation

/// Tells a service of the unsent edits of attachments, each exactly once, after it has their features. Like an edit of a
/// feature, one is marked as sent before it is; one without a known answer is looked up before anything is sent again.
struct AttachmentSender: Sendable {
    /// Results by feature, under the id that the service has given it.
    typealias Results = [LocalEdit.Key: [EditResult]]

    let session: ServiceSession
    var watch: SendingWatch?
    private var local: LocalStore { session.local }

    /// Tells how many files there are to send, also those of features that the service is yet to get.
    func expect(_ layerIDs: Set<Int>?) {
        guard let watch else { return }
        let sizes = local.edits(in: layerIDs).flatMap(\.attachments).filter { $0.content != nil }.map(\.size)
        watch.expect(files: sizes.count, bytes: sizes.reduce(0, +))
    }

    /// - Returns: the results, and the failure of the connection when not all was sent.
    func send(_ layerIDs: Set<Int>?) async throws -> (results: Results, failure: (any Error)?) {
        var results: Results = [:]
        do {
            for layer in session.service.layers where layerIDs?.contains(layer.id) ?? true {
                merge(try await settleUncertain(ready(in: layer), layer), into: &results)
                let edits = ready(in: layer)
                for batch in batches(edits, layer) {
                    merge(try await sendTogether(batch, of: layer), into: &results)
                }
                for edit in edits { merge(try await sendSingly(edit, layer), into: &results) }
            }
        } catch {
            if error is CancellationError { throw error }
            return (results, error)
        }
        return (results, nil)
    }

    /// What is still to be sent after a failure, as results that say so.
    func unsent(_ layerIDs: Set<Int>?, because failure: any Error) -> Results {
        var results: Results = [:]
        for edit in local.edits(in: layerIDs) where edit.key.objectID >= 0 && !edit.attachments.isEmpty {
            results[edit.key] = edit.attachments.map { Self.result($0, id: nil, error: failure) }
        }
        return results
    }

    /// The edits whose feature the service has and whose attachments it has not.
    private func ready(in layer: LayerDefinition) -> [LocalEdit] {
        local.edits(in: [layer.id]).filter { edit in
            !edit.attachments.isEmpty && edit.key.objectID >= 0 && edit.attempt == nil
        }
    }

    private func merge(_ new: Results, into results: inout Results) { results.merge(new) { $0 + $1 } }

    // MARK: Edits without an answer

    /// Finds out what became of edits whose answer was lost.
    private func settleUncertain(_ edits: [LocalEdit], _ layer: LayerDefinition) async throws -> Results {
        var results: Results = [:]
        for edit in edits {
            let uncertain = edit.attachments.filter { $0.attempt != nil }
            if uncertain.isEmpty { continue }
            let there: [AttachmentInfo]
            do {
                there = try await session.remote.attachments(of: edit.key.objectID, layerID: layer.id)
            } catch let error as ServiceError {
                guard case .serverFailure = error, !error.asksForSignIn else { throw error }
                results[edit.key] = uncertain.map { Self.result($0, id: nil, error: error) }
                continue
            }
            var settlements: [Int64: AttachmentEdit.Settlement] = [:]
            for attachment in uncertain {
                guard let id = attachment.arrived(in: there) else {
                    settlements[attachment.id] = .notSent
                    continue
                }
                settlements[attachment.id] = .applied(id)
                results[edit.key, default: []].append(Self.result(attachment, id: id, error: nil))
            }
            try await local.settleAttachments([edit.key: settlements])
        }
        return results
    }

    // MARK: Sending with global ids

    private struct Item {
        var key: LocalEdit.Key
        var attachment: AttachmentEdit
        var parent: UUID
    }

    /// Whether an edit goes with others in one request, under global ids.
    private func goesTogether(_ attachment: AttachmentEdit, _ edit: LocalEdit, _ layer: LayerDefinition) -> Bool {
        session.keepsGlobalIDs(layer) && edit.globalID != nil && attachment.globalID != nil
    }

    private var takesUploads: Bool { session.service.capabilities.contains(.uploads) }

    /// Whether a content goes before the edit that names it, in as many pieces as the line makes of it.
    private func isUploaded(_ attachment: AttachmentEdit) -> Bool {
        takesUploads && attachment.size > Limits.inlineAttachmentBytes
    }

    /// Cuts edits into requests of bounded size.
    private func batches(_ edits: [LocalEdit], _ layer: LayerDefinition) -> [[LocalEdit.Key: Set<Int64>]] {
        var batches: [[LocalEdit.Key: Set<Int64>]] = [[:]]
        var (bytes, inline) = (Int64(0), Int64(0))
        for edit in edits {
            for attachment in edit.attachments where attachment.attempt == nil && goesTogether(attachment, edit, layer)
            {
                let own = attachment.operation == .delete ? 0 : min(attachment.size, Limits.attachmentBytesPerRequest)
                let ownInline = takesUploads && !isUploaded(attachment) ? own : 0
                let isTooMuch =
                    bytes + own > Limits.attachmentBytesPerRequest || inline + ownInline > Limits.inlineBytesPerRequest
                if isTooMuch, bytes > 0 {
                    batches.append([:])
                    (bytes, inline) = (0, 0)
                }
                bytes += own
                inline += ownInline
                batches[batches.count - 1][edit.key, default: []].insert(attachment.id)
            }
        }
        return batches.filter { !$0.isEmpty }
    }

    private func sendTogether(
        _ chosen: [LocalEdit.Key: Set<Int64>], of layer: LayerDefinition
    ) async throws -> Results {
        // Uploads come first: they are no edits, and a broken one leaves nothing in doubt.
        var contents: [UUID: (name: String, value: JSONValue)] = [:]
        for (key, ids) in chosen {
            let held = local.hold(ids, of: key)
            defer { local.release(held) }
            for attachment in held {
                if let content = attachment.content { contents[content] = try await payload(attachment) }
            }
        }
        let (sent, turn) = try await local.beginAttachments(chosen)
        let begun = sent.flatMap { edit -> [Item] in
            guard let parent = edit.globalID, let ids = chosen[edit.key] else { return [] }
            return edit.attachments.filter { ids.contains($0.id) }.map {
                Item(key: edit.key, attachment: $0, parent: parent)
            }
        }
        // What was changed here while the uploads went goes the next time.
        let isReady = { (item: Item) in item.attachment.content.map { contents[$0] != nil } ?? true }
        try await settle(begun.filter { !isReady($0) }.map { ($0, nil, .notSent, nil) })
        let items = begun.filter(isReady)
        let groups = [AttachmentEdit.Operation.add, .update, .delete].map { operation in
            items.filter { $0.attachment.operation == operation }
        }
        let request: JSONValue = [
            "adds": .array(groups[0].map { Self.json($0, contents) }),
            "updates": .array(groups[1].map { Self.json($0, contents) }),
            "deletes": .array(groups[2].map { JSONValue($0.attachment.globalID.map(GUID.normalForm)) }),
        ]
        let edits: JSONValue = [["id": JSONValue(layer.id), "attachments": request]]
        let answer: JSONValue?
        do {
            let layers = try await session.applyEdits(edits, usesGlobalIDs: true, turn)
            answer = layers.first { $0["id"]?.integerValue == Int64(layer.id) }?["attachments"]
            for item in items where item.attachment.content != nil && !isUploaded(item.attachment) {
                watch?.ended(fileOf: item.attachment.size)
            }
        } catch let error as ServiceError {
            guard case .serverFailure(let reason, _) = error, !error.asksForSignIn else { throw error }
            return try await settle(items.map { ($0, nil, .refused(reason), error) })
        }
        let results = ["addResults", "updateResults", "deleteResults"].map { name in
            (answer?[name]?.arrayValue ?? []).map { FeatureServiceClient.AttachmentResult($0) }
        }
        let answered = zip(groups, results).flatMap { Array(zip($0, $1)) }
        var settled = try await settle(try await judged(answered, layer))
        let silence = ServiceError.unknown(details: "The service did not say what became of the attachment.")
        for item in zip(groups, results).flatMap({ $0.dropFirst($1.count) }) {
            settled[item.key, default: []].append(Self.result(item.attachment, id: nil, error: silence))
        }
        return settled
    }

    private typealias Outcome = (
        item: Item, id: Int64?, settlement: AttachmentEdit.Settlement, error: (any Error)?
    )

    /// A refusal may only say that the edit had arrived before: the service's list tells.
    private func judged(
        _ answered: [(Item, FeatureServiceClient.AttachmentResult)], _ layer: LayerDefinition
    ) async throws -> [Outcome] {
        var lists: [LocalEdit.Key: [AttachmentInfo]] = [:]
        for (item, result) in answered where result.error != nil && lists[item.key] == nil {
            lists[item.key] = try? await session.remote.attachments(of: item.key.objectID, layerID: layer.id)
        }
        return answered.map { item, result in
            guard let error = result.error else { return (item, result.id, .applied(result.id), nil) }
            if let there = lists[item.key], let id = item.attachment.arrived(in: there) {
                return (item, id, .applied(id), nil)
            }
            return (item, nil, .refused(error.description), ServiceError(error))
        }
    }

    @discardableResult
    private func settle(_ outcomes: [Outcome]) async throws -> Results {
        var settlements: [LocalEdit.Key: [Int64: AttachmentEdit.Settlement]] = [:]
        var results: Results = [:]
        for outcome in outcomes {
            settlements[outcome.item.key, default: [:]][outcome.item.attachment.id] = outcome.settlement
            if case .notSent = outcome.settlement { continue }
            results[outcome.item.key, default: []].append(
                Self.result(outcome.item.attachment, id: outcome.id, error: outcome.error))
        }
        try await local.settleAttachments(settlements)
        return results
    }

    /// The content as an edit names it: the bytes themselves, or the id of an upload for a large one.
    private func payload(_ attachment: AttachmentEdit) async throws -> (name: String, value: JSONValue) {
        if isUploaded(attachment), let file = file(attachment, part: "file") {
            watch?.began(fileOf: attachment.size)
            let id = try await upload(file, of: attachment)
            watch?.ended(fileOf: attachment.size)
            return ("uploadId", .string(id))
        }
        guard let content = attachment.content,
            let data = try? Data(contentsOf: local.attachmentFiles.url(of: content), options: .mappedIfSafe)
        else { throw CommonError.io(details: "The content of the attachment \(attachment.name) can't be read.") }
        return ("data", .string(data.base64EncodedString()))
    }

    /// Goes on with the upload that an earlier call or process began.
    private func upload(_ file: MultipartForm.File, of attachment: AttachmentEdit) async throws -> String {
        let files = local.attachmentFiles
        guard let content = attachment.content else {
            throw CommonError.io(details: "The attachment \(attachment.name) has no content.")
        }
        return try await ResumableUpload(service: session.remote, file: file).send(
            begunID: files.uploadID(of: content)
        ) { files.note(uploadID: $0, of: content) }
    }

    private static func json(_ item: Item, _ contents: [UUID: (name: String, value: JSONValue)]) -> JSONValue {
        let attachment = item.attachment
        var object = JSONObject()
        object.append("globalId", JSONValue(attachment.globalID.map(GUID.normalForm)))
        object.append("parentGlobalId", .string(GUID.normalForm(item.parent)))
        object.append("contentType", .string(attachment.contentType))
        object.append("name", .string(attachment.name))
        object.append("keywords", .string(attachment.keywords))
        if let content = attachment.content.flatMap({ contents[$0] }) { object.append(content.name, content.value) }
        return .object(object)
    }

    // MARK: Sending one by one

    /// Without global ids each attachment is a request of its own. Which attachments there were before tells afterwards
    /// whether a new one arrived whose answer was lost.
    private func sendSingly(_ edit: LocalEdit, _ layer: LayerDefinition) async throws -> Results {
        var results: Results = [:]
        for attachment in edit.attachments where attachment.attempt == nil && !goesTogether(attachment, edit, layer) {
            var known: [Int64] = []
            if attachment.operation == .add {
                known = try await session.remote.attachments(of: edit.key.objectID, layerID: layer.id).map(\.id)
            }
            let sent = try await local.beginAttachments([edit.key: [attachment.id]], known: [edit.key: known]).edits
            guard let present = sent.first?.attachments.first(where: { $0.id == attachment.id }) else { continue }
            let item = Item(key: edit.key, attachment: present, parent: UUID())
            let held = local.hold([attachment.id], of: edit.key)
            defer { local.release(held) }
            // What was changed here in this moment goes the next time.
            guard held.first?.content == present.content else {
                try await settle([(item, nil, .notSent, nil)])
                continue
            }
            let outcome: Outcome
            if present.content != nil { watch?.began(fileOf: present.size) }
            do {
                let result = try await send(present, to: edit.key)
                if present.content != nil { watch?.ended(fileOf: present.size) }
                let error = result.error
                outcome = (
                    item, result.id, error.map { .refused($0.description) } ?? .applied(result.id),
                    error.map { ServiceError($0) }
                )
            } catch let error as ServiceError {
                guard case .serverFailure(let reason, _) = error, !error.asksForSignIn else { throw error }
                outcome = (item, nil, .refused(reason), error)
            }
            merge(try await settle([outcome]), into: &results)
        }
        return results
    }

    private func send(
        _ attachment: AttachmentEdit, to key: LocalEdit.Key
    ) async throws -> FeatureServiceClient.AttachmentResult {
        let remote = session.remote
        if attachment.operation == .delete {
            return try await remote.deleteAttachment(attachment.id, of: key.objectID, layerID: key.layerID)
        }
        guard let file = file(attachment, part: "attachment") else {
            throw CommonError.io(details: "The content of the attachment \(attachment.name) can't be read.")
        }
        if attachment.operation == .add {
            return try await remote.addAttachment(
                file, keywords: attachment.keywords, to: key.objectID, layerID: key.layerID)
        }
        return try await remote.updateAttachment(
            attachment.id, file, keywords: attachment.keywords, of: key.objectID, layerID: key.layerID)
    }

    private func file(_ attachment: AttachmentEdit, part: String) -> MultipartForm.File? {
        attachment.content.map { content in
            MultipartForm.File(
                part: part, url: local.attachmentFiles.url(of: content), name: attachment.name,
                contentType: attachment.contentType, size: attachment.size, watch: watch)
        }
    }

    // MARK: Both

    private static func result(_ attachment: AttachmentEdit, id: Int64?, error: (any Error)?) -> EditResult {
        EditResult(
            operation: EditOperation(attachment.attempt?.operation ?? attachment.operation),
            objectID: id ?? attachment.id, globalID: attachment.globalID, error: error)
    }
}
