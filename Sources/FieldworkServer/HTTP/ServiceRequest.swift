import FieldworkPortal
import FieldworkREST
import Foundation
import HTTPTypes

/// A request that has been read: its bounds are checked, its parameters merged.
struct ServiceRequest: Sendable {
    var method: HTTPRequest.Method
    /// Path and query as they were sent.
    var address: String
    /// The operation that the address names; nil when there is nothing at it.
    var match: RouteMatch?
    var parameters: RequestParameters
    /// The files of a form by the names of their fields, in lower case.
    var files: [String: ReceivedFile] = [:]
    /// Whether the body was a stretch of an upload, which is where it belongs.
    var hasStretch = false
    var accept: String?
    /// Scheme, host and path as the client sees the server, without a slash at the end.
    var origin = ""
    /// The part of a file that the client wants.
    var range: String?
    /// Who asks; nil when nobody has signed in.
    var editor: String?
    /// Whether the client is one that keeps answers and asks again with their tag: browsers do, programs don't. For the
    /// others the generation is not looked up, which would cost as much as the rest of a small query.
    var keepsAnswers = false
    /// The tags of the answers that the client has.
    var ifNoneMatch: String?
    /// Whether a page of another site made a browser send it.
    var isFromOtherSite = false
    /// Whether a program of this machine sent it, for nobody else.
    var isFromThisMachine = false
    /// What opens what has a key. It stands in no parameter and in no address any more.
    var token: String?
    /// Whether a browser sent it without a word of the page that made it.
    var embedsSilently = false

    /// Who sends it, and what that person may do.
    var principal = Principal.everybody
    /// Why the token says nothing of who sends it.
    var tokenError: ServiceError?
    /// The address of the client.
    var peer = "local"
    /// The cookie of the server's pages.
    var session: String?
    /// The cookie of a browser whose person is signing in by a provider.
    var providerTicket: String?

    /// Writes must not be done by what a link, an image or a search engine can send.
    func requirePost() throws(ServiceError) {
        guard method == .post else {
            throw ServiceError(code: 405, message: "Method not allowed.", details: ["This operation is done by POST."])
        }
    }

    /// The address of something of a service, as the client sees the server.
    /// - Parameter path: what follows `FeatureServer`, or the name of another face.
    func address(
        of path: String, _ service: ServiceName, instance: String, face: ServiceFace = .feature
    ) -> String {
        let segments = service.path.split(separator: "/").map {
            $0.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? String($0)
        }
        return "\(origin)/\(instance)/rest/services/\(segments.joined(separator: "/"))/\(face.rawValue)/\(path)"
    }

    /// What the log may say of the address: no parameters, which may hold a token.
    var path: String { String(address.prefix { $0 != "?" }.prefix(Limits.loggedPathCharacters)) }

    func format() throws(ServiceError) -> AnswerFormat {
        try AnswerFormat(name: parameters["f"], accept: accept)
    }
}

extension ServiceRequest {
    /// Whether a person in a browser asks for the page of an operation rather than for its answer.
    var wantsPage: Bool {
        (try? format()) == .html
    }
}
