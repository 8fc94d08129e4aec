import FieldworkREST
public import Foundation

/// What a service answered instead of what was asked, or why there was no answer.
public enum ServiceError: ArcGISError, LocalizedError, Hashable {
    /// A value of the answer does not fit its field.
    case fieldValueTypeMismatch(details: String)
    /// The service refused the request or failed; the text has the service's code and message.
    case serverFailure(details: String)
    /// The service could not be reached, or the connection broke before the answer was complete.
    case connectionFailed(details: String)
    /// The answer is not one of the protocol.
    case unknown(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .fieldValueTypeMismatch(let details), .serverFailure(let details), .connectionFailed(let details),
            .unknown(let details):
            details
        }
    }
}

extension ServiceError {
    /// The protocol's error as the SDK reports it, code and message kept. A service that does not know whether it has done
    /// something has not answered: what was sent is looked up, as after a connection that broke.
    init(_ error: FieldworkREST.ServiceError) {
        let text = ([error.message] + error.details).filter { !$0.isEmpty }.joined(separator: " ")
        let details = "\(text) (code \(error.code))"
        let isAnswer = error.code != FieldworkREST.ServiceError.noAnswerCode
        self = isAnswer ? .serverFailure(details: details) : .connectionFailed(details: details)
    }

    /// The error of one edit of a batch.
    init(_ error: FieldworkREST.EditError) {
        self = .serverFailure(details: "\(error.description) (code \(error.code))")
    }
}
