/// The first page: the ways to a map.
struct StartPage: StartPageModel {
    static let template = "start"

    /// A map that the app was started with.
    struct Service: ViewModel {
        let url: String
        let name: String
        let about: String
        /// Whether it is of this very machine.
        let own: Bool
    }

    struct Portal: ViewModel {
        let host: String
        let maps: [PortalMapView]
        /// The address of all its maps.
        let all: String
    }

    let heading: String
    let problem: StartProblem?
    /// What the sign-out did.
    let signedOut: String?
    let services: [Service]
    let hasAreas: Bool
    let areas: [StartAreaView]
    let portal: Portal?
}
