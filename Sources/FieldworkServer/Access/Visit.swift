/// What is known of a request before anything of it is read: by which address it came, and from which page.
struct Visit: Sendable {
    enum Site: Sendable, Hashable {
        /// No page of another site has made a browser send it.
        case own
        /// A page of another site has, which may read, and edit if the rules say so.
        case other(mayEdit: Bool)
    }

    /// What the addresses in the answer begin with: scheme, host and path, without a slash at the end.
    var address: String
    var site = Site.own
    /// The origin that the browser wants to find in the answer.
    var allowedOrigin: String?
    /// The address of the client that a trusted proxy names; nil for one that came by itself.
    var client: String?
    /// The address of the client: the named one, or the other end of the connection.
    var peer = "local"
    /// What the server calls the request, in its logs and to the client.
    var requestID: String?
    /// Whether it came from this machine and was not passed on for somebody else.
    var isOfThisMachine = false

    var isFromOtherSite: Bool { site != .own }
}
