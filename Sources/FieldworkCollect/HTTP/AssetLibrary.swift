import Crypto
import Foundation
import Hummingbird
import NIOCore

/// The files that the page loads, read once at the start: our own and the map library's. Their addresses hold a hash of
/// all of them, so that they may be kept for ever.
struct AssetLibrary: Sendable {
    struct Asset: Sendable {
        let contentType: String
        let bytes: ByteBuffer
    }

    /// The first part of every asset's address, without a slash at the end.
    let root: String
    let hash: String
    let hasMapLibrary: Bool
    private let assets: [String: Asset]

    init(mapLibraryDirectory: URL?) throws {
        let resources = Self.resources
        var assets: [String: Asset] = [:]
        for folder in ["css", "js"] {
            let directory = resources.appendingPathComponent(folder, isDirectory: true)
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() {
                assets["\(folder)/\(name)"] = try Self.read(directory.appendingPathComponent(name))
            }
        }
        assets["icon.svg"] = try Self.read(resources.appendingPathComponent("icon.svg"))
        var hasMapLibrary = mapLibraryDirectory != nil
        for name in ["maplibre-gl.js", "maplibre-gl.css"] {
            if let file = mapLibraryDirectory?.appendingPathComponent(name),
                FileManager.default.fileExists(atPath: file.path)
            {
                assets["maplibre/\(name)"] = try Self.read(file)
            } else {
                hasMapLibrary = false
            }
        }
        var digest = SHA256()
        for (path, asset) in assets.sorted(by: { $0.key < $1.key }) {
            digest.update(data: Data(path.utf8))
            digest.update(data: Data(asset.bytes.readableBytesView))
        }
        let hash = digest.finalize().prefix(8).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        self.assets = assets
        self.hasMapLibrary = hasMapLibrary
        self.hash = hash
        root = "/assets/\(hash)"
    }

    func response(path: String, hash: String) -> Response? {
        guard hash == self.hash, let asset = assets[path] else { return nil }
        return Response(
            status: .ok,
            headers: [.contentType: asset.contentType, .cacheControl: "private, max-age=31536000, immutable"],
            body: .init(byteBuffer: asset.bytes))
    }

    /// The folder of the page's files. (`resourceURL` steps into a folder of this name on some systems and not on others.)
    static var resources: URL { Bundle.module.bundleURL.appendingPathComponent("Resources", isDirectory: true) }

    private static let contentTypes = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]

    private static func read(_ file: URL) throws -> Asset {
        guard let contentType = contentTypes[file.pathExtension] else {
            throw CollectError(.resourceMissing, "\(file.lastPathComponent) has a kind that the page doesn't use.")
        }
        return Asset(contentType: contentType, bytes: ByteBuffer(bytes: try Data(contentsOf: file)))
    }
}
