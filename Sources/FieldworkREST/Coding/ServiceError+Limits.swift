package import FieldworkGeometry

extension ServiceError {
    /// What a client learns when its request met a limit.
    package init(limit error: AllowanceError) {
        switch error {
        case .memoryOfAllIsUp, .disturbed: self = ServiceError(code: Self.busyCode, message: "\(error)")
        case .tooMuchWork, .unwanted: self = ServiceError(code: Self.overLimitCode, message: "\(error)")
        case .timeIsUp, .memoryIsUp:
            self = ServiceError(
                code: Self.overLimitCode, message: "\(error)",
                details: [
                    "Ask for less: fewer features (resultRecordCount), a smaller extent, a simpler condition or geometry."
                ])
        }
    }

    /// The same request would meet the same limit again.
    package static let overLimitCode = 413

    /// What a client is told of JSON that was not read.
    /// - Parameter place: where it stands, such as `'adds'`.
    package init(_ error: JSONError, in place: String) {
        switch error.code {
        case .tooManyMembers:
            self = .invalidParameter(
                "\(place) has an object with more than \(GeometryLimits.membersMax) members (at byte \(error.offset)).")
        case .tooLarge:
            self = ServiceError(
                code: Self.overLimitCode, message: "The request is too large.",
                details: [
                    "The values of \(place) would take more than \(Limits.documentBytes) bytes of memory (at byte \(error.offset)). Send them in several requests."
                ])
        case .refused(let reason): self = ServiceError(limit: reason)
        default: self = .invalidParameter("\(place) is not valid JSON (at byte \(error.offset)).")
        }
    }
}
