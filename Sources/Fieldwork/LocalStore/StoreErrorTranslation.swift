import FieldworkStore

/// Runs work on this device's files, and reports what goes wrong there as an error that clients know.
func onDevice<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as StoreError {
        throw error.asSDKError
    }
}

extension StoreError {
    fileprivate var asSDKError: any Error {
        switch code {
        case .invalidQuery, .overLimit: CommonError.invalidArgument(details: message)
        case .closed: GeodatabaseError.databaseClosed(details: message)
        case .layerNotFound, .serviceNotFound: CommonError.notFound(details: message)
        case .serviceExists, .invalidDefinition: CommonError.illegalState(details: message)
        case .notAGeoPackage, .notPrepared, .unsupportedVersion, .busy, .corrupt, .full, .failure, .turnPassed,
            .replaced, .inDoubt:
            CommonError.io(details: "The files of this device: \(message)")
        }
    }
}
