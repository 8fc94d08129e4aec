import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation

/// What an application asks a person for.
struct AuthorizationRequest: Sendable, Hashable {
    var clientID: String
    var title: String
    var redirect: String
    /// Comes back byte for byte.
    var state: String
    var isImplicit: Bool
    /// Of PKCE; nil for an application that keeps a secret.
    var challenge: String?
    /// How long an implicit token lives.
    var seconds: Int64

    /// Why no page is shown: the person must not be sent to an address that may be anybody's.
    struct Refusal: Error {
        var message: String
    }

    init(_ request: ServiceRequest, _ portal: Portal) async throws {
        let parameters = request.parameters
        guard let id = parameters["client_id"], let client = try await portal.client(id) else {
            throw Refusal(message: "Invalid client_id")
        }
        let own = SiteOrigin(address: request.origin)?.text ?? request.origin
        // The server's own pages are where they are.
        let wanted = client.isOwnPages ? own : parameters["redirect_uri"]
        guard let redirect = wanted, client.allows(redirect, own: own) else {
            throw Refusal(message: "Invalid redirect_uri")
        }
        clientID = id
        title = client.title
        self.redirect = redirect
        state = parameters["state"] ?? ""
        guard state.utf8.count <= 8_192 else { throw Refusal(message: "Invalid state") }
        seconds = TokenEndpoint.seconds(minutes: try parameters.integer("expiration") ?? 120)
        switch parameters["response_type"] {
        case "code": isImplicit = false
        // Applications of today's make exchange codes.
        case "token" where client.owner.isEmpty: isImplicit = true
        default: throw Refusal(message: "Invalid response_type")
        }
        challenge = try Self.challenge(parameters, client, isImplicit)
    }

    /// A challenge must be hashed: one that is sent as it is protects from nothing.
    private static func challenge(
        _ parameters: RequestParameters, _ client: OAuthClient, _ isImplicit: Bool
    ) throws -> String? {
        guard !isImplicit else { return nil }
        guard let challenge = parameters["code_challenge"] else {
            // A code that is shown goes to nobody but who has signed in; others need a verifier or a secret to be exchanged.
            guard client.isConfidential || parameters["redirect_uri"] == OAuthClient.outOfBand else {
                throw Refusal(message: "Invalid code_challenge")
            }
            return nil
        }
        guard parameters["code_challenge_method"] == "S256" else {
            throw Refusal(message: "Invalid code_challenge_method")
        }
        let isText = challenge.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        guard isText, challenge.utf8.count == 43 else { throw Refusal(message: "Invalid code_challenge") }
        return challenge
    }

    // MARK: Kept while the person signs in

    init?(text: String) {
        guard let json = try? JSONParser.parse(text), let client = json["client"]?.stringValue,
            let redirect = json["redirect"]?.stringValue, let seconds = json["seconds"]?.integerValue
        else { return nil }
        clientID = client
        title = json["title"]?.stringValue ?? ""
        self.redirect = redirect
        state = json["state"]?.stringValue ?? ""
        isImplicit = json["isImplicit"]?.boolValue ?? false
        challenge = json["challenge"]?.stringValue
        self.seconds = seconds
    }

    var text: String {
        let json: JSONValue = [
            "client": .string(clientID), "title": .string(title), "redirect": .string(redirect),
            "state": .string(state), "isImplicit": .bool(isImplicit), "challenge": JSONValue(challenge),
            "seconds": .integer(seconds),
        ]
        var bytes: [UInt8] = []
        json.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Back to the application

    func redirected(_ fields: [(String, String)]) -> String {
        redirect + (redirect.contains("?") ? "&" : "?") + Self.query(fields)
    }

    /// nil: the answer is shown.
    var denied: String? {
        guard redirect != OAuthClient.outOfBand else { return nil }
        let fields = [
            ("error", "access_denied"), ("error_description", "The user denied your request."), ("state", state),
        ]
        return isImplicit ? redirect + "#" + Self.query(fields) : redirected(fields)
    }

    static func query(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&")
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    private static let plain = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
