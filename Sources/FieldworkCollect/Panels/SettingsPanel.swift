/// The look, and the ways to what else can be set.
struct SettingsPanel: PanelModel {
    static let template = "settings"

    struct Theme: ViewModel {
        /// Empty for the one that the device prefers.
        let value: String
        let text: String
        let current: Bool
    }

    let themes: [Theme]
    /// Who is signed in.
    let person: String?
}
