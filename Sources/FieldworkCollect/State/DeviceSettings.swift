import Foundation
import Synchronization

/// What this device remembers between starts: the open map, where it looked, which layers are hidden.
final class DeviceSettings: Sendable {
    /// What the map shows: its middle and edges in degrees, the level of the map library.
    struct View: Sendable, Codable, Hashable {
        var lon: Double
        var lat: Double
        var zoom: Double
        var west: Double
        var south: Double
        var east: Double
        var north: Double
    }

    private struct Content: Codable {
        var service: String?
        var views: [String: View] = [:]
        var hidden: [String: Set<Int>] = [:]
        var kinds: [String: String] = [:]
        /// Maps in which every edit belongs to a transaction; absent in what older versions wrote.
        var transactions: Set<String>?
    }

    private let file: URL
    private let content: Mutex<Content>

    init(directory: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        file = directory.appendingPathComponent("settings.json")
        let stored = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Content.self, from: $0) }
        content = Mutex(stored ?? Content())
    }

    var service: String? {
        get { content.withLock { $0.service } }
        set { change { $0.service = newValue } }
    }

    func view(of service: String) -> View? { content.withLock { $0.views[service] } }
    func setView(_ view: View, of service: String) { change { $0.views[service] = view } }
    /// nil where nothing was chosen yet.
    func hidden(of service: String) -> Set<Int>? { content.withLock { $0.hidden[service] } }
    func setHidden(_ layers: Set<Int>, of service: String) { change { $0.hidden[service] = layers } }
    /// The kind of feature that was created last, for the first button of the next call-out.
    func kind(of service: String) -> String? { content.withLock { $0.kinds[service] } }
    func setKind(_ kind: String, of service: String) { change { $0.kinds[service] = kind } }

    func requiresTransaction(of service: String) -> Bool {
        content.withLock { $0.transactions?.contains(service) ?? false }
    }

    func setRequiresTransaction(_ required: Bool, of service: String) {
        change { content in
            var keys = content.transactions ?? []
            if required { keys.insert(service) } else { keys.remove(service) }
            content.transactions = keys
        }
    }

    /// Settings are a convenience: when they can't be written, the app goes on with those in memory.
    private func change(_ body: (inout Content) -> Void) {
        content.withLock { content in
            body(&content)
            guard let data = try? JSONEncoder().encode(content) else { return }
            try? data.write(to: file, options: .atomic)
        }
    }
}
