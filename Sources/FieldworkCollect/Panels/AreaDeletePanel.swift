/// What is asked before an area is deleted, or a file taken off the list.
struct AreaDeletePanel: PanelModel {
    static let template = "area-delete"

    let id: String
    let name: String
    let about: String
    /// Where the file is; nil for an area that the app took.
    let held: String?
    /// The edits in a file that the server doesn't have yet.
    let waiting: String?
    /// The edits that would be lost.
    let unsent: String?
    let verb: String
    /// Whether it was asked for without leave to lose them.
    let refused: Bool
}
