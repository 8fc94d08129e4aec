/// Up to three of a feature's pictures, and the way to all of its photos and files.
struct FeaturePhotos: ViewModel {
    struct Picture: ViewModel {
        let name: String
        let address: String
        let thumbnail: String
    }

    /// The address of all of them.
    let all: String
    /// "?" while the server doesn't answer.
    let count: String
    let hasPictures: Bool
    let pictures: [Picture]
}
