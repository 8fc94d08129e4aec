import Fieldwork
import Foundation

/// What became of a file that somebody wants to open.
enum FileOpening: Sendable {
    case opened(OpenMap)
    /// It is no service's, and Fieldwork has never been at it: opening it adds to it what edits need. The user is asked first.
    case asks(path: String, GeodatabaseSummary)
}

/// Files of the user's, opened in their place.
extension Workspace {
    /// The key of the map that a service is.
    func key(of service: URL) -> String { MapAddress(service, ownRoot: configuration.ownRoot).key }

    /// Whether a file lies in the folders that the app keeps for itself.
    nonisolated func isOwn(_ path: String) -> Bool {
        guard let root = realpath(configuration.dataDirectory.path, nil) else { return false }
        defer { free(root) }
        return ["areas", "services", "maps", "conflicts"].contains { path.hasPrefix("\(String(cString: root))/\($0)/") }
    }

    /// Where GeoPackages are looked for.
    nonisolated var files: FileFinder {
        FileFinder(
            folders: configuration.fileFolders ?? FileFinder.usualFolders(dataDirectory: configuration.dataDirectory))
    }

    /// Whether the maps that are offered belong to the program that runs the app.
    nonisolated var ownsServices: Bool { configuration.ownsServices }

    // MARK: Opening

    /// Opens a GeoPackage as an area. Throws `CollectError.fileNotOpened` with the reason.
    /// - Parameters:
    ///   - typed: its path.
    ///   - isAgreed: whether the user has agreed that Fieldwork adds to the file what it needs.
    func openFile(_ typed: String, isAgreed: Bool) async throws -> FileOpening {
        try await oneByOne { try await self.openInTurn(typed, isAgreed: isAgreed) }
    }

    private func openInTurn(_ typed: String, isAgreed: Bool) async throws -> FileOpening {
        let path = try HeldFile.canonical(try HeldFile.path(typed: typed))
        if let known = try knownArea(at: path) { return .opened(try await work(in: known)) }
        let summary = try await Self.summary(path)
        try HeldFile.requireRights(path)
        guard summary.syncID != nil || summary.isPrepared || isAgreed else { return .asks(path: path, summary) }
        let area = try await area(of: path, summary)
        return .opened(try await work(in: area))
    }

    private func work(in area: OfflineArea) async throws -> OpenMap {
        do {
            // A map that is being opened already comes first.
            let map = try await open(area)
            return map.key == area.key ? map : try await open(area)
        } catch let error as CollectError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw CollectError(
                .fileNotOpened, "\(area.name) didn't open. \((error as? any ArcGISError)?.details ?? "\(error)")",
                nextStep: "Close it where it is open, or open another one.")
        }
    }

    /// The app's own area whose file this is; nil for a file of the user's.
    private func knownArea(at path: String) throws -> OfflineArea? {
        let areas = shelf.areas().filter { $0.held == nil }
        if let area = areas.first(where: { owns($0, path) }) { return area }
        guard !isOwn(path) else {
            throw CollectError(
                .fileNotOpened, "\(HeldFile.shown(path)) is a part of what Fieldwork keeps for itself.",
                nextStep: "Open the map that it belongs to.")
        }
        return nil
    }

    private func owns(_ area: OfflineArea, _ path: String) -> Bool {
        shelf.files(area.id).contains { (try? HeldFile.canonical($0.url.path)) == path }
    }

    static func summary(_ path: String) async throws(CollectError) -> GeodatabaseSummary {
        let shown = HeldFile.shown(path)
        do {
            let summary = try await GeodatabaseSummary.read(URL(filePath: path))
            guard summary.layers.isEmpty else { return summary }
        } catch {
            switch error {
            case .notThere: throw CollectError(.fileNotOpened, "There is no file \(shown).")
            case .notAGeoPackage:
                throw CollectError(
                    .fileNotOpened, "\(shown) is no GeoPackage.",
                    nextStep: "QGIS and other programs save layers as one: Save as, GeoPackage.")
            case .inUse:
                throw CollectError(
                    .fileNotOpened, "\(shown) is open in another program.", nextStep: "Close it there.")
            case .unreadable(let reason):
                throw CollectError(.fileNotOpened, "\(shown) can't be read. \(reason)")
            }
        }
        throw CollectError(.fileNotOpened, "\(shown) has no layers.", nextStep: "Open one that has.")
    }

    /// The area that a file is; a new one for a file that was never opened. Throws where it is a copy of another one.
    private func area(of path: String, _ summary: GeodatabaseSummary) async throws -> OfflineArea {
        let name = (path as NSString).lastPathComponent
        for area in shelf.areas() {
            guard let held = area.held else { continue }
            let isSame = summary.syncID == held.replica
            if held.path == path, isSame { return area }
            // Another file lies where that one was: what was kept of the work in that one doesn't belong to it.
            if held.path == path {
                await close(area)
                try shelf.remove(area.id)
            } else if isSame, held.replica != nil {
                guard !shelf.isHere(area.id) else { throw Self.copy(name, of: held.shown) }
                // It was moved; the work in it goes on where it is now.
                _ = release(area)
                var moved = area
                moved.held?.path = path
                try shelf.put(moved)
                return moved
            }
        }
        if let syncID = summary.syncID {
            for area in shelf.areas() where area.held == nil && shelf.isHere(area.id) {
                for file in shelf.files(area.id) {
                    let own = try? await GeodatabaseSummary.read(file.url)
                    guard own?.syncID != syncID else { throw Self.copy(name, of: "the area \(area.name)") }
                }
            }
        }
        let area = newArea(path, summary)
        try shelf.hold(area)
        return area
    }

    private static func copy(_ name: String, of other: String) -> CollectError {
        CollectError(
            .fileNotOpened, "\(name) is a copy of \(other).",
            nextStep:
                "Edits in both would reach the service twice. Work in that one, or take the area anew for a second file."
        )
    }

    private func newArea(_ path: String, _ summary: GeodatabaseSummary) -> OfflineArea {
        let id = UUID()
        let name = String(
            ((path as NSString).lastPathComponent as NSString).deletingPathExtension.prefix(Limits.areaName))
        let held = HeldFile(path: path, replica: summary.syncID)
        let extent = summary.extent
        guard let service = summary.serviceURL, summary.syncID != nil else {
            return OfflineArea(
                id: id, name: name, mapKey: OfflineArea.key(id), mapTitle: name, service: held.url,
                west: extent?.xMin ?? 0, south: extent?.yMin ?? 0, east: extent?.xMax ?? 0, north: extent?.yMax ?? 0,
                made: Date(), held: held)
        }
        return OfflineArea(
            id: id, name: name, mapKey: key(of: service),
            mapTitle: OpenMap.title(of: ServiceDirectory.name(of: service)), service: service, west: extent?.xMin ?? 0,
            south: extent?.yMin ?? 0, east: extent?.xMax ?? 0, north: extent?.yMax ?? 0, made: Date(), held: held)
    }
}
