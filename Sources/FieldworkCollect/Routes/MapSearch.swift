import Fieldwork
import Foundation

/// One search for all that a map knows by a text: features, addresses and places, coordinates.
struct MapSearch: Sendable {
    /// A place that was found, or that a text may become.
    struct Found: Sendable, Hashable {
        var name: String
        var detail: String
        /// nil for a suggestion, whose place is asked for when it is chosen.
        var place: Place?
        /// Names a suggestion to its locator.
        var key = ""
        /// How close the map looks at it, as a level of the map library.
        var zoom = MapSearch.houseZoom
    }

    struct Places: Sendable {
        var found: [Found] = []
        /// The locators that were asked, in words; empty when none answered.
        var source = ""
        /// Why there are none.
        var reason: String?
    }

    static let houseZoom = 17.0

    let map: OpenMap
    let locators: MapLocators
    /// Distances are told from it, and what is near it comes first.
    let middle: Place?

    // MARK: Features

    /// The features whose texts or numbers say it, layer by layer.
    func features(_ text: String) async throws -> [FoundFeature] {
        var found: [FoundFeature] = []
        for layer in map.listed where layer.hasPopups && layer.geometry != nil {
            guard let condition = Self.condition(text, in: layer) else { continue }
            let near = try await map.query(
                layer, area: nil, limit: Limits.searchCandidates, from: middle, where: condition)
            found += near.sorted { ($0.distance ?? .infinity, $0.reference) < ($1.distance ?? .infinity, $1.reference) }
                .prefix(Limits.searchRows)
        }
        for one in found { map.remember(one.feature, as: one.reference) }
        return found
    }

    private static func condition(_ text: String, in layer: MapLayer) -> String? {
        let names = ListRoutes.columns(layer).filter { $0.type == .text && !($0.domain is CodedValueDomain) }.map(
            \.name)
        var parts: [String] = []
        if !names.isEmpty { parts.append(ChooseRoutes.condition(text, fields: names)) }
        if let number = Int64(text), number >= 0, !layer.objectIDField.isEmpty {
            parts.append("\(layer.objectIDField) = \(number)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: " OR ")
    }

    // MARK: Addresses and places

    private var near: Point? { middle.map { Point(x: $0.longitude, y: $0.latitude, spatialReference: .wgs84) } }

    /// What a text names.
    func places(_ text: String) async throws -> Places {
        if let typed = Self.typed(text) { return Places(found: [typed]) }
        let near = near
        let answer = try await locators.ask(map, near: nil) { locator in
            let parameters = GeocodeParameters()
            parameters.maxResults = Limits.searchRows
            parameters.minScore = Limits.searchScore
            parameters.outputSpatialReference = .wgs84
            parameters.preferredSearchLocation = near
            return try await locator.geocode(forSearchText: text, using: parameters)
        }
        switch answer {
        case .none(let reason): return Places(reason: reason)
        case .found(let results, let locator):
            return Places(found: results.compactMap(Self.found), source: locator.words)
        }
    }

    /// What a text that is being typed may become.
    func suggestions(_ text: String) async throws -> Places {
        if let typed = Self.typed(text) { return Places(found: [typed]) }
        let near = near
        let answer = try await locators.ask(map, near: nil) { locator in
            let parameters = SuggestParameters()
            parameters.maxResults = Limits.searchRows
            parameters.preferredSearchLocation = near
            return try await locator.suggest(forSearchText: text, parameters: parameters)
        }
        switch answer {
        case .none(let reason): return Places(reason: reason)
        case .found(let results, let locator):
            let found = results.map { suggestion in
                let (name, detail) = Self.parts(suggestion.label)
                return Found(name: name, detail: detail, key: suggestion.key)
            }
            return Places(found: found, source: locator.words)
        }
    }

    /// The place of a suggestion; nil when nothing answers to it any more.
    func place(of text: String, key: String) async throws -> Found? {
        let suggestion = SuggestResult(label: text, key: key)
        let answer = try await locators.ask(map, near: nil) { locator in
            let parameters = GeocodeParameters()
            parameters.maxResults = 1
            parameters.outputSpatialReference = .wgs84
            return try await locator.geocode(forSuggestResult: suggestion, using: parameters)
        }
        guard case .found(let results, _) = answer else { return nil }
        return results.lazy.compactMap(Self.found).first
    }

    private static func typed(_ text: String) -> Found? {
        guard let typed = TypedCoordinates.read(text),
            let place = Place(longitude: typed.longitude, latitude: typed.latitude)
        else { return nil }
        return Found(name: typed.label, detail: "Coordinates", place: place)
    }

    private static func found(_ result: GeocodeResult) -> Found? {
        guard let point = result.displayLocation, let place = Place(longitude: point.x, latitude: point.y) else {
            return nil
        }
        let (name, detail) = parts(result.label)
        return Found(name: name, detail: detail, place: place, zoom: zoom(result.extent))
    }

    /// The first part of an address names it; the others say where that is.
    private static func parts(_ label: String) -> (String, String) {
        guard let comma = label.firstRange(of: ", ") else { return (label, "") }
        return (String(label[..<comma.lowerBound]), String(label[comma.upperBound...]))
    }

    /// A level at which the map shows all of an extent.
    private static func zoom(_ extent: Envelope?) -> Double {
        guard let extent, extent.width > 0 else { return houseZoom }
        return min(houseZoom, max(3, (log2(360 / max(extent.width, extent.height)) + 0.5).rounded(.down)))
    }
}
