import ArcGIS
import Foundation
import TestSupport
import Testing

/// What clients use of loading and errors, in the types that they expect. Compiling is half of the test.
@Suite("The names of loading and errors", .fewAtATime)
struct LoadingSurface {
    /// A client's own object that loads.
    private final class Own: Loadable {
        let loadStatus = LoadStatus.notLoaded
        var loadError: (any Error)? { nil }
        func load() async throws {}
        func retryLoad() async throws {}
        func cancelLoad() {}
    }

    @Test("A failed load keeps its error until it is tried again")
    func loading() async throws {
        let nowhere = try #require(URL(string: "http://127.0.0.1:9/arcgis/rest/services/None/FeatureServer/0"))
        let table = ServiceFeatureTable(url: nowhere)
        let tables: [FeatureTable] = [table]
        await tables.load()
        var seen: LoadStatus?
        for await status in table.$loadStatus {
            seen = status
            break
        }
        #expect(seen == .failed)
        let error: (any Error)? = table.loadError
        #expect(error is ServiceError)
        await #expect(throws: ServiceError.self) { try await table.retryLoad() }
        table.cancelLoad()
        let all: [LoadStatus] = [.notLoaded, .loading, .loaded, .failed]
        #expect(all.contains(Own().loadStatus))
    }

    @Test("Errors are matched without their payload and say what happened")
    func errors() {
        func name(_ error: any Error) -> String {
            do {
                throw error
            } catch GeodatabaseError.geometryOutsideReplicaExtent {
                return "outside"
            } catch MappingError.notLoaded, MappingError.packagingNotComplete {
                return "mapping"
            } catch FeatureFormError.fieldIsRequired, FeatureFormError.nullNotAllowed,
                FeatureFormError.notInCodedValueDomain, FeatureFormError.incorrectValueType
            {
                return "value"
            } catch FeatureFormError.lessThanMinimumLength, FeatureFormError.exceedsMaximumLength,
                FeatureFormError.lessThanNumericMinimum, FeatureFormError.exceedsNumericMaximum,
                FeatureFormError.lessThanMinimumDateTime, FeatureFormError.exceedsMaximumDateTime
            {
                return "limit"
            } catch let error as any ArcGISError {
                return error.details
            } catch {
                return "unknown"
            }
        }
        #expect(name(GeodatabaseError.geometryOutsideReplicaExtent(details: "x")) == "outside")
        #expect(name(MappingError.notLoaded(details: "x")) == "mapping")
        #expect(name(ArcGIS.FeatureFormError.fieldIsRequired(details: "x")) == "value")
        #expect(name(FeatureFormError.exceedsMaximumLength(details: "x")) == "limit")
        #expect(name(CommonError.invalidArgument(details: "said")) == "said")
        #expect(MappingError.notLoaded(details: "a") == MappingError.notLoaded(details: "a"))
        let error: any Error = ServiceError.serverFailure(details: "code 500")
        #expect((error as? any LocalizedError)?.errorDescription == "code 500")
        #expect(error.localizedDescription == "code 500")
        let cancelled: any Error = CancellationError()
        #expect(!(cancelled is any ArcGISError))
    }

    /// Jobs as clients hold them.
    private func follow<J: JobProtocol>(_ job: J) async throws -> (J.Output, Result<J.Output, any Error>) {
        let progress: Progress = job.progress
        _ = progress.fractionCompleted
        let status: Job.Status = job.status
        let ends: [Job.Status] = [.notStarted, .started, .paused, .succeeded, .failed, .canceling]
        _ = (ends.contains(status), job.error, job.serverJobID, Array(job.messages).map(\.message))
        let state: Data = job.toJSON()
        _ = try? Job.fromJSON(state) as? any JobProtocol
        job.start()
        try await job.checkStatus()
        _ = job.pause()
        _ = await job.cancel()
        return (try await job.output, await job.result)
    }

    @Test("A job is a Job, and follows the protocol of jobs")
    func jobs() throws {
        let folder = FileManager.default.temporaryDirectory
        let service = try #require(URL(string: "http://127.0.0.1:9/arcgis/rest/services/None/FeatureServer"))
        let job = GeodatabaseSyncTask(url: service).makeGenerateGeodatabaseJob(
            parameters: GenerateGeodatabaseParameters(), downloadFileURL: folder.appending(path: "none.geodatabase"))
        let base: Job = job
        let follower: (GenerateGeodatabaseJob) async throws -> (Geodatabase, Result<Geodatabase, any Error>) = follow
        _ = follower
        #expect(base.status == .notStarted && base === job && base.serverJobID.isEmpty)
        #expect(job.progress.fractionCompleted == 0)
    }
}
