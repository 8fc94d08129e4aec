public import Foundation

/// Why an edit or a transaction of an ``EditJournal`` can't be taken back. Not part of the vendor's API.
public enum EditJournalError: ArcGISError, LocalizedError, Hashable {
    /// It was taken back already, or it can only be taken back together with the edit that it follows from.
    case notUndoable(details: String)
    /// The entry does not hold what the feature was before.
    case unknownBefore(details: String)
    /// A field that the edit had changed was changed once more since: the later value would be lost.
    case changedSince(details: String)
    /// The journal has no table of the number, or the table does not have the feature any more.
    case featureNotFound(details: String)
    /// The bytes of an attachment that was deleted are not on this device.
    case attachmentNotKept(details: String)
    /// A geodatabase has its edits of the transaction for good already: the rest has to be committed.
    case partlyCommitted(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .notUndoable(let details), .unknownBefore(let details), .changedSince(let details),
            .featureNotFound(let details), .attachmentNotKept(let details),
            .partlyCommitted(let details):
            details
        }
    }
}
