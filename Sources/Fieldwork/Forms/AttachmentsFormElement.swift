import FieldworkGeometry
public import Foundation
import Synchronization

/// The attachments of the form's feature, or those that belong to the element. What is added, renamed and deleted is
/// staged: it is kept by the form's `finishEditing` and forgotten by its `discardEdits`.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class AttachmentsFormElement: FormElement, @unchecked Sendable {
    private struct State: Sendable {
        /// As they were when they were fetched last.
        var known: [FormAttachment] = []
        var staged: [FormAttachment] = []
        var deleted: [FormAttachment] = []
    }

    private let state = Mutex(State())

    /// The word by which attachments belong to the element; empty for an element of all attachments.
    public var attachmentKeyword: String { json["attachmentKeyword"]?.stringValue ?? "" }
    /// The fewest attachments that its author wants; 0 for any number. With fewer the form is not saved, as long as the element is
    /// visible and editable and the attachments that are there can be counted.
    public var minAttachmentCount: Int { Self.count(json["minAttachmentCount"]) ?? 0 }
    /// The most attachments that may be there; nil for any number.
    public var maxAttachmentCount: Int? { Self.count(json["maxAttachmentCount"]) }
    /// Whether people may call attachments otherwise.
    public var allowsUserRename: Bool { json["allowUserRename"]?.boolValue ?? true }
    /// Whether the names of files are shown.
    public var displaysFilename: Bool { json["displayFileName"]?.boolValue ?? false }
    /// Whether a file keeps the name that it comes with.
    public var usesOriginalFilename: Bool { json["useOriginalFileName"]?.boolValue ?? true }

    private static func count(_ json: JSONValue?) -> Int? {
        json?.integerValue.map { Int(clamping: max(0, $0)) }
    }

    // MARK: Attachments

    /// The attachments, those that are staged last, without those that are to go. Each is the same object each time. Throws
    /// `ServiceError` when the service can't be asked; what is staged stays.
    public var attachments: [FormAttachment] {
        get async throws {
            guard let feature = context?.feature, feature.table?.attachmentSource != nil else { return [] }
            let found = feature.origin == nil ? [] : try await feature.attachments.filter(belongs)
            return state.withLock { state in
                state.known = found.map { new in
                    state.known.first { $0.shows(new) } ?? FormAttachment(new)
                }
                return Self.shown(state)
            }
        }
    }

    private static func shown(_ state: State) -> [FormAttachment] {
        state.known.filter { known in !state.deleted.contains { $0 === known } } + state.staged
    }

    /// Whether an attachment is the element's: by its keyword, as the author wants them compared.
    private func belongs(_ attachment: Attachment) -> Bool {
        if attachmentKeyword.isEmpty || attachment.keywords == attachmentKeyword { return true }
        switch json["inputType"]?["attachmentAssociationType"]?.stringValue?.lowercased() {
        case "any": return true
        case "exactornone": return attachment.keywords.isEmpty
        default: return false
        }
    }

    /// Stages a new attachment; it is kept by `finishEditing`.
    /// - Returns: nil when the element is not editable, or has as many attachments as it may have.
    @discardableResult
    public func addAttachment(name: String, contentType: String, data: Data) -> FormAttachment? {
        guard isEditable else { return nil }
        let attachment = FormAttachment(
            StagedAttachment(name: name, contentType: contentType, keywords: attachmentKeyword, data: data))
        let isStaged = state.withLock { state in
            if let most = maxAttachmentCount, Self.shown(state).count >= most { return false }
            state.staged.append(attachment)
            return true
        }
        guard isStaged else { return nil }
        context?.noteChange()
        return attachment
    }

    /// Stages that an attachment goes; one that was staged is forgotten. Does nothing when the element is not editable.
    public func delete(_ attachment: FormAttachment) {
        guard isEditable else { return }
        state.withLock { state in
            if state.staged.contains(where: { $0 === attachment }) {
                state.staged.removeAll { $0 === attachment }
            } else if state.known.contains(where: { $0 === attachment }),
                !state.deleted.contains(where: { $0 === attachment })
            {
                state.deleted.append(attachment)
            }
        }
        context?.noteChange()
    }

    /// A name for a new attachment: what the author's expression says, else the keyword and the moment, with the ending of
    /// the content's type. Throws `ExpressionError.notSupported` where the expression needs an interpreter that is missing.
    public func makeDefaultName(contentType: String) async throws -> String {
        let ending = Self.ending(of: contentType)
        if let name = expression("fileNameExpression"), let text = try await context?.text(of: name), !text.isEmpty {
            return text.hasSuffix(ending) ? text : text + ending
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = context?.timeZone ?? .current
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: Date.now)
        let moment = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
            .map { number in
                let text = String(number ?? 0)
                return text.count < 2 ? "0" + text : text
            }
        let stem = attachmentKeyword.isEmpty ? "attachment" : attachmentKeyword
        return "\(stem)_\(moment.prefix(3).joined())_\(moment.suffix(3).joined())\(ending)"
    }

    private static let endings = [
        "image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/heic": ".heic", "image/tiff": ".tif",
        "image/webp": ".webp", "video/mp4": ".mp4", "video/quicktime": ".mov", "audio/mpeg": ".mp3",
        "audio/mp4": ".m4a", "audio/wav": ".wav", "application/pdf": ".pdf", "text/plain": ".txt", "text/csv": ".csv",
    ]

    private static func ending(of contentType: String) -> String {
        endings[String(contentType.lowercased().prefix { $0 != ";" })] ?? ""
    }

    // MARK: The session

    /// Whether something is staged.
    var hasEdits: Bool {
        state.withLock { state in
            !state.staged.isEmpty || !state.deleted.isEmpty || state.known.contains { $0.newName != nil }
        }
    }

    /// Throws `FeatureFormError.fieldIsRequired` when there are fewer attachments than the author wants. Where those of the service
    /// can't be seen now, nothing is held up: what was entered is worth more than the rule.
    func checkCount() async throws {
        guard isVisible, isEditable, minAttachmentCount > 0, context?.feature.table?.attachmentSource != nil else {
            return
        }
        let count: Int
        do {
            count = try await attachments.count
        } catch is ServiceError {
            return
        }
        guard count < minAttachmentCount else { return }
        let name = label.isEmpty ? "The form" : label
        throw FeatureFormError.fieldIsRequired(
            details: "\(name) needs at least \(minAttachmentCount) attachments; there are \(count).")
    }

    /// Forgets what is staged.
    func discard() {
        let known = state.withLock { state in
            state.staged = []
            state.deleted = []
            return state.known
        }
        for attachment in known { attachment.keepName() }
    }

    /// Keeps what is staged. When one can't be kept, it and those after it are still staged.
    func commit() async throws {
        guard let feature = context?.feature else { return }
        let (known, staged, deleted) = state.withLock { ($0.known, $0.staged, $0.deleted) }
        for attachment in staged {
            guard case .staged(let new) = attachment.content else { continue }
            try await feature.addAttachment(
                named: attachment.name, contentType: new.contentType, keywords: new.keywords, data: new.data)
            state.withLock { $0.staged.removeAll { $0 === attachment } }
        }
        for attachment in known {
            guard case .kept(let present) = attachment.content else { continue }
            if deleted.contains(where: { $0 === attachment }) {
                try await feature.deleteAttachment(present)
                state.withLock { state in
                    state.known.removeAll { $0 === attachment }
                    state.deleted.removeAll { $0 === attachment }
                }
            } else if let name = attachment.newName {
                try await feature.updateAttachment(
                    present, name: name, contentType: present.contentType, data: try await present.data)
                attachment.keepName()
            }
        }
    }
}
