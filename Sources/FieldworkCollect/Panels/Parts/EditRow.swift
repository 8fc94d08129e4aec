/// An edit in a list: where it is, and the button that takes it back.
struct EditRow: ViewModel {
    /// The style of the icon.
    let tone: String
    let icon: String
    let title: String
    let detail: String
    /// nil for a feature that is gone.
    let address: String?
    /// The edit that can be undone.
    let undo: String?
    /// Where Undo leads back to.
    let back: String
    let undone: Bool
}
