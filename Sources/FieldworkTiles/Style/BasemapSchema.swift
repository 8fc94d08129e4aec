/// The layers of basemaps that Fieldwork makes, in the order in which they stand in tiles. `Documentation/basemap-schema.md` says
/// what they hold.
package enum BasemapSchema {
    /// Only maps of the world have `earth`: elsewhere all that is not water is land.
    package enum Layer: String, CaseIterable, Sendable {
        case earth, water, waterway, land, landuse, boundary, road, railway, building, place, poi, housenumber
    }

    /// The mark of a package with these layers.
    package static let mark = "1"

    /// A river's line runs with its water.
    package static let directed: Set<String> = [Layer.waterway.rawValue]

    /// The languages whose names are kept.
    package static let languages: Set<String> = [
        "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "ga", "he", "hi", "hr", "hu",
        "id",
        "is", "it", "ja", "ko", "lt", "lv", "nb", "nl", "nn", "no", "pl", "pt", "ro", "ru", "se", "sk", "sl", "sr",
        "sv",
        "th", "tr", "uk", "vi", "zh",
    ]
}
