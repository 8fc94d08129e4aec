/// The choice of an area to take offline, or of a larger one in the place of one that is here.
struct AreaNewPanel: PanelModel {
    static let template = "area-new"

    /// The way to an area by the name of a place.
    struct PlaceSearch: ViewModel {
        /// What was looked for.
        let place: String
        /// What is said where nothing was found.
        let noPlace: String?
        let places: [NamedPlace]
    }

    struct NamedPlace: ViewModel {
        /// Whether it is the first of what was looked for.
        let isFirst: Bool
        let name: String
        let kind: String
        let address: String
    }

    let heading: String
    let action: String
    /// The id of the area that a larger one is chosen for.
    let extends: String?
    let name: String
    let nameLimit: Int
    let error: String?
    /// One form takes one area, however often it is posted.
    let session: String
    /// The id of the prepared area that was chosen by its name.
    let prepared: String?
    /// A script asks for them again when the frame is moved.
    let counts: AreaCountsView
    let placeSearch: PlaceSearch?
    /// The edges of all of the map, as the script reads them.
    let whole: String?
    /// The edges that the map is brought to.
    let fit: String?
    let north: String
    let south: String
    let west: String
    let east: String
}
