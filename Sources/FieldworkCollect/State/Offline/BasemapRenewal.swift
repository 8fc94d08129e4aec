import Fieldwork
import Foundation
import Logging

extension AreaShelf.BasemapWish {
    /// Asks for what was found to be newer. What is here stays until that has come.
    mutating func renew() {
        for file in newer?.files ?? [] {
            guard let old = layers.first(where: { $0.file == file }),
                renewals?.contains(where: { $0.replaces == file }) != true
            else { continue }
            var layer = old
            layer.file = freeName(like: file)
            layer.tiles = nil
            renewals = (renewals ?? []) + [Renewal(replaces: file, layer: layer)]
        }
        newer = nil
    }

    /// A name that no layer has or had: `basemap-3.vtpk`.
    private func freeName(like file: String) -> String {
        let used = Set(all.map(\.file) + settled)
        let ending = file.split(separator: ".").last ?? ""
        let numbers = 1...(used.count + 1)
        return numbers.lazy.map { AreaShelf.basemapFileName($0, String(ending)) }.first { !used.contains($0) } ?? file
    }

    /// Notes that a layer has come, or can't come. Newer tiles that have come take the place of the older ones; where they can't come,
    /// those stay.
    mutating func settle(_ file: String) {
        guard let renewal = renewals?.first(where: { $0.layer.file == file }) else { return settled.append(file) }
        renewals?.removeAll { $0.layer.file == file }
        if renewals?.isEmpty == true { renewals = nil }
        guard renewal.layer.tiles?.bytes != nil,
            let index = layers.firstIndex(where: { $0.file == renewal.replaces })
        else { return }
        layers[index] = renewal.layer
        settled.removeAll { $0 == renewal.replaces }
        settled.append(file)
    }
}

extension AreaBasemaps {
    /// Looks whether the services have newer tiles than an area has, and notes it. Nothing is fetched. A service that doesn't tell the
    /// version of its tiles, or doesn't answer, has none.
    /// - Parameter seconds: an area at which was looked no longer ago is left.
    func lookForNewer(_ id: UUID, seconds: Double = Limits.basemapLookSeconds) async {
        guard let stage = shelf.basemapStage(of: id), let area = shelf.area(stage),
            let wish = shelf.basemapWish(stage), wish.isSettled
        else { return }
        guard looked[id].map({ Date().timeIntervalSince($0) >= seconds }) != false else { return }
        looked[id] = Date()
        let newer = try? await withDeadline(.seconds(Limits.basemapEstimateSeconds)) { [shelf, source] in
            try await Self.newer(wish, of: area, shelf, source)
        }
        guard let newer else { return }
        let told = newer.files.isEmpty ? nil : newer
        guard told != wish.newer else { return }
        do {
            try shelf.changeBasemapWish(of: stage) { now in
                // What was asked for meanwhile is on its way, and is newer no more.
                if now.layers == wish.layers, now.renewals == wish.renewals { now.newer = told }
            }
            await heard(area)
        } catch {
            logger.warning("a newer basemap could not be noted", metadata: ["error": "\(error)"])
        }
    }

    private static func newer(
        _ wish: AreaShelf.BasemapWish, of area: OfflineArea, _ shelf: AreaShelf,
        _ source: @Sendable (AreaShelf.BasemapWish.Layer) -> any TileSource
    ) async throws -> AreaShelf.BasemapWish.Newer {
        var versions: [(layer: AreaShelf.BasemapWish.Layer, version: String)] = []
        for layer in wish.layers {
            // An area that an earlier version took doesn't say which tiles it has.
            guard let tiles = layer.tiles, tiles.bytes != nil else { continue }
            guard let version = try await source(layer).version(),
                !SharedTiles.isFile(tiles.file, of: layer.service, version: version)
            else { continue }
            versions.append((layer, version))
        }
        // A size is asked for once: services count tiles for it.
        let files = versions.map(\.layer.file)
        if let known = wish.newer, known.files == files { return known }
        var newer = AreaShelf.BasemapWish.Newer(files: files, bytes: 0)
        for (layer, version) in versions {
            let plan = try await shelf.tiles.plan(
                shelf.basemapExtent(of: area), service: layer.service, version: version)
            guard let missing = plan.missing else { continue }
            let bytes = try? await source(layer).estimate(missing)
            newer.bytes = newer.bytes.flatMap { sum in bytes.map { sum + $0 } }
        }
        return newer
    }

    /// Begins to fetch the newer tiles of an area, which `lookForNewer` has found. It is drawn with those that it has until all of them
    /// are here; when the process ends before, the next start goes on.
    func renew(_ id: UUID) throws {
        if let area = try wishNewer(id) { run(area) }
    }

    /// Notes that the newer tiles of an area are to come.
    /// - Returns: the area, or the one that extended it, whose tiles they are; nil where nothing is to come.
    func wishNewer(_ id: UUID) throws -> OfflineArea? {
        guard let stage = shelf.basemapStage(of: id), let area = shelf.area(stage) else { return nil }
        try shelf.changeBasemapWish(of: stage) { $0.renew() }
        return shelf.awaitsBasemap(stage) ? area : nil
    }
}

extension Workspace {
    /// Looks whether the services have newer basemaps than the areas of a map.
    /// - Parameter isAsked: whether the user has asked for what is new: areas at which was just looked are looked at as well.
    func lookForNewerBasemaps(of map: OpenMap, isAsked: Bool = false) async {
        for area in areas(of: map) where area.held == nil {
            await areaBasemaps.lookForNewer(area.id, seconds: isAsked ? 0 : Limits.basemapLookSeconds)
        }
    }
}
