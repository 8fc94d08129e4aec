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
        /// How much of the area's file has arrived; nil while that is not what it does.
        var arrived: GenerateGeodatabaseJob.Arrival?
        /// How long the file still takes, in seconds; nil while that can't be told.
        var secondsLeft: Double?
        /// What it has done so far, and what it does now.
        var steps: [String]
    }

    private let shelf: AreaShelf
    private var jobs: [UUID: GenerateGeodatabaseJob] = [:]
    private var paces: [UUID: DownloadPace] = [:]
    private var watchers: [UUID: Task<Void, Never>] = [:]
    private var listener: (@Sendable (OfflineArea, Report) async -> Void)?

    init(shelf: AreaShelf) { self.shelf = shelf }

    /// Called with each step of a download, and at its end.
    func listen(_ listener: @escaping @Sendable (OfflineArea, Report) async -> Void) { self.listener = listener }

    /// Goes on with what an earlier process had begun.
    func goOn() {
        for area in shelf.all() where !shelf.isHere(area.id) && jobs[area.id] == nil {
            guard let state = shelf.job(area.id), let job = try? Job.fromJSON(state) as? GenerateGeodatabaseJob else {
                continue
            }
            run(job, of: area)
        }
    }

    /// Begins a download.
    /// - Parameter webMap: how the area is shown; nil for one of a service, or one that another is extended by.
    func start(_ area: OfflineArea, webMap: Data? = nil) async throws {
        let task = GeodatabaseSyncTask(url: area.service)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area.extent)
        guard task.featureServiceInfo?.isSyncEnabled == true else {
            throw CollectError(
                .notAllowed, "\(area.mapTitle) can't be taken offline: its service doesn't have the capability Sync.",
                nextStep: "Ask the owner of the service to switch it on.")
        }
        let job = task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: shelf.file(area.id))
        try shelf.put(area, job: job.toJSON(), webMap: webMap)
        run(job, of: area)
    }

    private func run(_ job: GenerateGeodatabaseJob, of area: OfflineArea) {
        jobs[area.id] = job
        job.start()
        watch(job, of: area)
    }

    /// nil for an area whose download isn't known: it is done, or its folder is damaged.
    func report(_ id: UUID) -> Report? {
        if shelf.isHere(id) { return Report(phase: .done, hundredths: 100, steps: []) }
        return jobs[id].map { report($0, of: id) }
    }

    private func report(_ job: GenerateGeodatabaseJob, of id: UUID) -> Report {
        let phase: Phase =
            switch job.status {
            case .succeeded: .done
            case .failed, .canceling: .failed((job.error as? any ArcGISError)?.details ?? "The transfer stopped.")
            case .paused, .notStarted: .paused
            case .started: .running
            }
        var steps: [String] = []
        for message in job.messages {
            // The service tells its state in words of the protocol.
            let step = message.source == .service ? "The service makes the area's file." : message.message
            // A job that was broken off and goes on says the same again.
            if steps.last != step { steps.append(step) }
        }
        let arrived = job.arrived
        return Report(
            phase: phase, hundredths: Int(job.progress.completedUnitCount), arrived: arrived,
            secondsLeft: arrived.flatMap { paces[id]?.secondsLeft(of: $0) }, steps: steps.suffix(Limits.jobSteps))
    }

    func pause(_ id: UUID) async {
        jobs[id]?.pause()
        await tell(id)
    }

    /// Goes on with a download that was paused or that failed.
    func resume(_ id: UUID) async {
        guard let job = jobs[id], let area = shelf.area(id) else { return }
        job.start()
        watch(job, of: area)
        await tell(id)
    }

    /// Ends a download for good: nothing of it stays.
    func cancel(_ id: UUID) async throws {
        guard let job = jobs.removeValue(forKey: id) else { return }
        watchers.removeValue(forKey: id)?.cancel()
        paces[id] = nil
        await job.cancel()
        try shelf.remove(id)
    }

    /// The area is taken away; its download was done.
    func forget(_ id: UUID) {
        jobs[id] = nil
        watchers.removeValue(forKey: id)?.cancel()
    }

    /// Stops all work; the next start goes on with it.
    func stop() {
        for watcher in watchers.values { watcher.cancel() }
        watchers = [:]
        for job in jobs.values { job.pause() }
    }

    private func watch(_ job: GenerateGeodatabaseJob, of area: OfflineArea) {
        watchers[area.id]?.cancel()
        // The time of a pause is no time of the line's.
        paces[area.id] = nil
        watchers[area.id] = Task { [weak self] in
            var last: Report?
            while !Task.isCancelled, let now = await self?.look(job, of: area.id) {
                if now != last { await self?.listener?(area, now) }
                last = now
                if now.phase != .running { return }
                try? await Task.sleep(for: .milliseconds(Limits.jobLookMilliseconds))
            }
        }
    }

    /// Sees how far a download is, and how fast it goes.
    private func look(_ job: GenerateGeodatabaseJob, of id: UUID) -> Report {
        if let arrived = job.arrived {
            paces[id, default: DownloadPace()].note(arrived.there, at: .now)
        } else {
            paces[id] = nil
        }
        return report(job, of: id)
    }

    private func tell(_ id: UUID) async {
        guard let report = report(id), let area = shelf.area(id) else { return }
        await listener?(area, report)
    }
}
