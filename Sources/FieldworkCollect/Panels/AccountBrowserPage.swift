/// The page that waits for a sign-in at the server's own one.
struct AccountBrowserPage: StartPageModel {
    static let template = "account-browser"

    let heading: String
    let host: String
    /// The address of the server's page; nil until it is known.
    let page: String?
    /// Where the way back leads.
    let cancel: String
}
