import Foundation

/// The offline areas of this device: a folder each, which holds what the area is, its download while it is under way, and
/// its files, one a service, each once it is whole.
struct AreaShelf: Sendable {
    let directory: URL
    /// Tiles of all areas.
    let tiles: SharedTiles

    init(directory: URL) throws {
        self.directory = directory
        tiles = SharedTiles(directory: directory.deletingLastPathComponent().appending(path: "tiles"))
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.hasPrefix(Self.gone)
        {
            try? FileManager.default.removeItem(at: directory.appending(path: name))
        }
    }

    /// Begins the names of folders whose removal was begun.
    private static let gone = ".gone-"

    func folder(_ id: UUID) -> URL { directory.appending(path: id.uuidString.lowercased()) }

    /// The area's files, one a service; each is there only when it is whole. None for an area that isn't known.
    func files(_ id: UUID) -> [AreaFile] {
        guard let area = area(id) else { return [] }
        if let held = area.held { return [AreaFile(url: held.url, service: area.service)] }
        return files(of: area, in: area.holder ?? id)
    }

    /// The files that were taken with an area, whether it still uses them or not.
    func ownFiles(_ id: UUID) -> [AreaFile] { area(id).map { files(of: $0, in: id) } ?? [] }

    /// The files that a new area is going to have.
    func files(for area: OfflineArea) -> [AreaFile] { files(of: area, in: area.id) }

    /// The files of a service on this device whose areas hold enough of a new area that most of its photos are there.
    func overlappingFiles(of service: URL, with new: OfflineArea) -> [URL] {
        areas().filter { $0.held == nil && $0.part(of: new) >= Limits.sharedPartOfArea }.flatMap { files($0.id) }
            .filter { $0.service == service && $0.isHere }.map(\.url)
    }

    private func files(of area: OfflineArea, in id: UUID) -> [AreaFile] {
        area.services.enumerated().map { index, service in
            AreaFile(url: folder(id).appending(path: "area\(Self.ending(index)).gpkg"), service: service)
        }
    }

    /// The first file has no number.
    private static func ending(_ index: Int) -> String { index == 0 ? "" : "-\(index + 1)" }

    private func card(_ id: UUID) -> URL { folder(id).appending(path: "area.json") }

    private func jobFile(_ id: UUID, _ index: Int) -> URL {
        folder(id).appending(path: "job\(Self.ending(index)).json")
    }

    /// Whether all of an area's files are on this device.
    func isHere(_ id: UUID) -> Bool {
        let files = files(id)
        return !files.isEmpty && files.allSatisfy(\.isHere)
    }

    /// Newest first.
    func areas() -> [OfflineArea] { Array(all().filter { $0.extends == nil }.prefix(Limits.areas)) }

    /// With those that extend others, newest first.
    func all() -> [OfflineArea] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.prefix(Limits.areaFolders).compactMap { UUID(uuidString: $0).flatMap(area) }
            .sorted { ($0.made, $0.text) > ($1.made, $1.text) }
    }

    func area(_ id: UUID) -> OfflineArea? {
        (try? Data(contentsOf: card(id))).flatMap { try? JSONDecoder().decode(OfflineArea.self, from: $0) }
    }

    private func webMapFile(_ id: UUID) -> URL { folder(id).appending(path: "webmap.json") }

    /// The web map that an area was taken from, as it was then; nil for an area of a service.
    func webMap(_ id: UUID) -> Data? { try? Data(contentsOf: webMapFile(id)) }

    /// Makes an area's folder, with the state of its download: one that was begun is never forgotten.
    /// - Parameter jobs: one a file.
    func put(_ area: OfflineArea, jobs: [Data], webMap: Data? = nil) throws {
        try FileManager.default.createDirectory(at: folder(area.id), withIntermediateDirectories: true)
        try webMap?.write(to: webMapFile(area.id), options: .atomic)
        for (index, job) in jobs.enumerated() { try job.write(to: jobFile(area.id, index), options: .atomic) }
        try put(area)
    }

    /// Puts a file of the user's among the areas. The file stays where it is.
    func hold(_ area: OfflineArea) throws {
        try FileManager.default.createDirectory(at: folder(area.id), withIntermediateDirectories: true)
        try put(area)
    }

    /// Writes down what an area is now.
    func put(_ area: OfflineArea) throws {
        // What an area is no longer is removed after this: it must not come back with the loss of power.
        try SafeFile.write(JSONEncoder().encode(area), to: card(area.id))
    }

    /// Gives an area another name.
    func rename(_ id: UUID, to name: String) throws {
        guard var area = area(id) else { return }
        area.name = name
        try put(area)
    }

    /// What an area is called now: it may have been given another name since it was opened.
    func name(of area: OfflineArea) -> String { self.area(area.id)?.name ?? area.name }

    /// The download of one of an area's files, by its place among them, as it was begun.
    func job(_ id: UUID, file index: Int) -> Data? { try? Data(contentsOf: jobFile(id, index)) }

    /// Takes an area away, whole: its folder gets another name first. A file of the user's isn't in it, and stays.
    func remove(_ id: UUID) throws {
        let going = directory.appending(path: Self.gone + id.uuidString.lowercased())
        try? FileManager.default.removeItem(at: going)
        try FileManager.default.moveItem(at: folder(id), to: going)
        try? FileManager.default.removeItem(at: going)
    }

    /// Bytes of an area's files.
    func size(_ id: UUID) -> Int64 {
        files(id).reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.url.path)
            return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
    }

    /// Bytes that are free on the disk of the areas; nil where the system doesn't say.
    var freeBytes: Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }
}
