import FieldworkREST
import FieldworkStore
import Foundation

extension ServiceError {
    /// The protocol's error for what the store refused; nil when it is the server's own trouble, of which a client
    /// learns no details.
    init?(_ error: StoreError) {
        switch error.code {
        case .serviceNotFound, .layerNotFound: self = .notFound(error.message)
        case .invalidQuery: self = .invalidQuery(error.message)
        case .invalidDefinition: self = .invalidParameter(error.message)
        case .serviceExists: self = ServiceError(code: 409, message: error.message)
        case .busy: self = ServiceError(code: 503, message: "The service is busy. Try again.")
        case .turnPassed: self = ServiceError(code: EditTurn.passedCode, message: error.message)
        case .replaced: self = ServiceError(code: 503, message: error.message)
        case .inDoubt: self = .inDoubt
        case .closed: self = ServiceError(code: 503, message: "The service is stopping.")
        case .overLimit: self = ServiceError(code: ServiceError.overLimitCode, message: error.message)
        case .full:
            self = ServiceError(
                code: ServiceError.fullCode, message: "The disk of the service is full. Nothing was changed.")
        case .notAGeoPackage, .notPrepared, .unsupportedVersion, .corrupt, .failure: return nil
        }
    }

    /// The one error that is no refusal: what was asked for may have been done.
    static let inDoubt = ServiceError(
        code: ServiceError.noAnswerCode,
        message: "Whether it was done is not known: the database did not confirm it. Look before it is sent again.")

    /// What a client learns about an error that is not its own.
    static let internalFailure = ServiceError(
        code: 500, message: "The server could not complete the operation. Its log says why.")
}

extension StoreError {
    /// A file of the work folder can't be made: what the system says of that is not known here.
    static func noRoom() -> StoreError { StoreError(.full, "A file can't be made in the work folder.") }

    /// Does what writes files, and takes what goes wrong with them for what it nearly always is: no room.
    static func writing<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch {
            let codes: [CocoaError.Code] = [.fileNoSuchFile, .fileReadNoSuchFile, .fileWriteNoPermission]
            let isOurs = (error as? CocoaError).map { codes.contains($0.code) } ?? false
            throw StoreError(isOurs ? .failure : .full, "A file of the work folder can't be written: \(error).")
        }
    }
}
