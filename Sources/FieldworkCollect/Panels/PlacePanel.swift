/// Where a point is put: a new one, or one that is moved.
struct PlacePanel: PanelModel {
    static let template = "place"

    /// What the new feature is, where its layer has several kinds.
    struct Kinds: ViewModel {
        let options: [FormOption]
    }

    let heading: String
    let subheading: String
    /// What the map's pin does: "add" or "move".
    let mode: String
    let layer: Int
    let action: String
    let back: String
    let session: String
    /// Whether the pin begins at the place below; else it begins in the middle of the map.
    let hasPlace: Bool
    /// The place in degrees, as it was typed; empty for none.
    let lon: String
    let lat: String
    /// The edit that made the one before, of which some is taken over.
    var like: String?
    /// Why the place can't be taken.
    let error: String?
    /// Whether the typed coordinates are unfolded.
    let open: Bool
    var kinds: Kinds?
}
