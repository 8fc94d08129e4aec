import Fieldwork
import FieldworkTiles
import Foundation

/// A part of a map that was taken along, or a file of the user's that was opened in its place: its features are in a file of
/// this device.
struct OfflineArea: Sendable, Codable, Hashable, Identifiable {
    let id: UUID
    var name: String
    /// The map that it was taken from, by its key.
    let mapKey: String
    let mapTitle: String
    /// The service that its features are of, or the first of them. For a file that is no service's the file itself.
    let service: URL
    /// The other services, where its map shows the features of several; each has a file of its own.
    var furtherServices: [URL]?
    /// Degrees, WGS 84.
    var west: Double
    var south: Double
    var east: Double
    var north: Double
    let made: Date
    /// The area that this one is taken to extend: it isn't listed by itself.
    var extends: UUID?
    /// In whose folder the file is; nil for the area's own. Written when an extension took the place of the first file.
    var holder: UUID?
    /// The user's own file that is worked in, where it is; nil for an area that the app took.
    var held: HeldFile?

    /// In the order of its files.
    var services: [URL] { [service] + (furtherServices ?? []) }

    /// Whether there is a service that it is synced with.
    var isSynced: Bool { held.map { $0.replica != nil } ?? true }

    private static let prefix = "area:"

    /// Under this name the device keeps what belongs to the work in the area: journal, settings.
    var key: String { Self.key(id) }

    static func key(_ id: UUID) -> String { prefix + id.uuidString.lowercased() }

    /// The area's id in addresses.
    var text: String { id.uuidString.lowercased() }

    /// The area that a kept key names; nil for the key of a map of a server.
    static func id(ofKey key: String) -> UUID? {
        guard key.hasPrefix(prefix) else { return nil }
        return UUID(uuidString: String(key.dropFirst(prefix.count)))
    }

    /// In the map's plane.
    var extent: Envelope {
        Envelope(
            xMin: WebMercator.x(longitude: west), yMin: WebMercator.y(latitude: south),
            xMax: WebMercator.x(longitude: east), yMax: WebMercator.y(latitude: north), spatialReference: .webMercator)
    }

    /// West, south, east, north; nil where its file doesn't say.
    var edges: [Double]? { west < east && south < north ? [west, south, east, north] : nil }

    /// Whether a place, in degrees, is in it.
    func holds(longitude: Double, latitude: Double) -> Bool {
        (west...east).contains(longitude) && (south...north).contains(latitude)
    }

    /// Whether some of another frame is in it; edges that touch aren't.
    func overlaps(_ frame: AreaRoutes.Frame) -> Bool {
        frame.west < east && frame.east > west && frame.south < north && frame.north > south
    }

    /// Which part of another area is in it, 0 to 1.
    func part(of other: OfflineArea) -> Double {
        let width = min(east, other.east) - max(west, other.west)
        let height = min(north, other.north) - max(south, other.south)
        let whole = (other.east - other.west) * (other.north - other.south)
        return width > 0 && height > 0 && whole > 0 ? width * height / whole : 0
    }

    /// "2.0 × 1.4 km"
    var size: String { Self.size(west: west, south: south, east: east, north: north) }

    static func size(west: Double, south: Double, east: Double, north: Double) -> String {
        let middle = (south + north) / 2
        guard let corner = Place(longitude: west, latitude: middle),
            let other = Place(longitude: east, latitude: middle),
            let low = Place(longitude: west, latitude: south), let high = Place(longitude: west, latitude: north)
        else { return "" }
        let (width, height) = (corner.distance(to: other).metres, low.distance(to: high).metres)
        func text(_ metres: Double) -> String {
            metres < 1_000 ? "\(Int(metres.rounded())) m" : "\((metres / 100).rounded() / 10) km"
        }
        return "\(text(width)) × \(text(height))"
    }
}

/// A file of an area, a GeoPackage, and the service whose features are in it.
struct AreaFile: Sendable, Hashable {
    let url: URL
    let service: URL

    var isHere: Bool { FileManager.default.fileExists(atPath: url.path) }
    /// As people read it, where an area has several.
    var title: String { OpenMap.title(of: ServiceDirectory.name(of: service)) }
}

extension MapAddress {
    /// The work in an offline area: the service that it was taken from, the key of the area.
    init(_ area: OfflineArea) { self.init(url: area.service, key: area.key) }
}
