public import Foundation

extension EditJournal {
    /// One edit of a user: which feature, what it was before and after, and what became of the edit.
    public struct Entry: Sendable, Codable, Identifiable, Hashable {
        /// What was done.
        public enum Kind: String, Sendable, Codable {
            /// The feature was added.
            case create
            /// Its values were changed, and perhaps its geometry.
            case update
            /// Its geometry alone was changed.
            case move
            /// It was deleted.
            case delete
        }

        /// How far the edit has come.
        public enum Progress: Sendable, Codable, Hashable {
            /// It is on this device and has not been sent.
            case onDevice
            /// The service took it at this moment.
            case onServer(Date)
            /// The service refused it, for this reason.
            case refused(String)
        }

        /// The entry's own id.
        public let id: UUID
        /// What was done.
        public let kind: Kind
        /// The attempt to save that made it, as the caller named it: the same attempt made twice is one edit. nil for none.
        public let session: String?
        /// The feature, as it was named when the edit was made. ``EditJournal/current(_:)`` says how it is named now.
        public let feature: FeatureReference
        /// The feature's object id when the edit was made; nil where it had none.
        public let objectID: Int64?
        /// What the feature is called, for people.
        public let title: String
        /// What was done, for people.
        public let detail: String
        /// When it was done.
        public let date: Date
        /// The feature before the edit; nil for one that was added.
        public let before: FeatureSnapshot?
        /// The feature after the edit; nil for one that was deleted.
        public let after: FeatureSnapshot?
        /// How far the edit has come.
        public internal(set) var progress: Progress
        /// Whether a later edit took it back.
        public internal(set) var isUndone = false
        /// The transaction that it was made in; nil outside of one.
        public internal(set) var transaction: UUID?
        /// The edit that this one takes back; nil for one that takes back none.
        public let undoes: UUID?
        /// The edit that this one follows from by a rule: it is taken back together with that one, and not alone.
        public internal(set) var follows: UUID?
        /// The attachments that it added and deleted; nil for none.
        public internal(set) var photos: AttachmentChanges?

        /// Whether nothing can be lost with it: a service has it, or it was refused and taken back.
        public var isSettled: Bool {
            switch progress {
            case .onServer: true
            case .onDevice: false
            case .refused: isUndone
            }
        }

        /// Whether ``EditJournal/undo(_:of:title:)`` can take it back.
        public var canUndo: Bool { !isUndone && undoes == nil && follows == nil }
    }
}
