/// What lies over the page: what was just done, or why it was not.
struct OverView: TemplateModel {
    static let template = "over"

    struct Toast: ViewModel {
        let text: String
        /// Where the edit is now.
        var `where`: String?
        /// What a screen reader says.
        let announce: String
        /// The edit that can be undone.
        var undo: String?
        /// The draft that can be taken up again.
        var restore: String?
        /// Where Undo leads back to.
        let back: String
        /// The address that adds one more of the same kind.
        var another: String?
    }

    struct Failure: ViewModel {
        let text: String
        let detail: String
        var undo: String?
        let back: String
    }

    var toast: Toast?
    var error: Failure?
}
