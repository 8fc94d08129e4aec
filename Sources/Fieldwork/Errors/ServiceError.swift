import FieldworkREST
public import Foundation

/// What a service answered instead of what was asked, or why there was no answer.
public enum ServiceError: ArcGISError, LocalizedError, Hashable {
    /// A value of the answer does not fit its field.
    case fieldValueTypeMismatch(details: String)
    /// The service refused the request or failed. The text has the service's message and code; `code` has the code alone,
    /// for programs: the protocol's error code (498 for a token that is not valid, 499 for one that is missing), or the HTTP
    /// status of an answer without an error of the protocol.
    case serverFailure(details: String, code: Int? = nil)
    /// The service could not be reached, or the connection broke before the answer was complete.
    case connectionFailed(details: String)
    /// The answer is not one of the protocol.
    case unknown(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .fieldValueTypeMismatch(let details), .serverFailure(let details, _), .connectionFailed(let details),
            .unknown(let details):
            details
        }
    }

    /// The code of the service's error, by which a program decides what to do next; nil for an error that has none.
    ///
    /// ```swift
    /// catch let error as ServiceError where error.code == 499 {
    ///     // The service wants a token: sign in, then ask again.
    /// }
    /// ```
    public var code: Int? {
        guard case .serverFailure(_, let code) = self else { return nil }
        return code
    }
}

extension ServiceError {
    /// Whether the service only wants to know who asks: it has done nothing, and may do it after a sign-in.
    var asksForSignIn: Bool { code == 498 || code == 499 }

    /// Whether another attempt may bring what this one did not: there was no answer, or somebody has to sign in first.
    var isTransient: Bool {
        if case .connectionFailed = self { return true }
        return asksForSignIn
    }

    /// The protocol's error as the SDK reports it, code and message kept. A service that does not know whether it has done
    /// something has not answered: what was sent is looked up, as after a connection that broke.
    init(_ error: FieldworkREST.ServiceError) {
        let text = ([error.message] + error.details).filter { !$0.isEmpty }.joined(separator: " ")
        let details = "\(text) (code \(error.code))"
        let isAnswer = error.code != FieldworkREST.ServiceError.noAnswerCode
        self = isAnswer ? .serverFailure(details: details, code: error.code) : .connectionFailed(details: details)
    }

    /// The error of one edit of a batch.
    init(_ error: FieldworkREST.EditError) {
        self = .serverFailure(details: "\(error.description) (code \(error.code))", code: error.code)
    }
}
