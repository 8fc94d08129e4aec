import FieldworkPortal
import FieldworkREST
import Foundation
import HTTPTypes

/// Finds out who sends a request, by any of the ways in which clients send a token.
struct Authenticator: Sendable {
    var portal: Portal?

    /// The cookie of the server's own pages.
    static let cookie = "fieldwork_session"

    /// Who sends the request; a token that is good for nothing is an error of the routes that look at it.
    /// - Parameter token: of the parameters or of a header field.
    func principal(
        token: String?, _ head: HTTPRequest, _ visit: Visit
    ) async throws -> Result<Principal, ServiceError> {
        guard let portal, try await portal.hasPeople() else { return .success(.everybody) }
        do {
            if let token, !token.isEmpty {
                return .success(
                    try await portal.principal(token: token, referer: Self.referer(head), address: visit.peer))
            }
            // A page of another site never acts with the cookie.
            guard !visit.isFromOtherSite, let cookie = Self.session(head) else { return .success(.nobody) }
            return .success((try? await portal.principal(token: cookie, kind: .session)) ?? .nobody)
        } catch let error as PortalError where error.kind == .invalidToken {
            return .failure(.invalidToken)
        }
    }

    /// The origin of the page that sent the request.
    private static func referer(_ head: HTTPRequest) -> String? {
        let text = head.field(.referer) ?? head.field(.origin)
        return text.flatMap { SiteOrigin(address: $0)?.text }
    }

    static func session(_ head: HTTPRequest) -> String? { cookie(cookie, head) }

    static func cookie(_ name: String, _ head: HTTPRequest) -> String? {
        for field in head.headerFields where field.name == .cookie {
            for pair in field.value.split(separator: ";") {
                let words = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if words.count == 2, words[0] == name { return String(words[1]) }
            }
        }
        return nil
    }

    /// The token of a request that has none among its parameters.
    static func bearer(_ request: HTTPRequest) -> String? {
        let fields = [request.field(.esriAuthorization), request.field(.authorization)]
        for case let field? in fields where field.prefix(7).lowercased() == "bearer " {
            return String(field.dropFirst(7))
        }
        return nil
    }

    /// The address of a request without its token, which must not get into keys, jobs and logs.
    static func withoutToken(_ address: String) -> String {
        guard let mark = address.firstIndex(of: "?") else { return address }
        let query = address[address.index(after: mark)...]
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { pair in
            let name = pair.prefix { $0 != "=" }
            return (name.removingPercentEncoding ?? String(name)).lowercased() != "token"
        }
        return String(address[...mark]) + kept.joined(separator: "&")
    }
}
