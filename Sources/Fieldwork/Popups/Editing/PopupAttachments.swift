public import Foundation
import Synchronization

/// The attachments of a pop-up in a session: those that the feature has, those that are to be added, those that are to go.
/// Nothing is kept before the session is finished. Not part of the vendor's present API.
public final class PopupAttachments: Sendable {
    /// Makes a picture smaller: its bytes, its type and the most pixels of its longer edge go in, the new bytes come out.
    public typealias Scaler = @Sendable (_ data: Data, _ contentType: String, _ longerEdge: Int) async throws -> Data

    private struct State: Sendable {
        var known: [Attachment] = []
        var staged: [StagedAttachment] = []
        var deleted: [ObjectIdentifier] = []
        var isEditing = false
        var scaler: Scaler?
    }

    private let feature: ArcGISFeature
    private let state = Mutex(State())

    init(feature: ArcGISFeature) { self.feature = feature }

    /// What makes pictures smaller. The SDK draws nothing: without it pictures stay as large as they are.
    public var scaler: Scaler? {
        get { state.withLock { $0.scaler } }
        set { state.withLock { $0.scaler = newValue } }
    }

    /// The attachments that were there when they were fetched last, without those that are to go.
    public var attachments: [Attachment] {
        state.withLock { state in state.known.filter { !state.deleted.contains(ObjectIdentifier($0)) } }
    }

    /// What is to be added when the session is finished.
    public var staged: [StagedAttachment] { state.withLock { $0.staged } }

    /// Whether the session has changed something.
    public var hasEdits: Bool { state.withLock { !$0.staged.isEmpty || !$0.deleted.isEmpty } }

    /// Asks what attachments there are. Throws `ServiceError` when the service can't be asked; then what was known stays.
    public func fetch() async throws {
        let known = feature.origin == nil ? [] : try await feature.attachments
        state.withLock { state in
            // Objects that are shown stay the same ones.
            state.known = known.map { new in
                state.known.first { $0.id == new.id && $0.edit == new.edit } ?? new
            }
            let present = Set(state.known.map(ObjectIdentifier.init))
            state.deleted.removeAll { !present.contains($0) }
        }
    }

    /// Stages a new attachment.
    /// - Returns: its place in `staged`.
    @discardableResult
    public func add(_ attachment: StagedAttachment) throws -> Int {
        try whileEditing { state in
            state.staged.append(attachment)
            return state.staged.count - 1
        }
    }

    /// Takes back a new attachment.
    public func remove(_ attachment: StagedAttachment) throws {
        try whileEditing { $0.staged.removeAll { $0 === attachment } }
    }

    /// Stages the deletion of an attachment; false when it is none of these.
    @discardableResult
    public func delete(_ attachment: Attachment) throws -> Bool {
        try whileEditing { state in
            guard state.known.contains(where: { $0 === attachment }) else { return false }
            if !state.deleted.contains(ObjectIdentifier(attachment)) {
                state.deleted.append(ObjectIdentifier(attachment))
            }
            return true
        }
    }

    private func whileEditing<Result: Sendable>(_ body: (inout State) -> Result) throws -> Result {
        try state.withLock { state in
            guard state.isEditing else { throw CommonError.illegalState(details: "No editing session is under way.") }
            return body(&state)
        }
    }

    // MARK: The session

    func begin() { state.withLock { $0.isEditing = true } }

    /// Forgets what was staged.
    func discard() {
        state.withLock { state in
            state.staged = []
            state.deleted = []
            state.isEditing = false
        }
    }

    /// Keeps what was staged. When one can't be kept, it and those after it are still staged.
    func commit() async throws {
        for attachment in staged {
            try await feature.addAttachment(
                named: attachment.name, contentType: attachment.contentType, keywords: attachment.keywords,
                data: try await bytes(of: attachment))
            state.withLock { $0.staged.removeAll { $0 === attachment } }
        }
        let (known, deleted) = state.withLock { ($0.known, $0.deleted) }
        for attachment in known where deleted.contains(ObjectIdentifier(attachment)) {
            try await feature.deleteAttachment(attachment)
            state.withLock { state in
                state.known.removeAll { $0 === attachment }
                state.deleted.removeAll { $0 == ObjectIdentifier(attachment) }
            }
        }
        state.withLock { $0.isEditing = false }
    }

    private func bytes(of attachment: StagedAttachment) async throws -> Data {
        guard attachment.kind == .image, let edge = attachment.preferredSize.longerEdge, let scaler else {
            return attachment.data
        }
        return try await scaler(attachment.data, attachment.contentType, edge)
    }
}
