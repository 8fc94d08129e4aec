public import FieldworkGeometry
import Foundation

/// What was found at a place in one layer.
public final class IdentifyLayerResult: Sendable {
    /// The layer.
    public let layerContent: any LayerContent
    /// What was found, the nearest first.
    public let geoElements: [any GeoElement]
    /// The pop-ups of what was found, in the same order; none for a layer without pop-ups. They are not evaluated yet.
    public let popups: [Popup]
    /// What was found in its parts.
    public let sublayerResults: [IdentifyLayerResult]
    /// Whether there is more than was asked for.
    public let transferLimitIsExceeded: Bool
    /// Why the layer could not be asked.
    public let error: (any Error)?

    init(
        layerContent: any LayerContent, geoElements: [any GeoElement] = [], popups: [Popup] = [],
        transferLimitIsExceeded: Bool = false, error: (any Error)? = nil
    ) {
        self.layerContent = layerContent
        self.geoElements = geoElements
        self.popups = popups
        sublayerResults = []
        self.transferLimitIsExceeded = transferLimitIsExceeded
        self.error = error
    }
}

extension FeatureLayer {
    /// The visible features within a distance of a place, the nearest first. No screen is needed: the caller knows how
    /// many metres its tolerance is.
    /// - Parameters:
    ///   - point: in any spatial reference.
    ///   - tolerance: in metres on the ground.
    ///   - returnPopupsOnly: whether a layer without pop-ups gives nothing, and others give pop-ups but no elements.
    ///   - scale: the denominator of the scale that is looked at, for filters of what is drawn; nil when it is not known.
    ///   - timeExtent: the time that is looked at, for layers whose features say when they were there; nil for all times.
    ///   - maximumResults: the most features to give.
    public func identify(
        at point: Point, tolerance: Double, returnPopupsOnly: Bool = false, scale: Double? = nil,
        timeExtent: TimeExtent? = nil, maximumResults: Int = 10
    ) async throws -> IdentifyLayerResult {
        try await load()
        let popup = popupsAreEnabled && featureTable?.popupIsEnabled == true ? popupDefinition : nil
        if returnPopupsOnly, popup == nil { return IdentifyLayerResult(layerContent: self) }
        guard let table = featureTable, let reference = table.spatialReference else {
            return IdentifyLayerResult(layerContent: self)
        }
        guard
            let area = GeometryEngine.geodeticBuffer(
                around: point, distance: max(tolerance, 0.001), distanceUnit: .meters, maxDeviation: .nan,
                curveType: .geodesic)
        else {
            throw CommonError.invalidArgument(details: "The place has no spatial reference, or none that is known.")
        }
        let parameters = QueryParameters()
        parameters.geometry = try GeometryEngine.projected(area, into: reference)
        if supportsTimeFiltering { parameters.timeExtent = timeExtent }
        let center = try GeometryEngine.projected(point, into: reference)
        let drawn = displayFilterDefinition?.filter(atScale: scale)?.whereClause ?? ""
        parameters.whereClause = try LocalCondition.both(parameters.whereClause, drawn)
        let found = try await table.queryFeatures(using: try narrowed(parameters)).features()
            .filter(isShown)
            .map { feature in
                let distance = feature.geometry.flatMap { GeometryEngine.distance(from: center, to: $0) }
                return (feature, distance ?? .infinity)
            }
            .sorted { $0.1 < $1.1 }
        let nearest = found.prefix(max(0, maximumResults)).map(\.0)
        return IdentifyLayerResult(
            layerContent: self, geoElements: returnPopupsOnly ? [] : nearest,
            popups: popup.map { popup in nearest.map { Popup(geoElement: $0, definition: popup) } } ?? [],
            transferLimitIsExceeded: found.count > maximumResults)
    }
}

extension Map {
    /// What is found within a distance of a place in the visible feature layers, the topmost first. A layer that can't be
    /// asked gives its error.
    /// - Parameters:
    ///   - point: in any spatial reference.
    ///   - tolerance: in metres on the ground.
    ///   - returnPopupsOnly: whether only layers with pop-ups are asked, and give pop-ups but no elements.
    ///   - scale: the denominator of the scale that is looked at: layers that are not shown at it are left out. nil when it
    ///     is not known.
    ///   - timeExtent: the time that is looked at; nil for all times.
    ///   - maximumResultsPerLayer: the most features to give of each layer.
    public func identify(
        at point: Point, tolerance: Double, returnPopupsOnly: Bool = false, scale: Double? = nil,
        timeExtent: TimeExtent? = nil, maximumResultsPerLayer: Int = 10
    ) async throws -> [IdentifyLayerResult] {
        var results: [IdentifyLayerResult] = []
        for layer in visibleFeatureLayers(atScale: scale) {
            do {
                let result = try await layer.identify(
                    at: point, tolerance: tolerance, returnPopupsOnly: returnPopupsOnly, scale: scale,
                    timeExtent: timeExtent, maximumResults: maximumResultsPerLayer)
                if !result.geoElements.isEmpty || !result.popups.isEmpty { results.append(result) }
            } catch let error as CancellationError {
                throw error
            } catch {
                results.append(IdentifyLayerResult(layerContent: layer, error: error))
            }
        }
        return results
    }

    /// The feature layers that are seen, the topmost first, those of groups among them.
    /// - Parameter scale: the denominator of the scale that is looked at; nil for any.
    public func visibleFeatureLayers(atScale scale: Double? = nil) -> [FeatureLayer] {
        func isSeen(_ layer: Layer) -> Bool { scale.map(layer.isVisible(atScale:)) ?? layer.isVisible }
        func seen(_ layer: Layer) -> [FeatureLayer] {
            switch layer {
            case let layer as FeatureLayer: return [layer]
            case let group as GroupLayer:
                return group.layers.reversed().flatMap { child -> [FeatureLayer] in
                    let isInRange = scale.map(child.isInRange(atScale:)) ?? true
                    return isInRange && group.shows(child) ? seen(child) : []
                }
            default: return []
            }
        }
        return operationalLayers.reversed().filter(isSeen).flatMap(seen)
    }
}
