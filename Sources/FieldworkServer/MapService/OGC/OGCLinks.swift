import FieldworkGeometry

/// Names that the standards of the Open Geospatial Consortium give to links and references.
enum OGCName {
    static let longitudeLatitude = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
    static let webMercator = "http://www.opengis.net/def/crs/EPSG/0/3857"
    static let grid = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad"
    static let map = "http://www.opengis.net/def/rel/ogc/1.0/map"
    static let mapTiles = "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map"
    static let vectorTiles = "http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector"
    static let gridLink = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme"
    static let grids = "http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes"
    static let conformance = "http://www.opengis.net/def/rel/ogc/1.0/conformance"
    static let collections = "http://www.opengis.net/def/rel/ogc/1.0/data"
}

/// A link of a document, as RFC 8288 and OGC API - Common have it.
struct OGCLink: Sendable {
    var rel: String
    var href: String
    var type = "application/json"
    var title: String
    /// Whether the address has parts in braces.
    var isTemplate = false

    var json: JSONValue {
        var object = JSONObject()
        object.append("rel", .string(rel))
        object.append("type", .string(type))
        object.append("title", .string(title))
        object.append("href", .string(href))
        if isTemplate { object.append("templated", true) }
        return .object(object)
    }
}
