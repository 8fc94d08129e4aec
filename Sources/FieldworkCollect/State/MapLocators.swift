import Fieldwork
import Foundation

/// A locator that a map may ask.
struct MapLocator: Sendable {
    let task: LocatorTask
    /// "Portland".
    let name: String
    let isOnDevice: Bool

    /// "Portland, on this device"
    var words: String { isOnDevice ? "\(name), on this device" : name }
}

/// What a locator said, or why none did.
enum LocatorAnswer<Result: Sendable>: Sendable {
    case found(Result, MapLocator)
    /// In words for a person.
    case none(String)
}

/// Knows which locators answer for a map: offline the one that was taken along, else those of its server, and what is on the
/// device when these don't answer.
actor MapLocators {
    private struct Known {
        var urls: [URL]
        var since: ContinuousClock.Instant
    }

    private let shelf: AreaShelf
    private var ofServers: [URL: Known] = [:]
    private var tasks: [URL: LocatorTask] = [:]

    init(shelf: AreaShelf) { self.shelf = shelf }

    /// Asks one locator after the other until one answers. Each has its time.
    /// - Parameter chosen: the locator that the map's author names; nil for those of the server.
    func ask<Result: Sendable>(
        _ map: OpenMap, near place: Place?, chosen: URL? = nil,
        _ question: @escaping @Sendable (LocatorTask) async throws -> Result
    ) async throws -> LocatorAnswer<Result> {
        let locators = try await locators(of: map, near: place, chosen: chosen)
        guard !locators.isEmpty else {
            return .none(
                map.offline == nil ? "This map has no locator." : "No locator was taken along with this area.")
        }
        for locator in locators {
            try Task.checkCancellation()
            do {
                let task = locator.task
                return .found(
                    try await withDeadline(.seconds(Limits.locatorSeconds)) { try await question(task) }, locator)
            } catch {
                // A locator that can't be loaded is tried again with the next question.
                tasks[locator.task.url] = nil
            }
        }
        try Task.checkCancellation()
        return .none("The locator doesn't answer.")
    }

    /// The locators of a map, in the order in which they are asked.
    func locators(of map: OpenMap, near place: Place?, chosen: URL? = nil) async throws -> [MapLocator] {
        let files = onDevice(map, near: place).map { file in
            MapLocator(task: task(file), name: Self.name(ofFile: file), isOnDevice: true)
        }
        if map.offline != nil { return files }
        let urls = if let chosen { [chosen] } else { try await online(map) }
        return urls.map { MapLocator(task: task($0), name: Self.name(of: $0), isOnDevice: false) } + files
    }

    /// The locator of a map's server whose parts are taken along, also while the work goes on in an area: the one that the map's
    /// author names, else the server's first.
    func ofServer(_ map: OpenMap, chosen: URL?) async -> URL? {
        if let chosen { return chosen }
        return (try? await online(map))?.first
    }

    private func task(_ url: URL) -> LocatorTask {
        if let known = tasks[url] { return known }
        let made = LocatorTask(url: url)
        tasks[url] = made
        return made
    }

    /// `…/services/City/Portland/GeocodeServer` is called Portland.
    private static func name(of url: URL) -> String { url.deletingLastPathComponent().lastPathComponent }

    private static func name(ofFile file: URL) -> String {
        let name = file.deletingPathExtension().lastPathComponent
        return name == AreaShelf.locatorName ? "The area's addresses" : name
    }

    // MARK: Of servers

    /// The server tells them now and then: a locator that was added is used without a new start.
    private func online(_ map: OpenMap) async throws -> [URL] {
        guard let root = map.servicesRoot else { return [] }
        if let known = ofServers[root], known.since.duration(to: .now) < .seconds(Limits.locatorListSeconds) {
            return known.urls
        }
        do {
            let urls = try await withDeadline(.seconds(Limits.locatorSeconds)) {
                try await LocatorDirectory.locators(of: root)
            }
            ofServers[root] = Known(urls: Array(urls.prefix(Limits.locatorsPerMap)), since: .now)
        } catch {
            try Task.checkCancellation()
            // Those of before are asked: they say by themselves when they don't answer.
        }
        return ofServers[root]?.urls ?? []
    }

    // MARK: On the device

    private func onDevice(_ map: OpenMap, near place: Place?) -> [URL] {
        if let area = map.offline?.area { return files(of: area) }
        return shelf.areas().filter { area in
            area.mapKey == map.key
                && (place.map { area.holds(longitude: $0.longitude, latitude: $0.latitude) } ?? true)
        }.flatMap(files)
    }

    private func files(of area: OfflineArea) -> [URL] {
        guard let held = area.held else { return shelf.locator(area.id).map { [$0] } ?? [] }
        return Self.beside(held.url)
    }

    /// The locators beside a file of the user's: the one of its name first.
    private static func beside(_ file: URL) -> [URL] {
        let folder = file.deletingLastPathComponent()
        let own = file.deletingPathExtension().lastPathComponent
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasSuffix(".\(AreaShelf.locatorExtension)") && !$0.hasPrefix(".") }
            .sorted { ($0.hasPrefix("\(own).") ? 0 : 1, $0) < ($1.hasPrefix("\(own).") ? 0 : 1, $1) }
        return names.prefix(Limits.locatorsPerMap).map { folder.appending(path: $0, directoryHint: .notDirectory) }
    }
}

extension OpenMap {
    /// `…/rest/services` of the server that the map's features come from; nil where there is none.
    var servicesRoot: URL? {
        let table = layers.lazy.compactMap { ($0.table as? ServiceFeatureTable)?.url }.first
        guard let url = table ?? offline?.area.service ?? (address.isService ? self.url : nil), !url.isFileURL,
            let end = url.pathComponents.lastIndex(of: "services")
        else { return nil }
        var root = url
        for _ in url.pathComponents.indices.dropFirst(end + 1) { root.deleteLastPathComponent() }
        return root.pathComponents.dropLast().last == "rest" ? root : nil
    }
}
