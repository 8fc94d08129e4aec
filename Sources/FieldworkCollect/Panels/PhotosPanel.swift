/// The photos and files of a feature.
struct PhotosPanel: PanelModel {
    static let template = "photos"

    struct Picture: ViewModel {
        let name: String
        let address: String
        let thumbnail: String
        let size: String
        /// Where it is: on the server, or on this device alone.
        let state: String
    }

    struct File: ViewModel {
        let name: String
        /// The address of its bytes.
        let content: String
        let size: String
        /// Where it is: on the server, or on this device alone.
        let state: String
    }

    /// The feature.
    let subheading: String
    let back: String
    /// The address to ask again.
    let again: String
    /// Empty while the server doesn't answer.
    let count: String
    let failed: Bool
    /// "1 to 60 of 212", where there are more than the page shows.
    let part: String?
    let hasPictures: Bool
    let pictures: [Picture]
    let hasFiles: Bool
    let files: [File]
    let isEmpty: Bool
    let previous: String?
    let next: String?
    /// nil where the feature can't be changed.
    let edit: String?
}
