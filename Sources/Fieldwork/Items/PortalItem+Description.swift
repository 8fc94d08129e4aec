public import FieldworkGeometry
public import Foundation
import Synchronization

extension PortalItem {
    /// Who sees an item or a group.
    public enum Access: String, Sendable, Hashable {
        /// Its owner alone.
        case `private`
        /// The members of groups.
        case shared
        /// The members of the organisation.
        case organization = "org"
        /// Everyone, signed in or not.
        case everyone = "public"
    }

    /// What an item is.
    public enum Kind: String, Sendable, Hashable {
        /// A web map.
        case webMap = "Web Map"
        /// A web scene.
        case webScene = "Web Scene"
        /// A feature service.
        case featureService = "Feature Service"
        /// A map service.
        case mapService = "Map Service"
        /// A service of picture tiles or coverages.
        case imageService = "Image Service"
        /// A service of vector tiles.
        case vectorTileService = "Vector Tile Service"
        /// A service that finds places.
        case geocodingService = "Geocoding Service"
        /// A service of geometric operations.
        case geometryService = "Geometry Service"
        /// A service of long computations.
        case geoprocessingService = "Geoprocessing Service"
        /// A map for offline work, in the vendor's format.
        case mobileMapPackage = "Mobile Map Package"
        /// An area of a map that was prepared for offline work.
        case mapArea = "Map Area"
        /// A package of picture tiles.
        case tilePackage = "Tile Package"
        /// A package of vector tiles.
        case vectorTilePackage = "Vector Tile Package"
        /// Features within an item.
        case featureCollection = "Feature Collection"
        /// A GeoPackage.
        case geoPackage = "GeoPackage"
        /// A file of GeoJSON.
        case geoJSON = "GeoJson"
        /// A file of comma-separated values.
        case csv = "CSV"
        /// A zipped shapefile.
        case shapefile = "Shapefile"
        /// A form for surveys.
        case form = "Form"
        /// A page with an app in it.
        case webMappingApplication = "Web Mapping Application"
        /// A picture.
        case image = "Image"
        /// A document.
        case pdf = "PDF"
        /// Something else: see `typeName`.
        case unknown = ""
    }

    // MARK: What can be set

    /// The title; empty before it is loaded. What is set goes to the portal with `updateProperties`.
    public var title: String {
        get { text("title") }
        set { set("title", .string(newValue)) }
    }

    /// What it is, at length; may be HTML.
    public var description: String {
        get { text("description") }
        set { set("description", .string(newValue)) }
    }

    /// What it is, in a line or two.
    public var snippet: String {
        get { text("snippet") }
        set { set("snippet", .string(newValue)) }
    }

    /// Words by which it is found.
    public var tags: [String] {
        get { (value("tags")?.arrayValue ?? []).compactMap(\.stringValue) }
        set { set("tags", .array(newValue.map(JSONValue.string))) }
    }

    /// Whom to name as the source.
    public var attribution: String {
        get { text("accessInformation") }
        set { set("accessInformation", .string(newValue)) }
    }

    /// Under which terms it may be used; may be HTML.
    public var termsOfUse: String {
        get { text("licenseInfo") }
        set { set("licenseInfo", .string(newValue)) }
    }

    /// What it covers, in longitude and latitude; nil for nothing that is known.
    public var extent: Envelope? {
        get {
            let corners = (value("extent")?.arrayValue ?? []).compactMap(\.arrayValue)
            guard corners.count == 2, corners.allSatisfy({ $0.count == 2 }) else { return nil }
            let numbers = corners.joined().compactMap(\.doubleValue)
            guard numbers.count == 4, numbers.allSatisfy(\.isFinite) else { return nil }
            return Envelope(
                xMin: numbers[0], yMin: numbers[1], xMax: numbers[2], yMax: numbers[3], spatialReference: .wgs84)
        }
        set {
            let box = newValue.flatMap { GeometryEngine.project($0, into: .wgs84) }
            set(
                "extent",
                box.map { [[.number($0.xMin), .number($0.yMin)], [.number($0.xMax), .number($0.yMax)]] } ?? [])
        }
    }

    // MARK: What it is

    /// The id; nil for an item that is not in a portal yet.
    public var id: ID? { state.withLock { $0.id } }

    /// The address of the item's description, `…/sharing/rest/content/items/ID`.
    public var itemURL: URL { portal.client.address(["content", "items"] + [id?.rawValue].compactMap(\.self)) }

    /// What kind of item it is, as servers call it: `Web Map`, `Feature Service`. Empty before it is loaded.
    public var typeName: String { text("type") }

    /// What kind of item it is.
    public var kind: Kind { Kind(rawValue: typeName) ?? .unknown }

    /// What more is said of its kind, such as `Offline`.
    public var typeKeywords: [String] { (value("typeKeywords")?.arrayValue ?? []).compactMap(\.stringValue) }

    /// The address of the service that the item stands for; nil for others, and before it is loaded.
    public var url: URL? { value("url")?.stringValue.flatMap(URL.init(string:)) }

    /// The name of the person to whom it belongs.
    public var owner: String { text("owner") }

    /// The id of the folder of its owner; nil for the root, and where it is not told.
    public var folderID: String? { value("ownerFolder")?.stringValue }

    /// Who sees it.
    public var access: Access { Access(rawValue: text("access")) ?? .private }

    /// Whether it can't be deleted.
    public var isProtected: Bool { value("protected")?.boolValue ?? false }

    /// When it was added.
    public var creationDate: Date? { state.withLock { $0.known.date("created") } }

    /// When it was changed last.
    public var modificationDate: Date? { state.withLock { $0.known.date("modified") } }

    /// The same as `creationDate`, by its older name.
    public var created: Date? { creationDate }

    /// The same as `modificationDate`, by its older name.
    public var modified: Date? { modificationDate }

    /// Its picture; nil for none.
    public var thumbnail: LoadableImage? {
        guard let name = value("thumbnail")?.stringValue, !name.isEmpty else { return nil }
        return LoadableImage(url: itemURL.appending(path: "info").appending(path: name), client: environment.client)
    }

    // MARK: Values

    private func value(_ name: String) -> JSONValue? { state.withLock { $0.changes[name] ?? $0.known[name] } }

    private func text(_ name: String) -> String { value(name)?.stringValue ?? "" }

    private func set(_ name: String, _ value: JSONValue) {
        state.withLock { state in state.changes[name] = state.known[name] == value ? nil : value }
    }
}
