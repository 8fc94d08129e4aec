/// What went wrong, what is safe, and what to do.
struct ProblemPanel: PanelModel {
    static let template = "problem"

    let heading: String
    /// The style of the note.
    let tone: String
    let what: String
    let safe: String
    let next: String
    /// The address to ask again.
    let again: String?
}
