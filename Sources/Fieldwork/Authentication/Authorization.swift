import FieldworkGeometry
import FieldworkREST
import Foundation

/// What goes with a request so that the service knows who asks. It is in headers, never in the address, where logs keep it.
struct Authorization: Sendable {
    /// The token; nil for a network credential alone.
    var token: String?
    /// What the token is bound to; empty for nothing.
    var referer = ""
    /// Where the token comes from, the portal's for a server that belongs to it; nil for an API key.
    var credential: ArcGISCredential?

    var headers: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if let token { headers.append(("X-Esri-Authorization", "Bearer \(token)")) }
        if !referer.isEmpty { headers.append(("Referer", referer)) }
        return headers
    }

    /// Headers that no other host may see.
    static let secretHeaders = ["X-Esri-Authorization", "Authorization", "Cookie", "Referer"]
}

/// What came of a request, and whether its service wants to know who asks.
struct Reply<Answer: Sendable>: Sendable {
    var result: Result<Answer, any Error>
    var refusal: Refusal?

    /// Why a service wants to know who asks.
    enum Refusal: Sendable {
        /// The protocol's 498 or 499, or what portals say to nobody.
        case token(code: Int, error: ServiceError)
        /// HTTP's 401, with the ways that it takes.
        case network(NetworkAuthenticationChallenge.Kind)
    }
}

extension Reply.Refusal {
    /// What portals say to nobody of an item that is not everybody's.
    private static var unshared: Set<String> { ["GWM_0003", "CONT_0001"] }

    /// Reads an answer, whatever its status: the protocol sends errors with status 200. nil for an answer that has nothing
    /// to do with signing in.
    init?(_ bytes: some Collection<UInt8>, status: Int, authenticate: String?, isAnonymous: Bool) {
        if status == 401, let kind = authenticate.flatMap(Self.kind) {
            self = .network(kind)
            return
        }
        if Self.mayBeError(bytes), let json = try? JSONParser.parse(Array(bytes)), json["error"]?.objectValue != nil,
            let error = FieldworkREST.ServiceError(answer: json)
        {
            self.init(error, json["error"]?["messageCode"]?.stringValue, isAnonymous: isAnonymous)
            return
        }
        guard [401, 498, 499].contains(status) else { return nil }
        let error = ServiceError.serverFailure(details: "The service answered with status \(status).", code: status)
        self = .token(code: status, error: error)
    }

    /// A look at the first bytes: answers are long, and nearly none of them is an error.
    private static func mayBeError(_ bytes: some Collection<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "{"), bytes.count <= Limits.errorAnswerBytes else { return false }
        return String(decoding: bytes.prefix(64), as: UTF8.self).contains("\"error\"")
    }

    private init?(_ error: FieldworkREST.ServiceError, _ messageCode: String?, isAnonymous: Bool) {
        guard
            [498, 499].contains(error.code)
                || (isAnonymous && (error.code == 401 || messageCode.map { Self.unshared.contains($0) } == true))
        else { return nil }
        self = .token(code: error.code, error: ServiceError(error))
    }

    private static func kind(_ header: String) -> NetworkAuthenticationChallenge.Kind? {
        let words = header.lowercased()
        if words.contains("basic") { return .basic }
        if words.contains("digest") { return .digest }
        if words.contains("negotiate") { return .negotiate }
        return words.contains("ntlm") ? .ntlm : nil
    }
}
