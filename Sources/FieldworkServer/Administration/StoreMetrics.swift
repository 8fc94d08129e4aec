import FieldworkREST
import FieldworkStore
import Foundation

/// The sizes and states of the services, for `/metrics`, counted anew now and then.
actor StoreMetrics {
    private struct Family {
        var name: String
        var help: String
        var lines: [String] = []
    }

    private let store: any FeatureStore
    /// The folder of the services; nil in a database.
    private let folder: URL?
    private let readiness: Readiness
    private let lifetime: Duration
    private var last: (text: String, at: ContinuousClock.Instant)?

    init(
        store: any FeatureStore, folder: URL?, readiness: Readiness,
        lifetime: Duration = .seconds(Limits.storeMetricsSeconds)
    ) {
        self.store = store
        self.folder = store is GeoPackageStore ? folder : nil
        self.readiness = readiness
        self.lifetime = lifetime
    }

    /// In Prometheus' text format.
    func text() async -> String {
        if let last, last.at.duration(to: .now) < lifetime { return last.text }
        let text = await count()
        last = (text, .now)
        return text
    }

    private func count() async -> String {
        let finding = await readiness.finding()
        var families = [
            Family(
                name: "fieldwork_ready", help: "Whether every service can be read.",
                lines: [" \(finding.isReady ? 1 : 0)"]),
            Family(name: "fieldwork_services", help: "Services that are published.", lines: [" \(finding.services)"]),
            Family(
                name: "fieldwork_services_unreadable", help: "Services that can't be read.",
                lines: [" \(finding.unreadable.count)"]),
        ]
        var bytes = Family(name: "fieldwork_service_bytes", help: "Bytes of a service's file and its log.")
        var features = Family(name: "fieldwork_features", help: "Features of a service.")
        var generations = Family(
            name: "fieldwork_generation", help: "Edits that a service has had: the last generation.")
        var replicas = Family(name: "fieldwork_replicas", help: "Replicas that synchronise with a service.")
        var lag = Family(
            name: "fieldwork_sync_lag_seconds",
            help: "Seconds since that replica synchronised that has not for the longest.")
        var conflicts = Family(
            name: "fieldwork_conflicts_open",
            help: "Conflicts that wait for somebody, at most \(Limits.countedConflicts).")
        let names = (try? await store.serviceNames()) ?? []
        for name in names.prefix(Limits.meteredServices) where !finding.unreadable.contains(name.path) {
            let label = "{service=\"\(Self.escaped(name.path))\"} "
            if let size = size(of: name) { bytes.lines.append(label + "\(size)") }
            // What fails meanwhile is missing from the answer: readiness tells of it.
            if let count = try? await featureCount(of: name) { features.lines.append(label + "\(count)") }
            if let generation = try? await store.generation(of: name) {
                generations.lines.append(label + "\(generation)")
            }
            guard let store = store as? any ReplicaStore, let all = try? await store.replicas(of: name) else {
                continue
            }
            let live = all.filter { $0.state == .live }
            replicas.lines.append(label + "\(live.count)")
            if let oldest = live.map(\.lastSync).min() {
                lag.lines.append(label + "\(max(0, Int(Date().timeIntervalSince(oldest))))")
            }
            if let open = try? await store.conflicts(in: [.open], of: name, limit: Limits.countedConflicts) {
                conflicts.lines.append(label + "\(open.count)")
            }
        }
        families += [bytes, features, generations, replicas, lag, conflicts]
        families += Self.process()
        return families.filter { !$0.lines.isEmpty }.flatMap { family in
            ["# HELP \(family.name) \(family.help)", "# TYPE \(family.name) gauge"]
                + family.lines.map { family.name + $0 }
        }.joined(separator: "\n") + "\n"
    }

    private func featureCount(of name: ServiceName) async throws -> Int {
        var count = 0
        for layer in try await store.service(name).layers {
            count += try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: layer.id))
        }
        return count
    }

    private func size(of name: ServiceName) -> Int? {
        guard let folder, let file = try? GeoPackageStore.place(of: name, in: folder).resolvingSymlinksInPath() else {
            return nil
        }
        let sizes = ["", "-wal"].compactMap { suffix in
            try? FileManager.default.attributesOfItem(atPath: file.path + suffix)[.size] as? Int
        }
        return sizes.isEmpty ? nil : sizes.reduce(0, +)
    }

    /// What the system says of this process.
    private static func process() -> [Family] {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return [] }
        func bytes(_ name: String) -> Int? {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
        }
        guard let resident = bytes("VmRSS:"), let own = bytes("RssAnon:") else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return [
            Family(
                name: "process_resident_memory_bytes",
                help:
                    "Memory of the process, with the parts of files that it has mapped, each as often as it is mapped.",
                lines: [" \(resident)"]),
            Family(
                name: "fieldwork_own_memory_bytes",
                help: "Memory of the process without files: what the system can't take back when it needs it.",
                lines: [" \(own)"]),
            Family(name: "process_open_fds", help: "Open files and connections.", lines: [" \(files)"]),
        ]
    }

    /// A label's value in Prometheus' text format.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
