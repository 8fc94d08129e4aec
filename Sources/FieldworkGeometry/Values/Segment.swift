import Foundation

/// A piece of a path between two vertices.
public class Segment: @unchecked Sendable, Equatable {
    // Unchecked because the class has subclasses; every stored property is a `let` of a Sendable type.

    /// Where it starts.
    public let startPoint: Point
    /// Where it ends.
    public let endPoint: Point
    /// The reference of its coordinates.
    public let spatialReference: SpatialReference?

    init(startPoint: Point, endPoint: Point, spatialReference: SpatialReference?) {
        self.startPoint = startPoint
        self.endPoint = endPoint
        self.spatialReference = spatialReference ?? startPoint.spatialReference
    }

    /// Whether it is anything but a straight line.
    public var isCurve: Bool { false }
    /// Whether it ends where it starts.
    public var isClosed: Bool { startPoint.x == endPoint.x && startPoint.y == endPoint.y }

    /// Whether both are of the same kind with the same points.
    public static func == (one: Segment, other: Segment) -> Bool {
        type(of: one) == type(of: other) && one.startPoint == other.startPoint && one.endPoint == other.endPoint
            && one.hasSameShape(as: other)
    }

    func hasSameShape(as other: Segment) -> Bool { true }

    /// The vertices behind the first that draw it; its end is the last.
    var pointsBehindStart: [Point] { [endPoint] }
}

/// A straight segment.
public final class LineSegment: Segment, @unchecked Sendable {
    /// Between two points.
    public override init(startPoint: Point, endPoint: Point, spatialReference: SpatialReference? = nil) {
        super.init(startPoint: startPoint, endPoint: endPoint, spatialReference: spatialReference)
    }
}

/// A cubic Bézier curve.
public final class CubicBezierSegment: Segment, @unchecked Sendable {
    /// The first control point.
    public let controlPoint1: Point
    /// The second control point.
    public let controlPoint2: Point

    /// By its end points and control points.
    public init(
        startPoint: Point, controlPoint1: Point, controlPoint2: Point, endPoint: Point,
        spatialReference: SpatialReference? = nil
    ) {
        self.controlPoint1 = controlPoint1
        self.controlPoint2 = controlPoint2
        super.init(startPoint: startPoint, endPoint: endPoint, spatialReference: spatialReference)
    }

    public override var isCurve: Bool { true }

    override var pointsBehindStart: [Point] {
        (1..<GeometryLimits.curvePieces).map { step in
            let place = position(at: Double(step) / Double(GeometryLimits.curvePieces))
            return Point(x: place.x, y: place.y, spatialReference: spatialReference)
        } + [endPoint]
    }

    override func hasSameShape(as other: Segment) -> Bool {
        guard let other = other as? CubicBezierSegment else { return false }
        return controlPoint1 == other.controlPoint1 && controlPoint2 == other.controlPoint2
    }

    /// The position at a parameter from 0 to 1.
    package func position(at parameter: Double) -> (x: Double, y: Double) {
        let (t, u) = (parameter, 1 - parameter)
        let (a, b, c, d) = (u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t)
        return (
            a * startPoint.x + b * controlPoint1.x + c * controlPoint2.x + d * endPoint.x,
            a * startPoint.y + b * controlPoint1.y + c * controlPoint2.y + d * endPoint.y
        )
    }
}

/// A part of an ellipse; of a circle when the ratio of its axes is 1.
public final class EllipticArcSegment: Segment, @unchecked Sendable {
    /// The centre of the ellipse.
    public let centerPoint: Point
    /// The turn of the major axis against the x axis, in radians, counter-clockwise.
    public let rotationAngle: Double
    /// Half the major axis, in units of the spatial reference.
    public let semiMajorAxis: Double
    /// The minor axis as a fraction of the major one.
    public let minorMajorRatio: Double
    /// Where the arc starts, in radians from the major axis.
    public let startAngle: Double
    /// How far the arc goes, in radians; negative for clockwise.
    public let centralAngle: Double

