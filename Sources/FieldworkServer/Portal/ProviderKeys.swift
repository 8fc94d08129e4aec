import Crypto
import FieldworkGeometry
import JWTKit

/// How a token may be signed. Whoever can check a signature of these can't make one: keys that are shared secrets, and tokens
/// without a signature, are not among them.
enum IdentityAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"

    /// The kind of key that it takes, as JSON Web Keys name it.
    fileprivate var keyType: String { rawValue.hasPrefix("E") ? "EC" : "RSA" }

    fileprivate var curve: String? {
        switch self {
        case .es256: "P-256"
        case .es384: "P-384"
        case .es512: "P-521"
        default: nil
        }
    }

    fileprivate var digest: DigestAlgorithm {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512: .sha512
        }
    }
}

/// The public keys of a provider, as it last gave them.
struct ProviderKeys: Sendable {
    private struct Key: Sendable {
        var id: String?
        var type: String
        var curve: String?
        /// The only algorithm that it is for; nil for any of its type.
        var algorithm: String?
        /// n and e, or x and y.
        var first: String
        var second: String
    }

    private var keys: [Key]

    init(_ json: JSONObject) throws(ProviderFailure) {
        guard let list = json["keys"]?.arrayValue, list.count <= Limits.providerKeys else {
            throw ProviderFailure(.unavailable, "The provider's keys are not 1 to \(Limits.providerKeys) in a list.")
        }
        keys = list.compactMap { json in
            guard let type = json["kty"]?.stringValue, json["use"]?.stringValue ?? "sig" == "sig" else { return nil }
            let names = type == "RSA" ? ("n", "e") : ("x", "y")
            guard ["RSA", "EC"].contains(type), let first = json[names.0]?.stringValue,
                let second = json[names.1]?.stringValue
            else { return nil }
            return Key(
                id: json["kid"]?.stringValue, type: type, curve: json["crv"]?.stringValue,
                algorithm: json["alg"]?.stringValue, first: first, second: second)
        }
    }

    /// The key that a token names, made to check signatures by one algorithm and no other; nil when there is none, or when a token
    /// names none and several could be meant.
    func verifier(keyID: String?, _ algorithm: IdentityAlgorithm) async throws -> JWTKeyCollection? {
        let fitting = keys.filter { key in
            key.type == algorithm.keyType && key.curve == algorithm.curve
                && (key.algorithm ?? algorithm.rawValue) == algorithm.rawValue && (keyID == nil || key.id == keyID)
        }
        guard let key = fitting.first, fitting.count == 1 else { return nil }
        let collection = JWTKeyCollection()
        switch algorithm {
        case .rs256, .rs384, .rs512:
            let rsa = try Insecure.RSA.PublicKey(modulus: key.first, exponent: key.second)
            await collection.add(rsa: rsa, digestAlgorithm: algorithm.digest)
        case .ps256, .ps384, .ps512:
            let rsa = try Insecure.RSA.PublicKey(modulus: key.first, exponent: key.second)
            await collection.add(pss: rsa, digestAlgorithm: algorithm.digest)
        case .es256: await collection.add(ecdsa: try ES256PublicKey(parameters: (key.first, key.second)))
        case .es384: await collection.add(ecdsa: try ES384PublicKey(parameters: (key.first, key.second)))
        case .es512: await collection.add(ecdsa: try ES512PublicKey(parameters: (key.first, key.second)))
        }
        return collection
    }
}
