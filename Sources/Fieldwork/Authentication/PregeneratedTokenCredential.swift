public import Foundation

/// A credential of a token that was made elsewhere. It can't be renewed: when it expires, the next challenge asks for
/// another.
///
/// What changes is behind locks.
public final class PregeneratedTokenCredential: ArcGISCredential, @unchecked Sendable {
    /// A credential of a token.
    /// - Parameters:
    ///   - url: the server or portal that gave the token.
    ///   - tokenInfo: the token.
    ///   - referer: what the token is bound to; empty for nothing.
    public init(url: URL, tokenInfo: TokenInfo, referer: String = "") {
        super.init(url: url, username: "", referer: referer, token: tokenInfo)
    }

    init(_ record: CredentialRecord, token: TokenInfo) {
        super.init(
            url: record.url, username: record.username, referer: record.referer, token: token, id: record.id)
    }

    override var isRenewable: Bool { false }
}
