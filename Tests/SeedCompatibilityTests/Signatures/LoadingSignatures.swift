import ArcGIS
import Foundation

/// The members of loading, jobs and errors that clients rely on, each with the type that they rely on. That it compiles is the test.
enum LoadingSignatures {
    static func loadStatus() {
        let _: [LoadStatus] = [.notLoaded, .loading, .loaded, .failed]
    }

    static func loadable() {
        let _: (any Loadable) -> LoadStatus = { $0.loadStatus }
        let _: (any Loadable) async throws -> Void = { (x) in try await x.load() }
        let _: (any Loadable) async throws -> Void = { (x) in try await x.retryLoad() }
    }

    static func arcGISError() {
        let _: (any ArcGISError) -> String = { $0.details }
    }

    static func geodatabaseError() {
        let _: (String) -> GeodatabaseError = GeodatabaseError.geometryOutsideReplicaExtent(details:)
    }

    static func mappingError() {
        let _: [(String) -> MappingError] = [
            MappingError.notLoaded(details:), MappingError.packagingNotComplete(details:),
        ]
    }

    static func featureFormError() {
        let _: [(String) -> FeatureFormError] = [
            FeatureFormError.fieldIsRequired(details:), FeatureFormError.nullNotAllowed(details:),
            FeatureFormError.notInCodedValueDomain(details:), FeatureFormError.incorrectValueType(details:),
            FeatureFormError.lessThanMinimumLength(details:), FeatureFormError.exceedsMaximumLength(details:),
            FeatureFormError.lessThanNumericMinimum(details:), FeatureFormError.exceedsNumericMaximum(details:),
            FeatureFormError.lessThanMinimumDateTime(details:), FeatureFormError.exceedsMaximumDateTime(details:),
        ]
    }

    static func jobProtocol() {
        let _: (any JobProtocol) -> Job.Status = { $0.status }
        let _: (any JobProtocol) -> Progress = { $0.progress }
        let _: (any JobProtocol) -> AnySequence<JobMessage> = { $0.messages }
        let _: (any JobProtocol) -> (any Error)? = { $0.error }
        let _: (any JobProtocol) -> String = { $0.serverJobID }
        let _: (any JobProtocol) -> Void = { (x) in x.start() }
        let _: (any JobProtocol) -> Void = { (x) in x.pause() }
        let _: (any JobProtocol) async -> Void = { (x) in await x.cancel() }
        let _: (any JobProtocol) async throws -> Void = { (x) in try await x.checkStatus() }
        let _: (any JobProtocol) -> Data = { (x) in x.toJSON() }
    }

    static func job() {
        let _: KeyPath<Job, Job.Status> = \.status
        let _: KeyPath<Job, Progress> = \.progress
        let _: KeyPath<Job, String> = \.serverJobID
        let _: (Job) -> () -> Void = Job.start
        let _: (Job) -> () -> Bool = Job.pause
        let _: (Job) -> () async throws -> Void = Job.checkStatus
        let _: (Job) -> () -> Data = Job.toJSON
        let _: (Data) throws -> Job? = Job.fromJSON(_:)
    }

    static func jobStatus() {
        let _: [Job.Status] = [.notStarted, .started, .paused, .succeeded, .failed, .canceling]
    }
}
