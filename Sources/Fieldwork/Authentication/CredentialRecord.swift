import FieldworkGeometry
import Foundation

/// What a file keeps of a credential. All of it is secret.
struct CredentialRecord: Sendable {
    enum Kind: String, Sendable { case password, pregenerated, oAuthUser, oAuthApplication }

    var kind: Kind
    var id: UUID
    var url: URL
    var username: String
    var referer: String
    var token: String
    var expirationDate: Date
    var isSSLRequired: Bool
    /// The address that the credential was added for alone.
    var specificURL: String?
    var password: String?
    var tokenServices: String?
    var owner: String?
    var validity: TimeInterval?
    var clientID: String?
    var clientSecret: String?
    var redirectURL: String?
    var refreshToken: String?
    var refreshExpirationDate: Date?

    init(_ credential: ArcGISCredential, kind: Kind) {
        let token = credential.heldToken
        self.kind = kind
        id = credential.id
        url = credential.url ?? URL(filePath: "/")
        username = credential.username
        referer = credential.referer
        self.token = token.accessToken
        expirationDate = token.expirationDate
        isSSLRequired = token.isSSLRequired
    }

    // MARK: JSON

    private static let texts: [(String, any WritableKeyPath<CredentialRecord, String?> & Sendable)] = [
        ("specificURL", \.specificURL), ("password", \.password), ("tokenServices", \.tokenServices),
        ("owner", \.owner), ("clientID", \.clientID), ("clientSecret", \.clientSecret),
        ("redirectURL", \.redirectURL), ("refreshToken", \.refreshToken),
    ]

    var json: JSONValue {
        var object = JSONObject()
        object["kind"] = .string(kind.rawValue)
        object["id"] = .string(id.uuidString)
        object["url"] = .string(url.absoluteString)
        object["username"] = .string(username)
        object["referer"] = .string(referer)
        object["token"] = .string(token)
        object["expires"] = .number(expirationDate.timeIntervalSince1970)
        object["ssl"] = .bool(isSSLRequired)
        for (name, path) in Self.texts { if let text = self[keyPath: path] { object[name] = .string(text) } }
        if let validity { object["validity"] = .number(validity) }
        if let refreshExpirationDate { object["refreshExpires"] = .number(refreshExpirationDate.timeIntervalSince1970) }
        return .object(object)
    }

    /// nil for what is no record.
    init?(json: JSONValue) {
        guard let kind = json["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
            let id = json["id"]?.stringValue.flatMap(UUID.init(uuidString:)),
            let url = json["url"]?.stringValue.flatMap(URL.init(string:)), ServerRoot(url) != nil,
            let token = json["token"]?.stringValue, let expires = json["expires"]?.doubleValue
        else { return nil }
        self.kind = kind
        self.id = id
        self.url = url
        username = json["username"]?.stringValue ?? ""
        referer = json["referer"]?.stringValue ?? ""
        self.token = token
        expirationDate = Date(timeIntervalSince1970: expires)
        isSSLRequired = json["ssl"]?.boolValue ?? false
        validity = json["validity"]?.doubleValue
        refreshExpirationDate = json["refreshExpires"]?.doubleValue.map(Date.init(timeIntervalSince1970:))
        for (name, path) in Self.texts { self[keyPath: path] = json[name]?.stringValue }
    }

    /// The token; nil for a text that can't be one.
    var info: TokenInfo? {
        TokenInfo(accessToken: token, expirationDate: expirationDate, isSSLRequired: isSSLRequired)
    }

    /// The credential; nil where something lacks.
    var credential: ArcGISCredential? {
        guard let info else { return nil }
        switch kind {
        case .pregenerated: return PregeneratedTokenCredential(self, token: info)
        case .password:
            guard let password, let owner = owner.flatMap(URL.init(string:)).flatMap(ServerRoot.init),
                let services = tokenServices.flatMap(URL.init(string:))
            else { return nil }
            return TokenCredential(
                url: url, username: username, password: password, validity: validity,
                service: TokenService(owner: owner, url: services), referer: referer, token: info, id: id)
        case .oAuthUser:
            guard let clientID, let redirect = redirectURL.flatMap(URL.init(string:)) else { return nil }
            return OAuthUserCredential(
                portalURL: url, clientID: clientID, redirectURL: redirect, username: username, token: info,
                refresh: refreshToken.map { .init(token: $0, expirationDate: refreshExpirationDate) }, id: id)
        case .oAuthApplication:
            guard let clientID, let clientSecret else { return nil }
            return OAuthApplicationCredential(
                portalURL: url, clientID: clientID, clientSecret: clientSecret, validity: validity, token: info, id: id)
        }
    }
}
