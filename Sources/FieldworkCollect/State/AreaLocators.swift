import Fieldwork
import Foundation
import Logging

extension AreaShelf {
    static let locatorExtension = "locator"
    /// The file's name within the area's folder.
    static let locatorName = "addresses"

    func locatorFile(_ id: UUID) -> URL {
        folder(id).appending(path: "\(Self.locatorName).\(Self.locatorExtension)")
    }

    /// The locator that was taken along with an area, or with what it was extended by; nil where there is none.
    func locator(_ id: UUID) -> URL? { locatorStage(of: id).map(locatorFile) }

    /// The stage whose locator an area has; nil where there is none.
    func locatorStage(of id: UUID) -> UUID? {
        stages(of: id).first { FileManager.default.fileExists(atPath: locatorFile($0).path) }
    }

    /// Tells which locator is still to be fetched.
    private func wishFile(_ id: UUID) -> URL { folder(id).appending(path: "locator-wish.txt") }

    func wish(_ id: UUID) -> URL? {
        (try? String(contentsOf: wishFile(id), encoding: .utf8)).flatMap { URL(string: $0) }
    }

    func setWish(_ url: URL?, of id: UUID) throws {
        guard let url else {
            try? FileManager.default.removeItem(at: wishFile(id))
            return
        }
        try Data(url.absoluteString.utf8).write(to: wishFile(id), options: .atomic)
    }
}

/// Takes the part of a locator along with an area, beside the features: addresses are then found without a network. An area is
/// complete without it: its work begins as soon as the features are here.
actor AreaLocators {
    private let shelf: AreaShelf
    private let logger: Logger
    private var running: [UUID: Task<Void, Never>] = [:]

    init(shelf: AreaShelf, logger: Logger) {
        self.shelf = shelf
        self.logger = logger
    }

    /// Begins to fetch the part of a locator. When the process ends before, the next start goes on.
    func take(_ locator: URL, along area: OfflineArea) {
        do {
            try shelf.setWish(locator, of: area.id)
        } catch {
            logger.warning("the wish for a locator could not be kept", metadata: ["error": "\(error)"])
        }
        run(locator, area)
    }

    /// Goes on with what an earlier process had begun.
    func goOn() {
        for area in shelf.all() where running[area.id] == nil {
            if let locator = shelf.wish(area.id) { run(locator, area) }
        }
    }

    /// Whether an area's locator is to be fetched anew: the file is there, but this version of the app can't read it. An earlier
    /// version took it along, or it is damaged.
    func needsRenewal(of area: OfflineArea) async -> Bool {
        guard running[area.id] == nil, FileManager.default.fileExists(atPath: shelf.locatorFile(area.id).path) else {
            return false
        }
        do {
            try await LocatorTask(url: shelf.locatorFile(area.id)).load()
            return false
        } catch LocatorTaskError.unreadable {
            return true
        } catch {
            return false
        }
    }

    /// Resolves when nothing is fetched any more.
    func settled() async { for task in running.values { await task.value } }

    func stop() { for task in running.values { task.cancel() } }

    private func run(_ locator: URL, _ area: OfflineArea) {
        running[area.id]?.cancel()
        running[area.id] = Task { [shelf, logger] in
            defer { running[area.id] = nil }
            do {
                let extent = Envelope(
                    xMin: area.west, yMin: area.south, xMax: area.east, yMax: area.north, spatialReference: .wgs84)
                try await LocatorDirectory.takeAlong(locator, area: extent, to: shelf.locatorFile(area.id))
                try shelf.setWish(nil, of: area.id)
            } catch is CancellationError {
                return
            } catch {
                logger.info("no locator came with an area", metadata: ["reason": "\(error)"])
                // One that can't be reached now is asked again at the next start; a refusal is final.
                if case ServiceError.connectionFailed = error { return }
                try? shelf.setWish(nil, of: area.id)
            }
        }
    }
}

extension Workspace {
    /// Takes along what the map's locator has in an area: the one that its author names for addresses, else the server's first.
    func takeLocator(along area: OfflineArea, of map: OpenMap) async {
        let chosen = map.rules.addresses.values.lazy.compactMap(\.locator).first
        guard let locator = await locators.ofServer(map, chosen: chosen) else { return }
        await areaLocators.take(locator, along: area)
    }

    /// Fetches the locators of a map's areas again that this version of the app can't read. The file of before stays where it is until
    /// the new one is whole, and so does every file whose server can't be reached.
    func renewLocators(of map: OpenMap) async {
        let key = map.offline?.area.mapKey ?? map.key
        for area in shelf.all() where area.mapKey == key && area.held == nil {
            if await areaLocators.needsRenewal(of: area) { await takeLocator(along: area, of: map) }
        }
    }
}
