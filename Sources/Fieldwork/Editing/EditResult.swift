public import Foundation

/// What an edit does.
public enum EditOperation: Sendable {
    /// A new feature, a changed one, one that is gone, or not known.
    case add, update, delete, unknown
}

/// What became of one edit that was sent to a service.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class EditResult: @unchecked Sendable {
    /// Whether the service refused the edit. It then stays among the local edits.
    public var didCompleteWithErrors: Bool { error != nil }
    /// Why the service refused it.
    public let error: (any Error)?
    /// What the edit does.
    public let editOperation: EditOperation
    /// The feature's global id.
    public let globalID: UUID?
    /// The feature's object id in the service; the temporary one when an add was refused.
    public let objectID: Int64

    init(operation: EditOperation, objectID: Int64, globalID: UUID?, error: (any Error)?) {
        self.editOperation = operation
        self.objectID = objectID
        self.globalID = globalID
        self.error = error
    }
}

/// What became of the edit of one feature.
public final class FeatureEditResult: EditResult, @unchecked Sendable {
    /// What became of the feature's attachments.
    public let attachmentResults: [EditResult]

    init(
        operation: EditOperation, objectID: Int64, globalID: UUID?, error: (any Error)?,
        attachmentResults: [EditResult] = []
    ) {
        self.attachmentResults = attachmentResults
        super.init(operation: operation, objectID: objectID, globalID: globalID, error: error)
    }
}

/// What became of the edits of one table.
public final class FeatureTableEditResult: Sendable {
    /// One result a feature.
    public let editResults: [FeatureEditResult]
    /// The table.
    public let featureTable: ServiceFeatureTable?

    init(editResults: [FeatureEditResult], featureTable: ServiceFeatureTable?) {
        self.editResults = editResults
        self.featureTable = featureTable
    }
}
