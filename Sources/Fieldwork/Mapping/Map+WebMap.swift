import FieldworkGeometry
public import Foundation
import Synchronization

extension Map {
    /// Reads a web map. Layers and tables are not loaded yet. What the SDK does not know is kept, and written again by
    /// `toJSON`. Throws `CommonError.invalidJSON` for what is no web map, or one of a version that can't be read.
    public static func fromJSON(_ json: Data) throws -> Map { try fromJSON(json, environment: .standard) }

    static func fromJSON(_ json: Data, environment: ServiceEnvironment) throws -> Map {
        guard let document = try? JSONParser.parse(json).objectValue else {
            throw CommonError.invalidJSON(details: "The text is not a web map.")
        }
        var reader = try WebMapReader(document, environment: environment)
        let map = Map()
        var state = State()
        state.operationalLayers = reader.layers(document["operationalLayers"])
        state.tables = reader.tables(document["tables"])
        state.basemap = reader.basemap(document["baseMap"])
        state.bookmarks = (document["bookmarks"]?.arrayValue ?? []).map(WebMapReader.bookmark)
        state.initialViewpoint = WebMapReader.viewpoint(document["initialState"]?["viewpoint"])
        state.spatialReference = document["spatialReference"].flatMap {
            try? GeoServicesJSON.spatialReference(from: $0)
        }
        state.document = document
        state.readBasemap = state.basemap
        state.readSpatialReference = state.spatialReference
        state.readTables = state.tables.compactMap { $0.state.withLock { $0.entry } }
        let read = state
        map.state.withLock { $0 = read }
        map.connectRules()
        map.minScale = document["minScale"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
        map.maxScale = document["maxScale"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
        map.referenceScale = document["referenceScale"]?.doubleValue ?? 0
        return map
    }

    /// The map as a web map: the document that it was read from with what was changed since. Only addresses are written
    /// of services, no names or tokens of users.
    public func toJSON() -> Data { Data(webMap.text.utf8) }

    var webMap: JSONValue { .object(WebMapWriter(map: self, state: state.withLock { $0 }).document()) }
}
