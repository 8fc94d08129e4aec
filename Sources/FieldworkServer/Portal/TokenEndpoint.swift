import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

/// Gives tokens for a name and a password, and for a token of the portal another of its server.
enum TokenEndpoint {
    /// `generateToken`, by POST alone: an address with a password would stay in logs and histories.
    static func generate(_ context: RouteContext) async throws -> Answer {
        let portal = try await PortalOperations(context).portal
        let request = context.request
        let wanted = try seconds(request.parameters)
        let issued: IssuedToken
        if request.token != nil {
            // The portal and its server are one: whoever has a token of one gets another for the other.
            guard request.tokenError == nil, request.principal.name != nil, let token = request.token else {
                throw failure("Invalid token.")
            }
            try requireOwnServer(request)
            issued = try await portal.exchange(token: token, seconds: wanted)
        } else {
            guard let name = request.parameters["username"], let password = request.parameters["password"] else {
                throw failure("'username' and 'password' required.")
            }
            let person = try await portal.signIn(name, password: password, from: request.peer)
            issued = try await portal.issueToken(to: person.name, seconds: wanted, binding: try binding(request))
        }
        let isTLS = request.origin.hasPrefix("https:")
        let format = try request.format()
        var answer = Answer.json(
            ["token": .string(issued.token), "expires": .integer(issued.expires), "ssl": .bool(isTLS)],
            format: format == .html ? .json : format)
        answer.isSecret = true
        return answer
    }

    static func failure(_ details: String) -> ServiceError {
        ServiceError(code: 400, message: "Unable to generate token.", details: [details])
    }

    /// `expiration` is in minutes.
    private static func seconds(_ parameters: RequestParameters) throws -> Int64 {
        seconds(minutes: try parameters.integer("expiration") ?? 60)
    }

    /// What clients may ask for is bounded before anything is reckoned with it.
    static func seconds(minutes: Int) -> Int64 {
        let longest = Int(FieldworkPortal.Limits.longestTokenSeconds / 60)
        return Int64(min(max(1, minutes), longest)) * 60
    }

    /// A token is bound to the pages of a site only where the client names a real one; some send no more than a scheme.
    private static func binding(_ request: ServiceRequest) throws -> TokenBinding {
        switch request.parameters["client"]?.lowercased() {
        case "ip":
            guard let address = request.parameters["ip"] else { throw failure("'ip' is missing.") }
            return TokenBinding(address: address)
        case "requestip": return TokenBinding(address: request.peer)
        default:
            return TokenBinding(
                referer: request.parameters["referer"].flatMap { SiteOrigin(address: $0)?.text })
        }
    }

    /// Clients name the server by its root, or by scheme and host alone.
    private static func requireOwnServer(_ request: ServiceRequest) throws {
        guard let server = request.parameters["serverUrl"] else { return }
        guard let wanted = SiteOrigin(address: server), let own = SiteOrigin(address: request.origin),
            wanted.host.name == own.host.name
        else { throw failure("The server '\(server.prefix(200))' is not one of this portal.") }
    }
}
