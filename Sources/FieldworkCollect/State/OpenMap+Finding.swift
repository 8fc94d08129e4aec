import Fieldwork
import Foundation

/// A feature as lists and call-outs show it.
struct FoundFeature: Sendable {
    let layer: MapLayer
    let feature: Feature
    let reference: FeatureReference
    let place: Place?
    /// Metres from where was asked; nil where there is no place.
    var distance: Double?
    var direction: String?
}

/// What is in view: how many, and the nearest of them.
struct FoundFeatures: Sendable {
    var features: [FoundFeature] = []
    /// nil when it isn't known, for lack of an answer.
    var count: Int?
    var isComplete = true
}

extension OpenMap {
    /// The feature that an address names. Without an answer of the server, the one shown before.
    func find(_ asked: FeatureReference) async throws -> FoundFeature {
        let reference = journal.current(asked)
        guard let layer = layer(reference.layer) else {
            throw CollectError(.notFound, "The map has no layer \(reference.layer).")
        }
        do {
            if let feature = try await journal.feature(reference) {
                remember(feature, as: reference)
                return found(feature, layer: layer, reference: reference, from: nil)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            guard let feature = rememberedFeature(reference) else { throw error }
            return found(feature, layer: layer, reference: reference, from: nil)
        }
        forget(reference)
        throw Self.missing(layer)
    }

    private static func missing(_ layer: MapLayer) -> CollectError {
        CollectError(.notFound, "This \(layer.noun) isn't on the map.", nextStep: "It may have been deleted.")
    }

    /// The features within a tolerance of a place: the topmost layer that has any, nearest first.
    /// - Parameters:
    ///   - tolerance: in metres of the map's plane.
    ///   - hidden: the layers that are switched off.
    ///   - scale: what the map is looked at in, a denominator: a layer that isn't drawn there isn't hit. nil: unknown.
    func identify(
        _ place: Place, tolerance: Double, hidden: Set<Int>, scale: Double? = nil
    ) async throws -> [FoundFeature] {
        let area = Envelope(
            xMin: place.x - tolerance, yMin: place.y - tolerance, xMax: place.x + tolerance, yMax: place.y + tolerance,
            spatialReference: .webMercator)
        let point = Point(x: place.x, y: place.y, spatialReference: .webMercator)
        for layer in layers.reversed() where layer.hasPopups && !hidden.contains(layer.id) && layer.isDrawn(scale) {
            let features = try await query(layer, area: area, limit: Limits.nearbyCandidates)
            let near = features.compactMap { found -> (FoundFeature, Double)? in
                guard let plane = found.feature.geometry.flatMap({ GeometryEngine.project($0, into: .webMercator) })
                else { return nil }
                let distance = Self.planeDistance(plane, point)
                return distance <= tolerance * 1.42 ? (found, distance) : nil
            }
            let sorted = near.sorted { $0.1 < $1.1 }.prefix(Limits.identified).map(\.0)
            if !sorted.isEmpty {
                for found in sorted { remember(found.feature, as: found.reference) }
                return Array(sorted)
            }
        }
        return []
    }

    private static func planeDistance(_ geometry: Geometry, _ point: Point) -> Double {
        if let other = geometry as? Point {
            let x = other.x - point.x
            let y = other.y - point.y
            return (x * x + y * y).squareRoot()
        }
        return GeometryEngine.distance(from: geometry, to: point) ?? .infinity
    }

    /// The features of a layer nearest to a place, within an area where one is given.
    /// - Parameter condition: which of them; nil for all.
    func nearest(
        _ layer: MapLayer, to place: Place?, within area: Envelope?, limit: Int, where condition: String? = nil
    ) async throws -> FoundFeatures {
        let parameters = QueryParameters()
        if let condition { parameters.whereClause = condition }
        parameters.geometry = area
        parameters.spatialRelationship = .envelopeIntersects
        let count = try await layer.table.queryFeatureCount(using: parameters)
        guard count > 0 else { return FoundFeatures(features: [], count: 0) }
        var search = area
        if let place, count > NearestSearch.most(for: limit),
            let whole = area ?? extents[layer.id]
        {
            search = try await NearestSearch(
                layer: layer, place: place, whole: whole, limit: limit, condition: condition
            )
            .area(count: count, isBounded: area != nil)
        }
        var features = try await query(
            layer, area: search, limit: Limits.nearbyCandidates, from: place, where: condition)
        // Features without a place, and those outside of what the layer covered when the map was opened.
        if features.count < min(limit, count), search != area {
            features = try await query(
                layer, area: area, limit: Limits.nearbyCandidates, from: place, where: condition)
        }
        features.sort { ($0.distance ?? .infinity, $0.reference) < ($1.distance ?? .infinity, $1.reference) }
        features = Array(features.prefix(limit))
        for found in features { remember(found.feature, as: found.reference) }
        return FoundFeatures(features: features, count: count, isComplete: features.count == count)
    }

    /// Features of a layer within an area, in no order.
    func query(
        _ layer: MapLayer, area: Envelope?, limit: Int, from place: Place? = nil, where condition: String? = nil
    ) async throws -> [FoundFeature] {
        let parameters = QueryParameters()
        if let condition { parameters.whereClause = condition }
        parameters.geometry = area
        parameters.spatialRelationship = area == nil ? .intersects : .envelopeIntersects
        parameters.maxFeatures = limit
        let result = try await layer.table.features(parameters, .loadAll)
        return result.features().compactMap { feature in
            guard let reference = layer.reference(of: feature) else { return nil }
            return found(feature, layer: layer, reference: reference, from: place)
        }
    }

    /// A page of a layer's features in the order of fields, the first one first, whatever the map shows.
    func sorted(
        _ layer: MapLayer, by fields: [Field], from start: Int, limit: Int, within area: Envelope?,
        where condition: String?,
        near place: Place?
    ) async throws -> FoundFeatures {
        let parameters = QueryParameters()
        parameters.geometry = area
        if area != nil { parameters.spatialRelationship = .envelopeIntersects }
        if let condition { parameters.whereClause = condition }
        let count = try await layer.table.queryFeatureCount(using: parameters)
        for field in fields { parameters.addOrderByField(OrderBy(fieldName: field.name, sortOrder: .ascending)) }
        parameters.maxFeatures = limit
        parameters.resultOffset = start
        let result = try await layer.table.features(parameters, .loadAll)
        let features = result.features().compactMap { feature -> FoundFeature? in
            guard let reference = layer.reference(of: feature) else { return nil }
            remember(feature, as: reference)
            return found(feature, layer: layer, reference: reference, from: place)
        }
        return FoundFeatures(features: features, count: count, isComplete: start == 0 && features.count == count)
    }

    func found(
        _ feature: Feature, layer: MapLayer, reference: FeatureReference, from place: Place?
    ) -> FoundFeature {
        let own = feature.geometry?.place
        var result = FoundFeature(layer: layer, feature: feature, reference: reference, place: own)
        if let place, let own {
            let distance = place.distance(to: own)
            result.distance = distance.metres
            result.direction = distance.direction
        }
        return result
    }

    /// The features that aren't on the server yet, by reference, with the reason where it refused them.
    func unsent() -> [FeatureReference: String?] { journal.unsent }
}
