import FieldworkGeometry
import FieldworkTiles
import Foundation

/// What a service of tiles gives to be taken along.
struct TileExportAbility: Sendable {
    var isAllowed = false
    /// 0 for a limit that the service does not tell.
    var maximum = 0
    var levels: [Int] = []
    /// nil for a service that does not tell.
    var version: String?
    /// Pixels of a tile across and down.
    private var tileSize = 512

    init() {}

    init(_ json: JSONValue) {
        isAllowed = json["exportTilesAllowed"]?.boolValue ?? false
        maximum = json["maxExportTilesCount"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
        let described = TiledDescription(json)
        levels = Array(described.levels)
        tileSize = described.tileSize
        version = json["tilesVersion"]?.stringValue
    }

    func require(_ service: URL) throws {
        guard isAllowed else {
            throw CommonError.propertyNotSupported(
                details:
                    "\(service.deletingLastPathComponent().lastPathComponent) does not let its tiles be taken along.")
        }
    }

    /// The levels that a map shows between two scales; 0 for no limit.
    func levels(minScale: Double, maxScale: Double) -> [Int] {
        func level(_ scale: Double) -> Double? {
            WebMercator.level(scale: scale * Double(tileSize) / 512)
        }
        let least = level(minScale).map { Int($0.rounded(.down)) } ?? 0
        let most = level(maxScale).map { Int($0.rounded(.up)) } ?? Int.max
        let wanted = levels.filter { (least...max(least, most)).contains($0) }
        // Closer than the deepest level maps enlarge that one; farther than the first one nothing is drawn.
        return wanted.isEmpty ? Array(levels.suffix(1)) : wanted
    }
}
