import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// `fieldwork status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how a server does: its services, requests, replicas and conflicts.",
        discussion: """
            Reads /ready and /metrics. From another machine than the server's these need the key of serve --metrics-key-file. The
            exit code is 69 when the server does not answer or a service of it can't be read.

            A table for Grafana with the same figures, grafana-dashboard.json, comes with Fieldwork.

            EXAMPLES
              fieldwork status
              fieldwork status http://127.0.0.1:6080 --format json
              fieldwork status https://gis.example --key-file metrics.secret
            """)

    @Argument(help: "The address of the server.")
    var address = "http://127.0.0.1:8080"

    @Option(help: ArgumentHelp("A file with the key that opens /metrics.", valueName: "file"))
    var keyFile: String?

    @OptionGroup var certificates: CertificateOption
    @OptionGroup var format: ListFormat

    func run() async throws {
        try await runVerb {
            try certificates.use()
            guard let root = URL(string: address), ["http", "https"].contains(root.scheme), root.host != nil else {
                throw CommandFailure(.noInput, "\(address) is not the address of a server.")
            }
            let status = ServerStatus(metrics: try await metrics(of: root))
            try format.print(status.json, status.lines)
            guard status.isReady else {
                throw CommandFailure(
                    .unavailable,
                    "\(Counted.text(status.unreadable, "service")) can't be read. The server's log and fieldwork doctor say why."
                )
            }
        }
    }

    private func metrics(of root: URL) async throws -> String {
        let key = try keyFile.map { path in
            try String(contentsOfFile: (path as NSString).expandingTildeInPath, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let data: [UInt8]
        do {
            data = try await ArcGISEnvironment.urlSession.post(
                key.map { [(name: "token", value: $0)] } ?? [], to: root.appending(path: "metrics"))
        } catch {
            throw CommandFailure(.unavailable, "\(address) gives no metrics: \(CommandFailure(error).message)")
        }
        let text = String(decoding: data, as: UTF8.self)
        guard text.hasPrefix("# HELP fieldwork_") else {
            throw CommandFailure(
                .unavailable, "\(address) gives no metrics: it is no server of Fieldwork, or wants a key (--key-file).")
        }
        return text
    }
}

/// The figures of a server, out of its metrics.
struct ServerStatus {
    private struct Sample {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private let samples: [Sample]

    init(metrics: String) {
        samples = metrics.split(separator: "\n").compactMap { line in
            guard !line.hasPrefix("#"), let gap = line.lastIndex(of: " "),
                let value = Double(line[line.index(after: gap)...])
            else { return nil }
            let head = line[..<gap]
            let name = head.prefix { $0 != "{" }
            var labels: [String: String] = [:]
            for part in head.dropFirst(name.count).dropFirst().dropLast().split(separator: ",") {
                let pair = part.split(separator: "=", maxSplits: 1)
                if pair.count == 2 { labels[String(pair[0])] = String(pair[1].dropFirst().dropLast()) }
            }
            return Sample(name: String(name), labels: labels, value: value)
        }
    }

    private func value(_ name: String, service: String? = nil) -> Double? {
        samples.first { $0.name == name && (service == nil || $0.labels["service"] == service) }?.value
    }

    private func sum(_ name: String) -> Double { samples.filter { $0.name == name }.map(\.value).reduce(0, +) }

    var isReady: Bool { value("fieldwork_ready") != 0 }
    var unreadable: Int { Int(value("fieldwork_services_unreadable") ?? 0) }

    private var services: [String] {
        samples.filter { $0.name == "fieldwork_features" }.compactMap { $0.labels["service"] }
    }

    private static let totals = [
        ("requests", "fieldwork_requests_total"), ("errors", "fieldwork_errors_total"),
        ("inFlight", "fieldwork_requests_in_flight"), ("jobs", "fieldwork_jobs"),
        ("tileCacheBytes", "fieldwork_tile_cache_bytes"), ("memoryBytes", "fieldwork_own_memory_bytes"),
        ("openFiles", "process_open_fds"),
    ]
    private static let figures = [
        ("features", "fieldwork_features"), ("bytes", "fieldwork_service_bytes"), ("replicas", "fieldwork_replicas"),
        ("syncLagSeconds", "fieldwork_sync_lag_seconds"), ("openConflicts", "fieldwork_conflicts_open"),
        ("generation", "fieldwork_generation"),
    ]

    var json: JSONValue {
        var object = JSONObject()
        object.append("ready", .bool(isReady))
        object.append("unreadable", JSONValue(unreadable))
        for (name, metric) in Self.totals { object.append(name, JSONValue(Int(sum(metric)))) }
        object.append(
            "services",
            .array(
                services.map { service in
                    var entry = JSONObject()
                    entry.append("name", .string(service))
                    for (name, metric) in Self.figures {
                        if let value = value(metric, service: service) { entry.append(name, JSONValue(Int(value))) }
                    }
                    return .object(entry)
                }))
        return .object(object)
    }

    var lines: [String] {
        let state = isReady ? "ready" : "failing: \(Counted.text(unreadable, "service")) can't be read"
        let head = [
            "\(state) · \(Counted.text(Int(value("fieldwork_services") ?? 0), "service")) · \(Int(sum("fieldwork_requests_total"))) requests, \(Int(sum("fieldwork_errors_total"))) with an error, \(Int(sum("fieldwork_requests_in_flight"))) under way",
            "memory \(Self.size(sum("fieldwork_own_memory_bytes"))) · tiles in memory \(Self.size(sum("fieldwork_tile_cache_bytes"))) · \(Counted.text(Int(sum("fieldwork_jobs")), "job")) · \(Int(sum("process_open_fds"))) files and connections open",
        ]
        let rows = services.map { service in
            [
                service, "\(Int(value("fieldwork_features", service: service) ?? 0))",
                value("fieldwork_service_bytes", service: service).map(Self.size) ?? "-",
                "\(Int(value("fieldwork_replicas", service: service) ?? 0))",
                value("fieldwork_sync_lag_seconds", service: service).map(Self.time) ?? "-",
                "\(Int(value("fieldwork_conflicts_open", service: service) ?? 0))",
            ]
        }
        let titles = ["service", "features", "size", "replicas", "longest without sync", "open conflicts"]
        return head + (rows.isEmpty ? [] : TextColumns.lines(rows, titles: titles))
    }

    private static func size(_ bytes: Double) -> String {
        switch bytes {
        case ..<1_000_000: String(format: "%.0f KB", bytes / 1_000)
        case ..<1_000_000_000: String(format: "%.1f MB", bytes / 1_000_000)
        default: String(format: "%.2f GB", bytes / 1_000_000_000)
        }
    }

    private static func time(_ seconds: Double) -> String {
        switch seconds {
        case ..<120: String(format: "%.0f s", seconds)
        case ..<7_200: String(format: "%.0f min", seconds / 60)
        case ..<172_800: String(format: "%.0f h", seconds / 3_600)
        default: String(format: "%.0f days", seconds / 86_400)
        }
    }
}
