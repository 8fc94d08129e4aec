import FieldworkGeometry
public import Foundation

extension OfflineMapTask {
    /// The areas of the map that its author prepared, in the order of their titles. Load each to know more of it.
    ///
    /// ```swift
    /// let task = OfflineMapTask(portalItem: item)
    /// guard let area = try await task.preplannedMapAreas.first else { return }
    /// let parameters = try await task.makeDefaultDownloadPreplannedOfflineMapParameters(preplannedMapArea: area)
    /// let job = task.makeDownloadPreplannedOfflineMapJob(parameters: parameters, downloadDirectory: folder)
    /// job.start()
    /// let offlineMap = try await job.output.offlineMap
    /// ```
    /// - Throws: `ServiceError`; `CommonError.illegalState` for a map that is in no portal.
    public var preplannedMapAreas: [PreplannedMapArea] {
        get async throws {
            guard let portalItem else {
                throw CommonError.illegalState(details: "The map is in no portal: it has no prepared areas.")
            }
            return try await portalItem.relatedItems(by: .mapToArea).filter { $0.kind == .mapArea }
                .sorted { ($0.title, $0.id?.rawValue ?? "") < ($1.title, $1.id?.rawValue ?? "") }
                .map(PreplannedMapArea.init)
        }
    }

    /// Parameters that bring a whole area and keep it in step with its services.
    /// - Throws: what ``load()`` and `PreplannedMapArea.load()` throw.
    public func makeDefaultDownloadPreplannedOfflineMapParameters(
        preplannedMapArea: PreplannedMapArea
    ) async throws -> DownloadPreplannedOfflineMapParameters {
        try await load()
        try await preplannedMapArea.load()
        return DownloadPreplannedOfflineMapParameters(preplannedMapArea: preplannedMapArea)
    }

    /// A job that downloads an area; it is not started.
    /// - Parameters:
    ///   - parameters: as ``makeDefaultDownloadPreplannedOfflineMapParameters(preplannedMapArea:)`` gives them.
    ///   - downloadDirectory: the folder of the map package. It must be empty or not there yet.
    public func makeDownloadPreplannedOfflineMapJob(
        parameters: DownloadPreplannedOfflineMapParameters, downloadDirectory: URL
    ) -> DownloadPreplannedOfflineMapJob {
        DownloadPreplannedOfflineMapJob(task: self, parameters: parameters, folder: downloadDirectory)
    }
}
