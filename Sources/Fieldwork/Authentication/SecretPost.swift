import FieldworkGeometry
import FieldworkREST
import Foundation

/// Requests that carry secrets, or are made before there is a token: past the authentication manager, their parameters always
/// in the body.
enum SecretPost {
    private static var client: HTTPServiceClient { HTTPServiceClient(authentication: nil) }

    /// Asks again when there is no answer: a token that was made and not heard of does no harm. Throws
    /// `ArcGISAuthenticationError.sslRequired` for an address on another machine that others could listen to, when the
    /// portal was reached over HTTPS.
    static func send(_ form: [(name: String, value: String)], to url: URL) async throws -> JSONValue {
        let request = ServiceRequest(url, form + [("f", "json")], isRead: false)
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try json(of: try await client.answer(to: request))
            } catch let error as ServiceError {
                guard case .connectionFailed = error, attempt < Limits.secretAttempts else { throw error }
                try await client.wait(beforeAttempt: attempt)
            }
        }
    }

    /// Reads what anybody may read.
    static func read(_ url: URL) async throws -> JSONValue {
        try json(of: try await client.answer(to: ServiceRequest(url, [("f", "json")])))
    }

    private static func json(of answer: ServiceAnswer) throws -> JSONValue {
        guard let json = try? JSONParser.parse(answer.bytes) else {
            throw ServiceError.unknown(details: "The answer of the sign-in is not JSON.")
        }
        if json.objectValue != nil, let error = FieldworkREST.ServiceError(answer: json) {
            throw RefusedSecret(error, json["error"])
        }
        return json
    }
}

/// What a sign-in service refused, in the protocol's words and in those of OAuth.
struct RefusedSecret: Error {
    let code: Int
    let text: String

    init(_ error: FieldworkREST.ServiceError, _ json: JSONValue?) {
        code = error.code
        let own = [json?["error_description"]?.stringValue ?? error.message] + error.details
        var seen: Set<String> = []
        text = own.filter { !$0.isEmpty && seen.insert($0).inserted }.joined(separator: " ")
    }
}
