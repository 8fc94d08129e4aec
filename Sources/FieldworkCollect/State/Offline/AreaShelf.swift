import Foundation

/// The offline areas of this device: a folder each, which holds what the area is, its download while it is under way, and
/// its file once it is whole.
struct AreaShelf: Sendable {
    let directory: URL

    init(directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.hasPrefix(Self.gone)
        {
            try? FileManager.default.removeItem(at: directory.appending(path: name))
        }
    }

    /// Begins the names of folders whose removal was begun.
    private static let gone = ".gone-"

    private func folder(_ id: UUID) -> URL { directory.appending(path: id.uuidString.lowercased()) }

    /// The area's file, a GeoPackage; there only when it is whole.
    func file(_ id: UUID) -> URL {
        let area = area(id)
        return area?.held?.url ?? ownFile(area?.holder ?? id)
    }

    /// The file that was taken with an area, whether it still uses it or not.
    func ownFile(_ id: UUID) -> URL { folder(id).appending(path: "area.gpkg") }

    private func card(_ id: UUID) -> URL { folder(id).appending(path: "area.json") }
    private func jobFile(_ id: UUID) -> URL { folder(id).appending(path: "job.json") }

    func isHere(_ id: UUID) -> Bool { FileManager.default.fileExists(atPath: file(id).path) }

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
    func put(_ area: OfflineArea, job: Data, webMap: Data? = nil) throws {
        try FileManager.default.createDirectory(at: folder(area.id), withIntermediateDirectories: true)
        try webMap?.write(to: webMapFile(area.id), options: .atomic)
        try job.write(to: jobFile(area.id), options: .atomic)
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

    /// The download as it was begun.
    func job(_ id: UUID) -> Data? { try? Data(contentsOf: jobFile(id)) }

    /// Takes an area away, whole: its folder gets another name first. A file of the user's isn't in it, and stays.
    func remove(_ id: UUID) throws {
        let going = directory.appending(path: Self.gone + id.uuidString.lowercased())
        try? FileManager.default.removeItem(at: going)
        try FileManager.default.moveItem(at: folder(id), to: going)
        try? FileManager.default.removeItem(at: going)
    }

    /// Bytes of an area's file.
    func size(_ id: UUID) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file(id).path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Bytes that are free on the disk of the areas; nil where the system doesn't say.
    var freeBytes: Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }
}