    /// By the ellipse and the angles of the arc.
    public init(
        centerPoint: Point, rotationAngle: Double, semiMajorAxis: Double, minorMajorRatio: Double, startAngle: Double,
        centralAngle: Double, spatialReference: SpatialReference? = nil
    ) {
        self.centerPoint = centerPoint
        self.rotationAngle = rotationAngle
        self.semiMajorAxis = semiMajorAxis
        self.minorMajorRatio = minorMajorRatio
        self.startAngle = startAngle
        self.centralAngle = centralAngle
        let reference = spatialReference ?? centerPoint.spatialReference
        func point(_ angle: Double) -> Point {
            let position = Self.position(
                at: angle, center: centerPoint, rotation: rotationAngle, axis: semiMajorAxis, ratio: minorMajorRatio)
            return Point(x: position.x, y: position.y, spatialReference: reference)
        }
        super.init(
            startPoint: point(startAngle), endPoint: point(startAngle + centralAngle), spatialReference: reference)
    }

    /// A part of a circle.
    public static func makeCircular(
        centerPoint: Point, radius: Double, startAngle: Double, centralAngle: Double,
        spatialReference: SpatialReference? = nil
    ) -> EllipticArcSegment {
        EllipticArcSegment(
            centerPoint: centerPoint, rotationAngle: 0, semiMajorAxis: radius, minorMajorRatio: 1,
            startAngle: startAngle, centralAngle: centralAngle, spatialReference: spatialReference)
    }

    /// The arc of a circle between two points through a third; nil when they lie on a line.
    public static func makeCircular(
        startPoint: Point, endPoint: Point, interiorPoint: Point, spatialReference: SpatialReference? = nil
    ) -> EllipticArcSegment? {
        let reference = spatialReference ?? startPoint.spatialReference
        let arc = CurvePoints.circle(
            (startPoint.x, startPoint.y), through: (interiorPoint.x, interiorPoint.y), (endPoint.x, endPoint.y))
        guard let arc else { return nil }
        let (dx, dy) = (startPoint.x - arc.center.x, startPoint.y - arc.center.y)
        return makeCircular(
            centerPoint: Point(x: arc.center.x, y: arc.center.y, spatialReference: reference), radius: hypot(dx, dy),
            startAngle: atan2(dy, dx), centralAngle: arc.sweep, spatialReference: reference)
    }

    override var pointsBehindStart: [Point] {
        (1..<GeometryLimits.curvePieces).map { step in
            let angle = startAngle + centralAngle * Double(step) / Double(GeometryLimits.curvePieces)
            let place = Self.position(
                at: angle, center: centerPoint, rotation: rotationAngle, axis: semiMajorAxis, ratio: minorMajorRatio)
            return Point(x: place.x, y: place.y, spatialReference: spatialReference)
        } + [endPoint]
    }

    /// Where the arc ends, in radians from the major axis.
    public var endAngle: Double { startAngle + centralAngle }
    /// Whether it is part of a circle.
    public var isCircular: Bool { minorMajorRatio == 1 }
    /// Whether it turns to the left.
    public var isCounterClockwise: Bool { centralAngle > 0 }
    public override var isCurve: Bool { true }

    override func hasSameShape(as other: Segment) -> Bool {
        guard let other = other as? EllipticArcSegment else { return false }
        return centerPoint == other.centerPoint && semiMajorAxis == other.semiMajorAxis
            && minorMajorRatio == other.minorMajorRatio && centralAngle == other.centralAngle
    }

    static func position(
        at angle: Double, center: Point, rotation: Double, axis: Double, ratio: Double
    ) -> (x: Double, y: Double) {
        let (u, v) = (axis * cos(angle), axis * ratio * sin(angle))
        return (
            center.x + u * cos(rotation) - v * sin(rotation), center.y + u * sin(rotation) + v * cos(rotation)
        )
    }
}
