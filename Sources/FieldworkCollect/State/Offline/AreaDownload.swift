import Fieldwork
import Foundation

/// The download of an area: a file a service, one after the other. The area is on the device when the last one is whole.
struct AreaDownload: Sendable {
    /// The jobs of the files that weren't here when it began or went on, with the names of their services.
    private let jobs: [(title: String, job: GenerateGeodatabaseJob)]
    private let fileCount: Int
    /// The job of the file that comes now, or that came last.
    private(set) var current: GenerateGeodatabaseJob

    /// A download as it was begun, of the files that aren't here yet; nil where nothing is to come, or its folder is damaged.
    init?(of area: OfflineArea, _ shelf: AreaShelf) {
        var jobs: [(String, GenerateGeodatabaseJob)] = []
        let files = shelf.ownFiles(area.id)
        for (index, file) in files.enumerated() where !file.isHere {
            guard let state = shelf.job(area.id, file: index),
                let job = try? Job.fromJSON(state) as? GenerateGeodatabaseJob
            else { return nil }
            jobs.append((file.title, job))
        }
        guard let first = jobs.first?.1 else { return nil }
        self.jobs = jobs
        fileCount = files.count
        current = first
    }

    /// The download with the next file begun, where the one before is whole.
    func goingOn() -> AreaDownload {
        guard current.status == .succeeded, let next = jobs.first(where: { $0.job.status != .succeeded }) else {
            return self
        }
        next.job.start()
        var download = self
        download.current = next.job
        return download
    }

    /// Whether all files have arrived.
    var isWhole: Bool { jobs.allSatisfy { $0.job.status == .succeeded } }

    /// Of the whole work.
    var hundredths: Int {
        let before = 100 * (fileCount - jobs.count)
        return (before + jobs.reduce(0) { $0 + Int($1.job.progress.completedUnitCount) }) / max(1, fileCount)
    }

    /// What it has done so far, and what it does now.
    var steps: [String] {
        var steps: [String] = []
        for (title, job) in jobs {
            var texts = job.messages.map { message in
                // The service tells its state in words of the protocol.
                message.source == .service ? "The service makes the area's file." : message.message
            }
            // The area is here when the files of all services are.
            if fileCount > 1, job.status == .succeeded { texts = texts.dropLast() + ["All is here."] }
            for text in texts {
                let step = fileCount == 1 ? text : "\(title): \(text)"
                // A job that was broken off and goes on says the same again.
                if steps.last != step { steps.append(step) }
            }
        }
        return steps
    }
}
