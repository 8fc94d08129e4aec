import FieldworkREST
import HTTPTypes

/// Why a request is turned away before anything of it is read.
enum Refusal: Error, Sendable {
    case noHost
    case manyHosts
    case malformed(String)
    case method
    case wrongHost(String)
    case otherSite(String)
    /// It may read.
    case otherSiteEdits(String, Visit)

    /// With the status that says so: no client of the protocol comes here.
    var answer: Answer {
        var answer = Answer.error(error)
        answer.status = .init(code: error.code)
        return answer
    }

    var visit: Visit? {
        if case .otherSiteEdits(_, let visit) = self { return visit }
        return nil
    }

    /// Whether the connection can't go on: a proxy in front may have read the request otherwise.
    var endsConnection: Bool {
        switch self {
        case .noHost, .manyHosts, .malformed, .method: true
        case .wrongHost, .otherSite, .otherSiteEdits: false
        }
    }

    /// What the log calls it, as the app does.
    var reason: String {
        switch self {
        case .noHost, .manyHosts, .malformed: "malformed"
        case .method: "method"
        case .wrongHost: "wrongHost"
        case .otherSite, .otherSiteEdits: "wrongOrigin"
        }
    }

    private var error: ServiceError {
        switch self {
        case .noHost:
            ServiceError(code: 400, message: "The request says no Host.")
        case .manyHosts:
            ServiceError(code: 400, message: "The request says more than one Host.")
        case .malformed(let field):
            ServiceError(code: 400, message: "The field \(field) of the request is not written as HTTP has it.")
        case .method:
            ServiceError(code: 405, message: "Method not allowed.", details: ["The service takes GET, HEAD and POST."])
        case .wrongHost(let name):
            ServiceError(
                code: 403, message: "The service does not answer under the name '\(name)'.",
                details: ["Who runs it can allow that: fieldwork serve --allow-host \(name)"])
        case .otherSite(let name):
            ServiceError(
                code: 403, message: "The request was sent by a page of another site (\(name.prefix(200))).",
                details: ["Who runs the service can allow that: fieldwork serve --allow-origin"])
        case .otherSiteEdits(let name, _):
            ServiceError(
                code: 403,
                message:
                    "The request was sent by a page of another site (\(name.prefix(200))), which may read only. Nothing was changed.",
                details: ["Who runs the service can allow that: fieldwork serve --allow-origin-edits"])
        }
    }
}

extension HTTPField.Name {
    /// A second `Host`: the first is the request's authority.
    static let hostField = known("Host")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let secFetchDest = known("Sec-Fetch-Dest")
    static let xRequestID = known("X-Request-ID")
    static let forwarded = known("Forwarded")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwardedHost = known("X-Forwarded-Host")
    static let forwardedProto = known("X-Forwarded-Proto")
    static let referrerPolicy = known("Referrer-Policy")
    static let esriAuthorization = known("X-Esri-Authorization")

    private static func known(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is no header name") }
        return field
    }
}
