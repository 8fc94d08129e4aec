/// The maps of a portal.
struct StartPortalPage: StartPageModel {
    static let template = "start-portal"

    let heading: String
    let server: String
    /// What was looked for.
    let words: String
    var problem: StartProblem?
    /// Why no map is shown.
    var nothing: String?
    /// "12 maps"; nil where none is shown.
    var count: String?
    var maps: [PortalMapView] = []
    /// The address of further maps.
    var more: String?
    /// The address of the sign-in; nil for who is signed in there.
    let signIn: String?
}
