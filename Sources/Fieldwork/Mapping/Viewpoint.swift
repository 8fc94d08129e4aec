public import FieldworkGeometry
public import Foundation

/// A part of the earth to show: around a centre at a scale, or an extent.
public final class Viewpoint: Sendable, Equatable {
    /// How a viewpoint was given.
    public enum Kind: Sendable {
        /// By a centre and a scale, or by a geometry that has to be seen whole.
        case centerAndScale, boundingGeometry
    }

    /// How it was given.
    public let kind: Kind
    /// The centre (a `Point`), or the extent that has to be seen (an `Envelope`).
    public let targetGeometry: Geometry
    /// The denominator of the scale; NaN for a bounding geometry.
    public let targetScale: Double
    /// Degrees by which the map is turned.
    public let rotation: Double

    /// Around a centre, at 1 : `scale`.
    public init(center: Point, scale: Double, rotation: Double = 0) {
        kind = .centerAndScale
        targetGeometry = center
        targetScale = scale
        self.rotation = rotation
    }

    /// Around a place in WGS 84, at 1 : `scale`.
    public convenience init(latitude: Double, longitude: Double, scale: Double, rotation: Double = 0) {
        self.init(
            center: Point(x: longitude, y: latitude, spatialReference: .wgs84), scale: scale, rotation: rotation)
    }

    /// The whole of a geometry.
    public init(boundingGeometry: Geometry, rotation: Double = 0) {
        kind = .boundingGeometry
        targetGeometry = boundingGeometry is Envelope ? boundingGeometry : boundingGeometry.extent
        targetScale = .nan
        self.rotation = rotation
    }

    /// Equal by target, scale and rotation.
    public static func == (one: Viewpoint, other: Viewpoint) -> Bool {
        let isSameScale = one.targetScale == other.targetScale || (one.targetScale.isNaN && other.targetScale.isNaN)
        return one.kind == other.kind && one.targetGeometry == other.targetGeometry && isSameScale
            && one.rotation == other.rotation
    }

    /// The viewpoint as web maps write it.
    public func toJSON() -> Data {
        var object = JSONObject([
            "rotation": .number(rotation), "targetGeometry": GeoServicesJSON.json(for: targetGeometry),
        ])
        if kind == .centerAndScale { object.append("scale", .number(targetScale)) }
        return Data(JSONValue.object(object).text.utf8)
    }

    /// Reads what `toJSON` wrote. Throws `CommonError.invalidJSON`.
    public static func fromJSON(_ json: Data) throws -> Viewpoint {
        guard let value = try? JSONParser.parse(json), let target = value["targetGeometry"],
            let geometry = try? GeoServicesJSON.geometry(from: target)
        else { throw CommonError.invalidJSON(details: "The text is not a viewpoint.") }
        let rotation = value["rotation"]?.doubleValue ?? 0
        if let center = geometry as? Point, let scale = value["scale"]?.doubleValue {
            return Viewpoint(center: center, scale: scale, rotation: rotation)
        }
        return Viewpoint(boundingGeometry: geometry, rotation: rotation)
    }
}

/// A place to come back to.
public struct Bookmark: Sendable {
    /// Its name.
    public var name: String
    /// Where it is.
    public var viewpoint: Viewpoint?

    /// A named place.
    public init(name: String, viewpoint: Viewpoint? = nil) {
        self.name = name
        self.viewpoint = viewpoint
    }
}
