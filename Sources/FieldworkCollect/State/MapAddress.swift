import Foundation

/// Where a map's service is, and the name under which this device keeps what belongs to it: unsent edits, settings. A
/// service of this very machine's demo is named without its address: at the next start it may stand on another port, and
/// an edit that was kept under the old one must not be left behind.
struct MapAddress: Sendable, Hashable {
    let url: URL
    let key: String

    /// Whether it is a feature service itself; else a web map's document.
    var isService: Bool { url.pathComponents.contains("FeatureServer") }

    init(url: URL, key: String) {
        self.url = url
        self.key = key
    }

    private static let own = "own:"

    /// - Parameter ownRoot: `…/rest/services` of the server that was started with this app; nil for none.
    init(_ url: URL, ownRoot: URL?) {
        self.url = url
        let text = url.absoluteString
        if let root = ownRoot.map({ $0.absoluteString + "/" }), text.hasPrefix(root) {
            key = Self.own + text.dropFirst(root.count)
        } else {
            key = text
        }
    }

    /// The address of a key that was kept; nil for a service of a server that isn't there this time.
    init?(key: String, ownRoot: URL?) {
        guard key.hasPrefix(Self.own) else {
            guard let url = URL(string: key) else { return nil }
            self.init(url, ownRoot: ownRoot)
            return
        }
        guard let ownRoot, let url = URL(string: "\(ownRoot.absoluteString)/\(key.dropFirst(Self.own.count))") else {
            return nil
        }
        self.init(url, ownRoot: ownRoot)
    }

    /// A name for the service's folders that no address can turn into a path of its own.
    var folderName: String {
        let readable = ServiceDirectory.name(of: url).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(40)
        return "\(readable)-\(StableHash.hex(key))"
    }
}
