import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import Synchronization

/// A package of tiles as the server works with it.
struct Basemap: Sendable {
    let name: String
    let package: any TilePackage
    /// Another one for each file that had the name.
    let version: String
    /// Another one for other tiles, the same for a copy of the file.
    let tilesVersion: String

    var isVector: Bool { package.description.format == .vector }
    var face: ServiceFace { isVector ? .vectorTile : .map }
    /// What its item in the portal is.
    var itemKind: ServiceItemKind { isVector ? .vectorTiles : .tiles }
    /// What the basemap is called in documents: its own name, or the one of its address.
    var title: String { package.description.name.isEmpty ? name : package.description.name }
}

/// The packages in the folder of basemaps. Files come, go and are replaced while the server runs.
final class BasemapLibrary: Sendable {
    private let folder: BasemapFolder
    /// What could be opened and what could not, each under what the file was then.
    private let open = Mutex<[String: (version: String, basemap: Result<Basemap, TileError>)]>([:])

    private let listing = FolderListing<[String]>()

    init(folder: BasemapFolder) { self.folder = folder }

    private func names() -> [String] {
        listing.value { folders in
            folders.look(at: folder.url)
            return folder.names()
        }
    }

    /// All that can be served; files that can't be read are left out.
    func basemaps() -> [Basemap] { names().compactMap { try? basemap($0) } }

    /// The basemap of a name, without regard to case; nil when there is none.
    func basemap(_ name: String) throws(TileError) -> Basemap? {
        guard BasemapFolder.isName(name) else { return nil }
        // The client's text is only compared with names that exist.
        guard let known = names().first(where: { $0.equalsIgnoringCase(name) }) else { return nil }
        let path = folder.file(known).path
        guard let version = FileVersion(path: path)?.text else { return nil }
        if let kept = open.withLock({ $0[known] }), kept.version == version { return try kept.basemap.get() }
        let basemap = Result { () throws(TileError) in
            Basemap(
                name: known, package: try TilePackages.open(path), version: version,
                tilesVersion: TilesVersion.text(of: path) ?? version)
        }
        open.withLock { open in
            if open.count >= Limits.openBasemaps { open.removeAll() }
            open[known] = (version, basemap)
        }
        return try basemap.get()
    }
}
