import Fieldwork
import Foundation

/// The downloads of areas that are under way on this device. One that was broken off by the end of the process goes on at
/// the next start.
actor AreaDownloads {
    enum Phase: Sendable, Hashable {
        case running, paused, failed(String), done
    }

    struct Report: Sendable, Hashable {
        var phase: Phase
        /// Of the whole work.
        var hundredths: Int
        /// How much of the file that comes now has arrived; nil while that is not what it does.
        var arrived: GenerateGeodatabaseJob.Arrival?
        /// How long that file still takes, in seconds; nil while that can't be told.
        var secondsLeft: Double?
        /// What it has done so far, and what it does now.
        var steps: [String]
    }

    private let shelf: AreaShelf
    private var downloads: [UUID: AreaDownload] = [:]
    private var paces: [UUID: DownloadPace] = [:]
    private var watchers: [UUID: Task<Void, Never>] = [:]
    private var listener: (@Sendable (OfflineArea, Report) async -> Void)?

    init(shelf: AreaShelf) { self.shelf = shelf }

    /// Called with each step of a download, and at its end.
    func listen(_ listener: @escaping @Sendable (OfflineArea, Report) async -> Void) { self.listener = listener }

    /// Goes on with what an earlier process had begun.
    func goOn() {
        for area in shelf.all() where !shelf.isHere(area.id) && downloads[area.id] == nil {
            if let download = AreaDownload(of: area, shelf) { run(download, of: area) }
        }
    }

    /// Begins a download.
    /// - Parameters:
    ///   - webMap: how the area is shown; nil for one of a service, or one that another is extended by.
    ///   - prepared: whose files are taken, as far as they are ready; nil where the services make them for this device.
    func start(_ area: OfflineArea, webMap: Data? = nil, prepared: PreplannedMapArea? = nil) async throws {
        var jobs: [GenerateGeodatabaseJob] = []
        for file in shelf.files(for: area) {
            let task = GeodatabaseSyncTask(url: file.service)
            let own = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area.extent)
            let ready = try? await prepared?.makeGenerateGeodatabaseParameters(of: file.service)
            // The app's areas are boxes: within one, nothing may be missing that a polygon leaves out.
            let parameters = ready?.extent is Envelope ? ready ?? own : own
            parameters.attachmentSources = shelf.overlappingFiles(of: file.service, with: area)
            guard task.featureServiceInfo?.isSyncEnabled == true else {
                throw CollectError(
                    .notAllowed,
                    "\(area.mapTitle) can't be taken offline: \(file.title) doesn't have the capability Sync.",
                    nextStep: "Ask the owner of the service to switch it on.")
            }
            jobs.append(task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file.url))
        }
        try shelf.put(area, jobs: jobs.map { $0.toJSON() }, webMap: webMap)
        if let download = AreaDownload(of: area, shelf) { run(download, of: area) }
    }

    private func run(_ download: AreaDownload, of area: OfflineArea) {
        downloads[area.id] = download
        download.current.start()
        watch(download, of: area)
    }

    /// nil for an area whose download isn't known: it is done, or its folder is damaged.
    func report(_ id: UUID) -> Report? {
        if shelf.isHere(id) { return Report(phase: .done, hundredths: 100, steps: []) }
        return downloads[id].map { report($0, of: id) }
    }

    private func report(_ download: AreaDownload, of id: UUID) -> Report {
        let job = download.current
        let phase: Phase =
            switch job.status {
            case .succeeded: download.isWhole ? .done : .running
            case .failed, .canceling: .failed((job.error as? any ArcGISError)?.details ?? "The transfer stopped.")
            case .paused, .notStarted: .paused
            case .started: .running
            }
        let arrived = job.arrived
        return Report(
            phase: phase, hundredths: download.hundredths, arrived: arrived,
            secondsLeft: arrived.flatMap { paces[id]?.secondsLeft(of: $0) },
            steps: download.steps.suffix(Limits.jobSteps))
    }

    func pause(_ id: UUID) async {
        downloads[id]?.current.pause()
        await tell(id)
    }

    /// Goes on with a download that was paused or that failed.
    func resume(_ id: UUID) async {
        guard let download = downloads[id], let area = shelf.area(id) else { return }
        run(download, of: area)
        await tell(id)
    }

    /// Ends a download for good: nothing of it stays.
    func cancel(_ id: UUID) async throws {
        guard let download = downloads.removeValue(forKey: id) else { return }
        watchers.removeValue(forKey: id)?.cancel()
        paces[id] = nil
        await download.current.cancel()
        // What has arrived has a replica each at its service.
        try? await OfflineWork.unregister(shelf.ownFiles(id))
        try shelf.remove(id)
    }

    /// The area is taken away; its download was done.
    func forget(_ id: UUID) {
        downloads[id] = nil
        watchers.removeValue(forKey: id)?.cancel()
    }

    /// Stops all work; the next start goes on with it.
    func stop() {
        for watcher in watchers.values { watcher.cancel() }
        watchers = [:]
        for download in downloads.values { download.current.pause() }
    }

    private func watch(_ download: AreaDownload, of area: OfflineArea) {
        watchers[area.id]?.cancel()
        // The time of a pause is no time of the line's.
        paces[area.id] = nil
        watchers[area.id] = Task { [weak self] in
            var last: Report?
            while !Task.isCancelled, let now = await self?.look(area.id) {
                if now != last { await self?.listener?(area, now) }
                last = now
                if now.phase != .running { return }
                try? await Task.sleep(for: .milliseconds(Limits.jobLookMilliseconds))
            }
        }
    }

    /// Sees how far a download is, and how fast it goes; begins with the next file when one is whole. nil for one that was cancelled.
    private func look(_ id: UUID) -> Report? {
        guard let download = downloads[id]?.goingOn() else { return nil }
        downloads[id] = download
        if let arrived = download.current.arrived {
            paces[id, default: DownloadPace()].note(arrived.there, at: .now)
        } else {
            paces[id] = nil
        }
        return report(download, of: id)
    }

    private func tell(_ id: UUID) async {
        guard let report = report(id), let area = shelf.area(id) else { return }
        await listener?(area, report)
    }
}
