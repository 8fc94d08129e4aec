import Fieldwork
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

    /// A record that was chosen lately, with the words that it was shown by.
    struct RecentRecord: Codable, Hashable {
        let record: FeatureReference
        let text: String
    }

    /// What was searched for and chosen, with the address of its page.
    struct RecentSearch: Codable, Hashable {
        let text: String
        let address: String
    }

    private struct Content: Codable {
        var service: String?
        var views: [String: View] = [:]
        var hidden: [String: Set<Int>] = [:]
        var kinds: [String: String] = [:]
        /// What lies under each map; absent in what older versions wrote.
        var basemaps: [String: String]?
        /// Maps in which every edit belongs to a transaction; absent in what older versions wrote.
        var transactions: Set<String>?
        /// Whether areas are synced without being asked for; absent in what older versions wrote.
        var syncsByItself: Bool?
        /// The size that was chosen for a photo last; absent in what older versions wrote.
        var photoSize: String?
        /// The records that features were related to last, newest first, by what refers to them; absent in older versions.
        var related: [String: [RecentRecord]]?
        /// What was searched for last, newest first, by map; absent in what older versions wrote.
        var searches: [String: [RecentSearch]]?
        /// The replicas that this device has had; absent in what older versions wrote.
        var replicas: [UUID]?
        /// The newest conflict that was looked at, and what the user wasn't told yet, by service; absent in older versions.
        var conflicts: [String: ConflictNotice]?
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
    func setView(_ view: View?, of service: String) { change { $0.views[service] = view } }
    /// nil where nothing was chosen yet.
    func hidden(of service: String) -> Set<Int>? { content.withLock { $0.hidden[service] } }
    func setHidden(_ layers: Set<Int>, of service: String) { change { $0.hidden[service] = layers } }
    /// What was chosen to lie under a map; nil where nothing was.
    func basemap(of map: String) -> String? { content.withLock { $0.basemaps?[map] } }
    func setBasemap(_ key: String, of map: String) {
        change { $0.basemaps = ($0.basemaps ?? [:]).merging([map: key]) { $1 } }
    }
    /// The kind of feature that was created last, for the first button of the next call-out.
    func kind(of service: String) -> String? { content.withLock { $0.kinds[service] } }
    func setKind(_ kind: String, of service: String) { change { $0.kinds[service] = kind } }

    /// The records that were chosen last where one of this relationship is chosen, the newest first.
    /// - Parameter place: names the map, the layer and the relationship.
    func recentRecords(_ place: String) -> [RecentRecord] { content.withLock { $0.related?[place] ?? [] } }

    func rememberRecord(_ record: RecentRecord, at place: String) {
        change { content in
            let others = (content.related?[place] ?? []).filter { $0.record != record.record }
            content.related = (content.related ?? [:]).merging(
                [place: Array(([record] + others).prefix(Limits.recentRecords))]
            ) { $1 }
        }
    }

    /// What was searched for last in a map, the newest first.
    func recentSearches(of service: String) -> [RecentSearch] { content.withLock { $0.searches?[service] ?? [] } }

    func rememberSearch(_ search: RecentSearch, of service: String) {
        guard recentSearches(of: service).first != search else { return }
        change { content in
            let others = (content.searches?[service] ?? []).filter { $0.address != search.address }
            content.searches = (content.searches ?? [:]).merging(
                [service: Array(([search] + others).prefix(Limits.recentSearches))]
            ) { $1 }
        }
    }

    func forgetSearches(of service: String) { change { $0.searches?[service] = nil } }

    /// The replicas that this device has had: what came from them is the user's own.
    var replicas: Set<UUID> { Set(content.withLock { $0.replicas } ?? []) }

    func rememberReplica(_ id: UUID) {
        guard !replicas.contains(id) else { return }
        change { content in
            content.replicas = Array((content.replicas ?? []).suffix(Limits.rememberedReplicas - 1)) + [id]
        }
    }

    /// What this device knows of the conflicts of a service; nil where it never looked.
    func conflictNotice(of service: URL) -> ConflictNotice? {
        content.withLock { $0.conflicts?[service.absoluteString] }
    }

    func changeConflictNotice(of service: URL, _ body: (inout ConflictNotice?) -> Void) {
        change { content in
            var notices = content.conflicts ?? [:]
            body(&notices[service.absoluteString])
            content.conflicts = notices
        }
    }

    /// Whether an open area sends its edits as soon as its service can be reached. It does not unless the user says so: on a metered
    /// line that costs money.
    var syncsAreasByItself: Bool {
        get { content.withLock { $0.syncsByItself } ?? false }
        set { change { $0.syncsByItself = newValue } }
    }

    /// How large photos are kept, unless the user says otherwise.
    var photoSize: StagedAttachment.PreferredSize {
        get { content.withLock { $0.photoSize }.flatMap(StagedAttachment.PreferredSize.init(rawValue:)) ?? .large }
        set { change { $0.photoSize = newValue.rawValue } }
    }

    /// The size that was chosen for the last photo of a form is the one of the next.
    func rememberSize(of edits: PhotoEdits) {
        guard let last = edits.additions.last(where: { !$0.photo.smaller.isEmpty }) else { return }
        photoSize = last.size
    }

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
