/// A map of a portal.
struct PortalMapView: ViewModel {
    let url: String
    let name: String
    let about: String
    let snippet: String?
    /// The address of its picture.
    let picture: String?
    /// Whether it is a service rather than a web map.
    let isService: Bool
}
