import FieldworkGeometry
public import Foundation
import Synchronization

extension Map {
    /// Reads a web map. Layers and tables are not loaded yet. What the SDK does not know is kept, and written again by
    /// `toJSON`. Throws `CommonError.invalidJSON` for what is no web map, or one of a version that can't be read.
    public static func fromJSON(_ json: Data) throws -> Map { try fromJSON(json, environment: .standard) }

    static func fromJSON(
        _ json: Data, environment: ServiceEnvironment, offline: OfflineTables? = nil
    ) throws -> Map {
        guard let document = try? JSONParser.parse(json).objectValue else {
            throw CommonError.invalidJSON(details: "The text is not a web map.")
        }
        let map = Map()
        try map.take(document, environment: environment, offline: offline)
        return map
    }

    /// Takes over a web map. What was put on the map before lies over it, and what was set before stays.
    func take(_ document: JSONObject, environment: ServiceEnvironment, offline: OfflineTables? = nil) throws {
        var reader = try WebMapReader(document, environment: environment, offline: offline)
        var state = self.state.withLock { $0 }
        state.operationalLayers = reader.layers(document["operationalLayers"]) + state.operationalLayers
        let read = reader.tables(document["tables"])
        state.tables = read + state.tables
        state.readBasemap = reader.basemap(document["baseMap"])
        state.basemap = state.basemap ?? state.readBasemap
        state.bookmarks = (document["bookmarks"]?.arrayValue ?? []).map(WebMapReader.bookmark) + state.bookmarks
        state.initialViewpoint =
            state.initialViewpoint ?? WebMapReader.viewpoint(document["initialState"]?["viewpoint"])
        state.spatialReference = document["spatialReference"].flatMap {
            try? GeoServicesJSON.spatialReference(from: $0)
        }
        state.document = document
        state.readSpatialReference = state.spatialReference
        state.readTables = read.compactMap { $0.state.withLock { $0.entry } }
        let taken = state
        self.state.withLock { $0 = taken }
        connectRules()
        minScale = minScale ?? document["minScale"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
        maxScale = maxScale ?? document["maxScale"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
        if referenceScale == 0 { referenceScale = document["referenceScale"]?.doubleValue ?? 0 }
    }

    /// The map as a web map: the document that it was read from with what was changed since. Only addresses are written
    /// of services, no names or tokens of users.
    public func toJSON() -> Data { Data(webMap.text.utf8) }

    var webMap: JSONValue { .object(WebMapWriter(map: self, state: state.withLock { $0 }).document()) }
}
