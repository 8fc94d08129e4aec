import FieldworkREST
import FieldworkTiles
import Foundation

/// A part of an address that differs from request to request, spelled in patterns as its name in braces.
enum RouteParameter: String, Sendable, CaseIterable {
    case instance
    /// One or two segments: a service's name, with its folder before it.
    case service
    case folder
    /// A layer's or table's id.
    case layer
    case objectID = "objectId"
    /// A feature by its object id or its global id.
    case feature
    /// The generation that ended a version of a feature.
    case generation = "toGeneration"
    case attachment = "attachmentId"
    case conflict
    /// A replica or a job, by its id.
    case id
    case upload = "itemID"
    /// The name of a file, or of a role.
    case name
    /// A person of the portal.
    case person = "username"
    case item
    case group
    /// The folder of a resource of an item.
    case prefix
    /// A tile's level, its row from the top and its column, the last of which an address may end in `.pbf`; how many tiles of
    /// a block lie across and down.
    case level, row, column, width, height
    /// Names of fonts, by commas.
    case font
}

/// What a request's address gives for the parameters of its route.
struct RouteValues: Sendable, Hashable {
    /// The service's path, `Folder/Name` or `Name`, as the client spells it.
    var service: String?
    var layerID: Int?
    /// A folder, a file's name or an upload's id.
    var text: String?
    var objectID: Int64?
    var generation: Int64?
    var attachmentID: Int64?
    var conflictID: Int64?
    var feature: FeatureIdentifier?
    var id: UUID?
    var person: String?
    var item: String?
    var group: String?
    var prefix: String?
    var level: Int?
    var row: Int?
    var column: Int?
    var width: Int?
    var height: Int?
    var font: String?

    /// The tile of the address; nil when the grid has none there.
    var tile: TileAddress? {
        guard let level, let row, let column else { return nil }
        return TileAddress(level: level, column: column, row: row)
    }

    /// Takes a segment for a parameter.
    /// - Returns: false when the segment is not of the parameter's kind.
    mutating func take(_ segment: String, as parameter: RouteParameter) -> Bool {
        switch parameter {
        case .instance: return true
        case .service: service = segment
        case .folder, .upload, .name: text = segment
        case .person: person = segment
        case .item: item = segment
        case .group: group = segment
        case .prefix: prefix = segment
        case .layer:
            guard let id = Int(segment), id >= 0 else { return false }
            layerID = id
        case .objectID: return Self.number(segment, &objectID)
        case .generation: return Self.number(segment, &generation)
        case .attachment: return Self.number(segment, &attachmentID)
        case .conflict: return Self.number(segment, &conflictID)
        case .feature:
            if let id = Int64(segment) {
                feature = .objectID(id)
            } else if let id = GUID.parse(segment) {
                feature = .globalID(id)
            } else {
                return false
            }
        case .id:
            guard let id = GUID.parse(segment) else { return false }
            self.id = id
        case .level: return Self.count(segment, &level)
        case .row: return Self.count(segment, &row)
        case .column: return Self.count(segment, &column)
        case .width: return Self.count(segment, &width)
        case .height: return Self.count(segment, &height)
        case .font: font = segment
        }
        return true
    }

    /// A number from 0 on, with or without the ending of a file's name.
    private static func count(_ segment: String, _ value: inout Int?) -> Bool {
        value = segment.split(separator: ".", maxSplits: 1).first.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        return value != nil
    }

    private static func number(_ segment: String, _ value: inout Int64?) -> Bool {
        value = Int64(segment)
        return value != nil
    }
}
