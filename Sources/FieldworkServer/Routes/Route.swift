import FieldworkREST

/// One operation of the server: a row of the table of routes. Everything that the server has to know of an operation before
/// it is done stands here: its address, how it is asked for, what it is counted under, the right that it needs, and what does
/// it. `Documentation/operations.md` lists the same rows; a test compares the two.
final class Route: Sendable {
    typealias Handler = @Sendable (RouteContext) async throws -> Answer

    /// Where an address begins. What follows is the row's own.
    enum Base: String, Sendable {
        /// Outside of the protocol's addresses.
        case server = ""
        case instance = "{instance}"
        case rest = "{instance}/rest"
        case featureServer = "{instance}/rest/services/{service}/FeatureServer"
        case mapServer = "{instance}/rest/services/{service}/MapServer"
        /// Where clients look for the Web Map Service of a map service.
        case webMapService = "{instance}/services/{service}/MapServer"
        case geocodeServer = "{instance}/rest/services/{service}/GeocodeServer"
        case validationServer = "{instance}/rest/services/{service}/ValidationServer"
        case vectorTileServer = "{instance}/rest/services/{service}/VectorTileServer"
        case administration = "{instance}/rest/admin/services/{service}/FeatureServer"
        case tokens = "{instance}/tokens"
        case sharing = "{instance}/sharing"
        case portal = "{instance}/sharing/rest"
        case portalAdministration = "{instance}/portaladmin"
        /// The portal's pages for a browser.
        case home = "{instance}/home"
    }

    enum Method: Sendable {
        /// Asks for something, by GET, HEAD or POST.
        case read
        /// Changes something, by POST alone: a link, an image or a search engine can't send it.
        case write
    }

    /// The formats in which an operation answers.
    enum Format: String, Sendable {
        case json, pjson, html, geojson, pbf, xml
        /// A file as it is.
        case file
        case text
    }

    /// What the body of a request may carry besides parameters.
    enum Body: Sendable {
        case parameters
        /// Files of a multipart form.
        case files
        /// The next bytes of an upload, as `application/octet-stream`.
        case uploadBytes
    }

    let base: Base
    /// The address below the base: literal segments, `{parameters}`, and at the end `*` for anything that follows.
    let path: String
    let method: Method
    let formats: [Format]
    /// What a request is counted under in `/metrics`.
    let metric: ServerMetrics.Operation
    let right: Right
    let body: Body
    /// Answers a person with a browser; nil where the answer is the same for programs and people.
    let page: Handler?
    let answer: Handler

    init(
        _ base: Base, _ path: String, _ method: Method = .read, _ formats: [Format] = [.json, .pjson],
        metric: ServerMetrics.Operation, needs right: Right, body: Body = .parameters, page: Handler? = nil,
        answer: @escaping Handler
    ) {
        self.base = base
        self.path = path
        self.method = method
        self.formats = formats
        self.metric = metric
        self.right = right
        self.body = body
        self.page = page
        self.answer = answer
    }

    /// Whether pages of other sites need more for it than the right to read.
    var changes: Bool { method == .write || base == .administration }

    /// Whether it may draw an image of any size.
    var drawsImages: Bool { metric == .export || metric == .wms }

    /// The whole address, with its parameters in braces.
    var pattern: String { [base.rawValue, path].filter { !$0.isEmpty }.joined(separator: "/") }
}

/// What somebody must be allowed to do for an operation. The router checks it before the operation begins, as far as the
/// address tells; an operation that learns only from its parameters which layers it concerns checks those itself.
enum Right: String, Sendable, CaseIterable {
    /// Says nothing of anybody's data.
    case nothing
    /// To know that a service is there, and what it is made of.
    case describe
    /// To read features.
    case query
    case create, update, delete
    /// To edit; which of the three rights of editing are needed, the edits tell.
    case edit
    /// To send files that an edit will name.
    case upload
    /// To have and synchronise replicas.
    case sync
    /// To ask for changes without a replica.
    case extractChanges
    /// Whoever knows the random name of a job or a result may have it.
    case knowsName
    /// To change definitions and to empty layers.
    case administer
    /// To see how the server does.
    case operate
    /// To ask the portal: what it tells depends on who asks.
    case visit
    /// To be signed in; what is changed is checked against what the person may do with it.
    case member
    /// To prove who one is, in the request itself: by a password, a code or a secret.
    case prove
}
