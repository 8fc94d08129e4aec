import Synchronization

/// Counts what the server does, for `/metrics`.
final class ServerMetrics: Sendable {
    /// What requests are counted under. A fixed list: a client can't make it grow.
    enum Operation: String, Sendable, CaseIterable {
        case info, catalog, service, layer, feature, query, queryRelatedRecords, addFeatures, updateFeatures,
            deleteFeatures, applyEdits, evaluate, identify, find, legend, geocode, tile, export, wms, exportTiles
        case attachments, queryAttachments, editAttachments, uploads
        case replicas, synchronizeReplica, administration, page, health, metrics, token, portal, other
    }

    /// Upper bounds of the duration buckets in seconds.
    private static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

    private struct Counts {
        var requests = 0
        var errors = 0
        var bytesSent = 0
        var seconds = 0.0
        var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
    }

    private struct State {
        var counts = [Counts](repeating: Counts(), count: Operation.allCases.count)
        var inFlight = 0
        var brokenOff = 0
    }

    private let state = Mutex(State())

    func began() { state.withLock { $0.inFlight += 1 } }

    /// - Parameter isBrokenOff: the answer was not sent to its end.
    func ended(_ operation: Operation, isError: Bool, isBrokenOff: Bool, bytesSent: Int, duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let bucket = Self.bounds.firstIndex { seconds <= $0 }
        let index = Self.index(of: operation)
        state.withLock { state in
            state.inFlight -= 1
            if isBrokenOff { state.brokenOff += 1 }
            state.counts[index].requests += 1
            if isError { state.counts[index].errors += 1 }
            state.counts[index].bytesSent += bytesSent
            state.counts[index].seconds += seconds
            if let bucket { state.counts[index].buckets[bucket] += 1 }
        }
    }

    private static func index(of operation: Operation) -> Int {
        Operation.allCases.firstIndex(of: operation) ?? Operation.allCases.count - 1
    }

    /// The counts in Prometheus' text format.
    var text: String {
        let state = state.withLock { $0 }
        let counted = zip(Operation.allCases, state.counts).filter { $0.1.requests > 0 }
        var lines: [String] = []
        func family(_ name: String, _ type: String, _ help: String, _ value: (Counts) -> String) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"]
            lines += counted.map { "\(name){operation=\"\($0.0.rawValue)\"} \(value($0.1))" }
        }
        family("fieldwork_requests_total", "counter", "Requests answered.") { "\($0.requests)" }
        family("fieldwork_errors_total", "counter", "Requests answered with an error.") { "\($0.errors)" }
        family("fieldwork_sent_bytes_total", "counter", "Bytes of answers' bodies sent.") { "\($0.bytesSent)" }
        lines += Self.histogram(counted)
        lines += [
            "# HELP fieldwork_requests_in_flight Requests being answered.",
            "# TYPE fieldwork_requests_in_flight gauge",
            "fieldwork_requests_in_flight \(state.inFlight)",
            "# HELP fieldwork_answers_broken_off_total Answers that were not sent to their end.",
            "# TYPE fieldwork_answers_broken_off_total counter",
            "fieldwork_answers_broken_off_total \(state.brokenOff)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func histogram(_ counted: [(Operation, Counts)]) -> [String] {
        let name = "fieldwork_request_duration_seconds"
        var lines = ["# HELP \(name) Time from a request's head to its answer's end.", "# TYPE \(name) histogram"]
        for (operation, counts) in counted {
            let label = "operation=\"\(operation.rawValue)\""
            var cumulative = 0
            for (bound, count) in zip(bounds, counts.buckets) {
                cumulative += count
                lines.append("\(name)_bucket{\(label),le=\"\(bound)\"} \(cumulative)")
            }
            lines.append("\(name)_bucket{\(label),le=\"+Inf\"} \(counts.requests)")
            lines.append("\(name)_sum{\(label)} \(counts.seconds)")
            lines.append("\(name)_count{\(label)} \(counts.requests)")
        }
        return lines
    }
}
