import FieldworkGeometry
import FieldworkPortal
import Foundation
import JWTKit

/// A token by which a provider says who somebody is (an ID token of OpenID Connect). Nothing of it is believed before
/// `IdentityToken.verified`.
struct IdentityToken: Sendable {
    let text: String
    let algorithm: IdentityAlgorithm
    let keyID: String?

    /// Reads the head, which says how to check the rest.
    init(_ text: String) throws(ProviderFailure) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Limits.identityTokenBytes, parts.count == 3,
            let head = Self.decoded(parts[0]).flatMap({ try? JSONParser.parse([UInt8]($0)) })?.objectValue
        else { throw ProviderFailure(.refused, "The token is no signed JSON Web Token.") }
        let name = head["alg"]?.stringValue ?? ""
        guard let algorithm = IdentityAlgorithm(rawValue: name) else {
            throw ProviderFailure(.refused, "The token is signed by '\(name.prefix(40))', which is not taken.")
        }
        // What has to be understood, and is not known here.
        guard head["crit"] == nil else { throw ProviderFailure(.refused, "The token has critical extensions.") }
        self.text = text
        self.algorithm = algorithm
        keyID = head["kid"]?.stringValue
    }

    private static func decoded(_ part: Substring) -> Data? {
        let plain = String(part).replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    /// What a token must say to be the answer to one sign-in.
    struct Expectation: Sendable {
        var issuer: String
        var clientID: String
        var nonce: String
        var now: Date
    }

    /// Checks the signature and every claim.
    func verified(
        by keys: JWTKeyCollection, _ expected: Expectation
    ) async throws -> (identity: OutsideIdentity, profile: OutsideProfile) {
        let claims: Claims
        do {
            claims = try await keys.verify(text, as: Claims.self)
        } catch {
            throw ProviderFailure(.refused, "The token's signature or form is wrong: \(error)")
        }
        if let reason = claims.objection(expected) { throw ProviderFailure(.refused, reason) }
        return (
            OutsideIdentity(issuer: claims.iss, subject: claims.sub),
            OutsideProfile(
                userName: claims.preferredUsername, fullName: claims.name,
                email: claims.emailVerified == false ? nil : claims.email)
        )
    }
}

/// The claims of an ID token that are looked at, under their own names.
private struct Claims: JWTPayload {
    var iss: String
    var sub: String
    var aud: [String]
    var exp: Double
    var iat: Double
    var nbf: Double?
    var azp: String?
    var nonce: String?
    var name: String?
    var preferredUsername: String?
    var email: String?
    var emailVerified: Bool?

    enum CodingKeys: String, CodingKey {
        case iss, sub, aud, exp, iat, nbf, azp, nonce, name, email
        case preferredUsername = "preferred_username"
        case emailVerified = "email_verified"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        iss = try values.decode(String.self, forKey: .iss)
        sub = try values.decode(String.self, forKey: .sub)
        let one = try? values.decode(String.self, forKey: .aud)
        aud = try one.map { [$0] } ?? values.decode([String].self, forKey: .aud)
        exp = try values.decode(Double.self, forKey: .exp)
        iat = try values.decode(Double.self, forKey: .iat)
        nbf = try values.decodeIfPresent(Double.self, forKey: .nbf)
        azp = try values.decodeIfPresent(String.self, forKey: .azp)
        nonce = try values.decodeIfPresent(String.self, forKey: .nonce)
        // What is only shown may be missing, or of another type.
        name = try? values.decode(String.self, forKey: .name)
        preferredUsername = try? values.decode(String.self, forKey: .preferredUsername)
        email = try? values.decode(String.self, forKey: .email)
        emailVerified = try? values.decode(Bool.self, forKey: .emailVerified)
    }

    /// The claims are checked by `objection`, against what this sign-in has asked for.
    func verify(using algorithm: some JWTAlgorithm) async throws {}

    /// What is wrong; nil for a token that answers this sign-in.
    func objection(_ expected: IdentityToken.Expectation) -> String? {
        let now = expected.now.timeIntervalSince1970
        let skew = Double(Limits.providerClockSeconds)
        guard iss == expected.issuer else { return "The token is of another issuer." }
        guard aud.contains(expected.clientID) else { return "The token is for another application." }
        guard aud.count == 1 || azp != nil, azp ?? expected.clientID == expected.clientID else {
            return "The token was given to another application."
        }
        guard exp.isFinite, now < exp + skew else { return "The token has expired." }
        guard iat.isFinite, iat <= now + skew, (nbf ?? iat) <= now + skew else { return "The token is of the future." }
        guard nonce == expected.nonce else { return "The token answers another sign-in." }
        return nil
    }
}
