import Fieldwork

/// One edit of the user, as the journal of the SDK keeps it.
typealias EditEntry = EditJournal.Entry

extension EditJournal.Entry {
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

    /// What it says when the server refused it.
    var failure: String {
        switch kind {
        case .create: "Error creating feature."
        case .update: "Error updating attribute."
        case .move: "Error updating geometry."
        case .delete: "Error deleting feature."
        }
    }
}
