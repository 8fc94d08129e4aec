package import FieldworkGeometry

/// The protocol's error: what `{"error":{…}}` carries. Both sides use it: the server to answer, the SDK to report.
package struct ServiceError: Error, Sendable, Hashable {
    package var code: Int
    package var extendedCode: Int?
    package var message: String
    package var details: [String]
    /// What a service tells of its error besides.
    package var unknownMembers = JSONObject()

    package init(code: Int, extendedCode: Int? = nil, message: String, details: [String] = []) {
        self.code = code
        self.extendedCode = extendedCode
        self.message = message
        self.details = details
    }

    /// The service could not do it now, and changed nothing; later it may.
    package static let busyCode = 503
    /// Nobody knows whether it was done, as when there is no answer.
    package static let noAnswerCode = 504
    /// The service has no room left, and changed nothing.
    package static let fullCode = 507

    /// A parameter that is missing, malformed or unknown. Nothing was changed.
    package static func invalidParameter(_ details: String...) -> ServiceError {
        ServiceError(code: 400, message: "Invalid or missing input parameters.", details: details)
    }

    /// A query that can't be answered as it was put.
    package static func invalidQuery(_ details: String...) -> ServiceError {
        ServiceError(code: 400, message: "Cannot perform query. Invalid query parameters.", details: details)
    }

    package static func notFound(_ message: String) -> ServiceError {
        ServiceError(code: 404, message: message)
    }

    package static let notSupported = ServiceError(
        code: 400, message: "Requested operation is not supported by this service.")

    /// `{"error":{…}}`.
    package var json: JSONValue {
        var error = JSONObject()
        error["code"] = JSONValue(code)
        if let extendedCode { error["extendedCode"] = JSONValue(extendedCode) }
        error["message"] = .string(message)
        error["details"] = .array(details.map(JSONValue.string))
        error.merge(unknownMembers)
        return .object(JSONObject(["error": .object(error)]))
    }

    private static let readMembers: Set<String> = ["code", "extendedCode", "message", "details"]

    /// Reads the error of an answer; nil when the answer is not an error.
    package init?(answer: JSONValue) {
        // A state tells null as long as nothing went wrong.
        guard let error = answer["error"], error != .null else { return nil }
        code = error["code"]?.integerValue.map(Int.init) ?? 500
        extendedCode = error["extendedCode"]?.integerValue.map(Int.init)
        message = error["message"]?.stringValue ?? error.stringValue ?? "The service answered with an error."
        switch error["details"] {
        case .array(let texts)?: details = texts.compactMap(\.stringValue)
        case .string(let text)?: details = [text]
        default: details = []
        }
        unknownMembers = error.objectValue?.without(Self.readMembers) ?? JSONObject()
    }
}
