import FieldworkGeometry
import FieldworkREST
import Foundation

/// How a layer with a heat map is drawn: what each point adds around it, and the colour of what all of them add up to.
///
/// A renderer with `radius` (points) and `maxDensity` asks for the density of points: each adds the quartic kernel
/// 3/(π r²) · (1 − d²/r²)² for each pixel of 96 to the inch, weighted by its field. The older form with `blurRadius` (pixels) and
/// `maxPixelIntensity` asks for a sum of bell curves that are 1 at their point and have half of the radius as their deviation.
struct HeatMap: Sendable {
    /// The column of the weights; nil where each point counts once.
    let column: Int?
    /// How far a point reaches, in pixels of the image.
    let reach: Double
    private let isDensity: Bool
    /// Pixels of the image on a pixel of 96 to the inch.
    private let scale: Double
    private let least: Double
    private let most: Double
    private let stops: [(ratio: Double, color: SIMD4<Double>)]

    /// nil for another kind of renderer.
    /// - Parameters:
    ///   - columns: the names of the values that a feature has.
    ///   - scale: pixels of the image on a pixel of 96 to the inch.
    ///   - farthest: pixels of the image that a point reaches at most.
    init?(_ renderer: JSONValue?, columns: [String], scale: Double, farthest: Double = Limits.heatReach) {
        guard let renderer, renderer["type"]?.stringValue == "heatmap" else { return nil }
        self.scale = scale
        let name = renderer["field"]?.stringValue?.lowercased() ?? ""
        column = name.isEmpty ? nil : columns.firstIndex { $0.lowercased() == name }
        let points = renderer["radius"]?.doubleValue
        let density = renderer["maxDensity"]?.doubleValue
        // Who has both forms is read by the newer one, as its authors ask.
        isDensity = points != nil || density != nil || renderer["blurRadius"]?.doubleValue == nil
        let pixels =
            isDensity
            ? SymbolDrawing.pixels(points ?? Self.points) : (renderer["blurRadius"]?.doubleValue ?? 1) * Self.tail
        let known = pixels.isFinite ? pixels : SymbolDrawing.pixels(Self.points)
        reach = min(max(known, 1) * scale, farthest)
        let (low, high) =
            isDensity
            ? (renderer["minDensity"]?.doubleValue, density ?? Self.density)
            : (renderer["minPixelIntensity"]?.doubleValue, renderer["maxPixelIntensity"]?.doubleValue ?? 100)
        least = low.flatMap { $0.isFinite ? $0 : nil } ?? 0
        most = high.isFinite && high > least ? high : least + 1
        stops = Self.stops(renderer)
    }

    /// What a renderer has that does not say it: those of the web map specification.
    private static let points = 18.0
    private static let density = 0.04
    /// Times `blurRadius` that a bell curve is taken to end: at three deviations, of half of the radius each.
    private static let tail = 1.5

    private static func stops(_ renderer: JSONValue) -> [(ratio: Double, color: SIMD4<Double>)] {
        var last = -Double.infinity
        let read = (renderer["colorStops"]?.arrayValue ?? []).compactMap {
            stop -> (ratio: Double, color: SIMD4<Double>)? in
            guard let ratio = stop["ratio"]?.doubleValue, ratio > last, let color = SwatchColor(stop["color"]) else {
                return nil
            }
            last = ratio
            return (ratio, SIMD4(color.red, color.green, color.blue, color.opacity * 255))
        }
        return read.isEmpty
            ? [(0, SIMD4(255, 140, 0, 0)), (0.75, SIMD4(255, 140, 0, 255)), (0.9, SIMD4(255, 0, 0, 255))] : read
    }

    /// What a point of weight 1 adds at a distance, in pixels of the image.
    func added(at distance: Double) -> Double {
        guard distance < reach else { return 0 }
        let share = distance / reach
        if isDensity {
            let radius = reach / scale
            return 3 / (.pi * radius * radius) * (1 - share * share) * (1 - share * share)
        }
        // The deviation is half of the radius, which is a third of the reach.
        return exp(-share * share * 4.5)
    }

    /// The colour of a sum, red, green, blue and opacity from 0 to 255.
    func color(of sum: Double) -> SIMD4<Double> { color(at: min(max((sum - least) / (most - least), 0), 1)) }

    /// The colour of a place on the way from the least sum, 0, to the greatest, 1.
    func color(at ratio: Double) -> SIMD4<Double> {
        guard let first = stops.first, let last = stops.last, ratio > first.ratio else {
            return stops.first?.color ?? .zero
        }
        guard ratio < last.ratio, let next = stops.firstIndex(where: { $0.ratio >= ratio }), next > 0 else {
            return last.color
        }
        let (low, high) = (stops[next - 1], stops[next])
        return low.color + (high.color - low.color) * ((ratio - low.ratio) / (high.ratio - low.ratio))
    }
}
