import Foundation

/// The jobs that clients have submitted to this process and that have not ended: no client may have most of the places, and what all
/// hold on the disk has a limit.
struct JobLoad {
    private var jobs: [UUID: (client: String, bytes: Int)] = [:]
    private var clients: [String: Int] = [:]
    private var bytes = 0

    /// Counts a job.
    /// - Returns: false when there is no place for it: nothing is counted then.
    mutating func begin(_ job: ServiceJob) -> Bool {
        let size = job.parameters.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        let ofClient = clients[job.client] ?? 0
        guard jobs[job.id] == nil, bytes + size <= Limits.jobBytesAtOnce,
            job.client.isEmpty || ofClient < Limits.jobsPerClient
        else { return false }
        jobs[job.id] = (job.client, size)
        clients[job.client] = ofClient + 1
        bytes += size
        return true
    }

    mutating func end(_ id: UUID) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        bytes -= job.bytes
        let rest = (clients[job.client] ?? 0) - 1
        clients[job.client] = rest > 0 ? rest : nil
    }
}
