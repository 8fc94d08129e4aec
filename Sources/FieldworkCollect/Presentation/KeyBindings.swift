/// The keys, for the page that lists them and for the script that binds them.
struct KeyBinding: Encodable, Sendable {
    /// As the browser names it, for single keys that the script binds.
    var key: String?
    var open: String?
    var post: String?
    var does: String?
    var shown: [String]
    var says: String

    enum CodingKeys: String, CodingKey {
        case key, open, post, does
    }

    static let all: [KeyBinding] = [
        KeyBinding(key: "a", open: "/add", shown: ["A"], says: "Add a feature under the pin"),
        KeyBinding(key: "/", open: "/search", shown: ["/"], says: "Search features, addresses and places"),
        KeyBinding(key: "l", open: "/list", shown: ["L"], says: "The list"),
        KeyBinding(key: "m", does: "map", shown: ["M"], says: "Go to the map"),
        KeyBinding(key: "c", open: "/changes", shown: ["C"], says: "Changes: where each edit is"),
        KeyBinding(key: "e", does: "edit", shown: ["E"], says: "Edit the selected feature"),
        KeyBinding(key: "z", post: "/undo", shown: ["Z"], says: "Undo the last edit"),
        KeyBinding(key: "y", post: "/sync", shown: ["Y"], says: "Sync now"),
        KeyBinding(key: "0", does: "whole", shown: ["0"], says: "Zoom to the whole map"),
        KeyBinding(key: "?", open: "/help/keys", shown: ["?"], says: "Show these keys"),
        KeyBinding(shown: ["←", "→", "↑", "↓"], says: "Move the map; with Shift less, with Ctrl a whole screen"),
        KeyBinding(shown: ["+", "−"], says: "Zoom, when the map has the focus"),
        KeyBinding(shown: ["Enter"], says: "Pick what is at the cross-hair; with the pin: place here"),
        KeyBinding(shown: ["Esc"], says: "Close what is on top, clear the selection"),
        KeyBinding(shown: ["↑", "↓", "Home", "End"], says: "From row to row in a list"),
        KeyBinding(shown: ["Ctrl+S"], says: "Save a form"),
    ]
}
