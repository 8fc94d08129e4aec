import FieldworkGeometry
import FieldworkPortal

/// What a provider says of itself (OpenID Connect Discovery 1.0).
struct ProviderDescription: Sendable {
    /// Where people sign in.
    var authorization: ProviderAddress
    /// Where a code is exchanged.
    var token: ProviderAddress
    /// Where its keys are.
    var keys: ProviderAddress
    /// Whether the secret goes in the form; else in the header field.
    var takesSecretInForm: Bool
    /// Whether it names itself when it sends people back (RFC 9207).
    var namesItself: Bool

    static func address(of issuer: String) throws(PortalError) -> ProviderAddress {
        let root = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        return try ProviderAddress(root + "/.well-known/openid-configuration")
    }

    /// - Parameter issuer: the address that was asked; another one in the answer is another provider's.
    init(_ json: JSONObject, issuer: String) throws(ProviderFailure) {
        guard json["issuer"]?.stringValue == issuer else {
            throw ProviderFailure(.unavailable, "The description at \(issuer) is of another issuer.")
        }
        let mayBePlain = (try? ProviderAddress(issuer))?.isLoopback == true
        func address(_ name: String) throws(ProviderFailure) -> ProviderAddress {
            guard let text = json[name]?.stringValue, let address = try? ProviderAddress(text),
                mayBePlain || text.hasPrefix("https://")
            else { throw ProviderFailure(.unavailable, "The description of \(issuer) has no good '\(name)'.") }
            return address
        }
        func list(_ name: String) -> [String]? { json[name]?.arrayValue?.compactMap(\.stringValue) }
        authorization = try address("authorization_endpoint")
        token = try address("token_endpoint")
        keys = try address("jwks_uri")
        if let methods = list("code_challenge_methods_supported"), !methods.contains("S256") {
            throw ProviderFailure(.unavailable, "\(issuer) does not take PKCE with S256.")
        }
        if let names = list("id_token_signing_alg_values_supported"),
            !names.contains(where: { IdentityAlgorithm(rawValue: $0) != nil })
        {
            throw ProviderFailure(.unavailable, "\(issuer) signs its tokens by no algorithm that is taken here.")
        }
        let ways = list("token_endpoint_auth_methods_supported") ?? ["client_secret_basic"]
        takesSecretInForm = !ways.contains("client_secret_basic") && ways.contains("client_secret_post")
        namesItself = json["authorization_response_iss_parameter_supported"]?.boolValue ?? false
    }
}
