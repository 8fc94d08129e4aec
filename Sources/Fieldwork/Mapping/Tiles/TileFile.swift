import FieldworkTiles
import Foundation
import Synchronization

/// A file of tiles that is opened once.
final class TileFile: Sendable {
    private let part: FileSection
    private let isVector: Bool
    private let package = Mutex<(any TilePackage)?>(nil)

    private var url: URL { part.url }

    init(_ part: FileSection, isVector: Bool) {
        self.part = part
        self.isVector = isVector
    }

    func open() throws {
        guard package.withLock({ $0 }) == nil else { return }
        let opened: any TilePackage
        do {
            opened = try TilePackages.open(url.path, part: part.bytes)
        } catch {
            throw CommonError.invalidArgument(details: "\(url.lastPathComponent): \(error.message)")
        }
        guard (opened.description.format == .vector) == isVector else {
            let kind = isVector ? "images, not vector tiles" : "vector tiles, not images"
            throw CommonError.invalidArgument(details: "\(url.lastPathComponent) holds \(kind).")
        }
        package.withLock { $0 = opened }
    }

    func opened() throws -> any TilePackage {
        guard let package = package.withLock({ $0 }) else {
            throw CommonError.illegalState(details: "\(url.lastPathComponent) is not open.")
        }
        return package
    }
}
