import FieldworkGeometry
import Foundation

/// Writes what was changed of a map into the document that it was read from.
struct WebMapWriter {
    /// The version of new documents.
    static let version = "2.31"

    let map: Map
    let state: GeoModel.State

    /// The document; equal to the one that was read when nothing was changed.
    func document() -> JSONObject {
        let known =
            state.document ?? JSONObject(["operationalLayers": [], "tables": [], "version": .string(Self.version)])
        var document = known
        writeLayers(&document)
        writeBasemap(&document)
        writePlaces(&document)
        writeLimits(&document)
        if document != known || state.document == nil {
            document["authoringApp"] = "Fieldwork"
            document["authoringAppVersion"] = nil
        }
        return document
    }

    private func writeLayers(_ document: inout JSONObject) {
        let layers = JSONValue.array(state.operationalLayers.map { .object($0.webMapEntry) })
        if document["operationalLayers"]?.arrayValue != nil || !state.operationalLayers.isEmpty,
            document["operationalLayers"] != layers
        {
            document["operationalLayers"] = layers
        }
        // Entries that are no tables to the SDK stay where they are: behind those that are.
        let others = (document["tables"]?.arrayValue ?? []).filter { entry in
            !state.readTables.contains { $0 == entry.objectValue }
        }
        let tables = JSONValue.array(state.tables.map { .object($0.webMapEntry) } + others)
        let isSame = document["tables"]?.arrayValue.map { Set($0) == Set(tables.arrayValue ?? []) } == true
        if !isSame, document["tables"] != nil || !state.tables.isEmpty { document["tables"] = tables }
    }

    private func writeBasemap(_ document: inout JSONObject) {
        if state.basemap === state.readBasemap {
            guard let basemap = state.basemap, var json = document["baseMap"]?.objectValue,
                json["title"]?.stringValue ?? "" != basemap.name
            else { return }
            json["title"] = .string(basemap.name)
            document["baseMap"] = .object(json)
            return
        }
        guard let basemap = state.basemap else {
            document["baseMap"] = nil
            return
        }
        let layers = basemap.baseLayers.map { JSONValue.object($0.webMapEntry) }
        let references = basemap.referenceLayers.map { layer -> JSONValue in
            var entry = layer.webMapEntry
            entry["isReference"] = true
            return .object(entry)
        }
        document["baseMap"] = ["title": .string(basemap.name), "baseMapLayers": .array(layers + references)]
    }

    // MARK: Places

    private func writePlaces(_ document: inout JSONObject) {
        if let reference = state.spatialReference,
            document["spatialReference"].flatMap({ try? GeoServicesJSON.spatialReference(from: $0) }) != reference,
            state.readSpatialReference != reference
        {
            document["spatialReference"] = GeoServicesJSON.json(for: reference)
        }
        let known = WebMapReader.viewpoint(document["initialState"]?["viewpoint"])
        if known != state.initialViewpoint {
            var initial = document["initialState"]?.objectValue ?? JSONObject()
            initial["viewpoint"] = state.initialViewpoint.map(Self.json)
            document["initialState"] = .object(initial)
        }
        let entries = document["bookmarks"]?.arrayValue ?? []
        let read = entries.map(WebMapReader.bookmark)
        let isSame = read.count == state.bookmarks.count && zip(read, state.bookmarks).allSatisfy(Self.areEqual)
        if !isSame {
            document["bookmarks"] = .array(
                state.bookmarks.map { bookmark in
                    let index = read.firstIndex { Self.areEqual($0, bookmark) }
                    return index.map { entries[$0] } ?? Self.json(bookmark)
                })
        }
    }

    private static func areEqual(_ one: Bookmark, _ other: Bookmark) -> Bool {
        one.name == other.name && one.viewpoint == other.viewpoint
    }

    private static func json(_ viewpoint: Viewpoint) -> JSONValue {
        (try? JSONParser.parse(viewpoint.toJSON())) ?? .null
    }

    /// The extent is what older readers look at.
    private static func json(_ bookmark: Bookmark) -> JSONValue {
        var object = JSONObject(["name": .string(bookmark.name)])
        if let viewpoint = bookmark.viewpoint {
            object["viewpoint"] = json(viewpoint)
            object["extent"] = GeoServicesJSON.json(for: viewpoint.targetGeometry.extent)
        }
        return .object(object)
    }

    // MARK: Limits

    private func writeLimits(_ document: inout JSONObject) {
        func write(_ key: String, _ value: Double?) {
            let known = document[key]?.doubleValue
            if (known ?? 0) != (value ?? 0) { document[key] = value.map(JSONValue.number) }
        }
        write("minScale", map.minScale)
        write("maxScale", map.maxScale)
        write("referenceScale", map.referenceScale)
    }

    /// An address without its query: tokens don't belong in documents.
    static func plain(_ url: URL) -> String {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.query = nil
        components?.fragment = nil
        components?.user = nil
        components?.password = nil
        return components?.string ?? url.absoluteString
    }
}
