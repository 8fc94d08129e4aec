/// How many features an area holds, and about how large its file will be.
struct AreaCountsView: TemplateModel {
    static let template = "area-counts"

    struct Layer: ViewModel {
        let name: String
        /// For the basemap its size.
        let count: String
    }

    /// An area on this device that holds some of it already.
    struct Overlap: ViewModel {
        let name: String
        /// Leads to its extension.
        let address: String
    }

    /// What a screen reader says while the frame is moved.
    let says: String
    let total: String
    let bytes: String
    let size: String
    /// The room on this device; nil where it isn't known.
    let free: String?
    let overlaps: [Overlap]
    let layers: [Layer]
    let photos: String?
    /// The names of the tables whose rows come along.
    let tables: String?
    /// The layers that didn't load, and why.
    let missing: String?
}
