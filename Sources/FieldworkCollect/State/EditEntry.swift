import Foundation

/// One edit of the user, as the journal keeps it for undo and for the page of changes.
struct EditEntry: Sendable, Codable, Identifiable, Hashable {
    enum Kind: String, Sendable, Codable {
        case create, update, move, delete
    }

    enum Progress: Sendable, Codable, Hashable {
        case onDevice
        case onServer(Date)
        case refused(String)
    }

    let id: UUID
    let kind: Kind
    /// The form that made it; the same form posted twice is one edit.
    let session: String?
    var feature: FeatureReference
    /// The layer's object id when it was made, to hide the older picture of a deleted feature.
    let objectID: Int64?
    let title: String
    let detail: String
    let date: Date
    let before: FeatureSnapshot?
    let after: FeatureSnapshot?
    var progress: Progress
    var isUndone = false
    /// The transaction that it was made in; nil outside of one.
    var transaction: UUID?
    /// The edit that this one takes back.
    let undoes: UUID?
    /// The edit that this one follows from by a rule of the map; it is taken back with that one.
    var follows: UUID?
    /// The photos and files that it added and deleted; nil for none.
    var photos: PhotoChanges?

    /// Whether nothing can be lost with it: a server has it, or it was refused and taken back.
    var isSettled: Bool {
        switch progress {
        case .onServer: true
        case .onDevice: false
        case .refused: isUndone
        }
    }

    var canUndo: Bool { !isUndone && undoes == nil && follows == nil }

    /// What the status line says when the edit succeeded.
    var success: String {
        if undoes != nil { return "Undo succeeded." }
        return switch kind {
        case .create: "Create feature succeeded."
        case .update: "Update attribute succeeded."
        case .move: "Update geometry succeeded."
        case .delete: "Delete feature succeeded."
        }
    }

    var failure: String {
        switch kind {
        case .create: "Error creating feature."
        case .update: "Error updating attribute."
        case .move: "Error updating geometry."
        case .delete: "Error deleting feature."
        }
    }
}
