/// One photo or file of a feature, as large as the panel.
struct PhotoPanel: PanelModel {
    static let template = "photo"

    struct Picture: ViewModel {
        /// The address of its bytes.
        let content: String
        /// What stands in its place for who doesn't see it.
        let alternative: String
    }

    let heading: String
    let subheading: String
    let back: String
    /// nil for what isn't a picture.
    let picture: Picture?
    let size: String
    /// Where it is: on the server, or on this device alone.
    let state: String
    let previous: String?
    let next: String?
    /// The address that saves a copy.
    let save: String
}
