/// The state line: where the edits are, always in the same grammar.
struct StatusLine: TemplateModel {
    static let template = "state"

    /// The change of the map that it was made after.
    let revision: UInt64
    /// All of it, for a screen reader.
    let text: String
    let whereText: String
    let icon: String
    let unsent: String?
    let refused: String?
    let calm: String?
    /// "2 conflicts": those that wait for the user to decide.
    let conflicts: String?
    /// What the badge counts: edits that aren't sent, and conflicts that wait; nil for none.
    let count: Int?
}
