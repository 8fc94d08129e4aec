/// Where the edits of a feature are.
struct StateMarks: ViewModel {
    /// Whether one waits to be sent.
    let unsent: Bool
    /// Whether the server refused one.
    let refused: Bool
    /// Whether the server has all of them.
    let sent: Bool
    /// Why the server refused it.
    let refusal: String?
}
