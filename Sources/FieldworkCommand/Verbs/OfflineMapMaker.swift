import Fieldwork
import FieldworkTiles
import Foundation

/// Takes a whole map offline: `fieldwork offline create MAP --area …`.
struct OfflineMapMaker: Sendable {
    let map: String
    let basemap: String?
    /// In the plane of web maps.
    let area: Envelope
    let target: URL
    /// Whether the package is synchronised later; one that is not costs its services nothing.
    let updates: Bool

    func make() async throws -> String {
        let job: GenerateOfflineMapJob
        if let begun = try begun() { job = begun } else { job = try await newJob() }
        let result: GenerateOfflineMapResult
        do {
            result = try await JobProgress.run(job, title: "Taking offline", done: "Taken offline")
        } catch let failure as CommandFailure where failure.code == .interrupted {
            throw CommandFailure(.interrupted, "Interrupted. The same command again continues from here.")
        }
        defer { result.mobileMapPackage.close() }
        JobTarget(target).forgetState()
        for message in job.messages where message.severity == .warning { Terminal.error(message.message) }
        var count = 0
        for table in result.mobileMapPackage.geodatabases.flatMap(\.featureTables) {
            count += try await table.queryFeatureCount(using: QueryParameters())
        }
        return "Wrote \(target.path) with \(count) features, \((result.mobileMapPackage.size + 1_023) / 1_024) KB"
    }

    /// The job of the same command that was broken off.
    private func begun() throws -> GenerateOfflineMapJob? {
        guard let state = try? Data(contentsOf: JobTarget(target).stateURL) else { return nil }
        return try Job.fromJSON(state) as? GenerateOfflineMapJob
    }

    private func newJob() async throws -> GenerateOfflineMapJob {
        let online = try await MapArgument.map(map, basemap: basemap)
        let task = OfflineMapTask(onlineMap: online)
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(areaOfInterest: area)
        if parameters.itemInfo?.title.isEmpty != false {
            parameters.itemInfo?.title = target.deletingPathExtension().lastPathComponent
        }
        if !updates { parameters.updateMode = .noUpdates }
        let job = task.makeGenerateOfflineMapJob(parameters: parameters, downloadDirectory: target)
        try job.toJSON().write(to: JobTarget(target).stateURL, options: .atomic)
        return job
    }
}
