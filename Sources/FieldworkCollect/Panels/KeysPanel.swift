/// The table of keys.
struct KeysPanel: PanelModel {
    static let template = "keys"

    struct Row: ViewModel {
        /// The keys that do it, as they are written on a keyboard.
        let key: [String]
        let does: String
    }

    let keys: [Row]
}
