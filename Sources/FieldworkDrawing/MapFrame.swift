package import FieldworkGeometry
import Foundation

/// What an image shows: a part of a plane, how many pixels it takes, and how far it is turned.
package struct MapFrame: Sendable {
    /// In the reference of the image.
    package let extent: Envelope
    package let width: Int
    package let height: Int
    /// Pixels to the inch: symbols grow with it.
    package let dpi: Double
    package let reference: SpatialReference?
    /// Degrees against the clock by which the map is turned about the middle of the image; the extent is that of the map before.
    package var rotation = 0.0

    /// - Parameter extent: it is made larger where its sides are not as those of the image, so that nothing is stretched.
    package init(extent: Envelope, width: Int, height: Int, dpi: Double) throws(DrawingError) {
        try self.init(
            exactly: Self.fitted(extent, width: width, height: height), width: width, height: height, dpi: dpi)
    }

    /// - Parameter exactly: an extent that the image shows as it is, stretched where its sides differ.
    package init(exactly extent: Envelope, width: Int, height: Int, dpi: Double) throws(DrawingError) {
        guard (1...Limits.imageSide).contains(width), (1...Limits.imageSide).contains(height),
            extent.width > 0, extent.height > 0, extent.width.isFinite, extent.height.isFinite
        else { throw .size(width: width, height: height) }
        self.extent = extent
        self.width = width
        self.height = height
        self.dpi = min(max(dpi, 1), Limits.imageDPI)
        reference = extent.spatialReference
    }

    /// A frame of a scale around the middle of an extent.
    package init(
        center extent: Envelope, scale: Double, width: Int, height: Int, dpi: Double
    ) throws(DrawingError) {
        let unit = Self.metersPerUnit(extent.spatialReference)
        let resolution = scale * Self.metersPerInch / dpi / unit
        let (x, y) = ((extent.xMin + extent.xMax) / 2, (extent.yMin + extent.yMax) / 2)
        let (right, up) = (resolution * Double(width) / 2, resolution * Double(height) / 2)
        try self.init(
            exactly: Envelope(
                xMin: x - right, yMin: y - up, xMax: x + right, yMax: y + up,
                spatialReference: extent.spatialReference),
            width: width, height: height, dpi: dpi)
    }

    private static func fitted(_ extent: Envelope, width: Int, height: Int) -> Envelope {
        guard width > 0, height > 0, extent.width > 0 || extent.height > 0 else { return extent }
        let resolution = max(extent.width / Double(width), extent.height / Double(height))
        let (x, y) = ((extent.xMin + extent.xMax) / 2, (extent.yMin + extent.yMax) / 2)
        let (right, up) = (resolution * Double(width) / 2, resolution * Double(height) / 2)
        return Envelope(
            xMin: x - right, yMin: y - up, xMax: x + right, yMax: y + up, spatialReference: extent.spatialReference)
    }

    /// Units of the reference on a pixel.
    package var resolutionX: Double { extent.width / Double(width) }
    package var resolutionY: Double { extent.height / Double(height) }
    /// Pixels of the image on a pixel of 96 to the inch.
    package var symbolScale: Double { dpi / 96 }

    private static let metersPerDegree = 111_319.49079327358
    package static let metersPerInch = 0.0254

    private static func metersPerUnit(_ reference: SpatialReference?) -> Double {
        guard let reference else { return 1 }
        return reference.isGeographic ? metersPerDegree : reference.unitFactor
    }

    /// The denominator of the map's scale.
    package var scale: Double {
        resolutionX * Self.metersPerUnit(reference) * dpi / Self.metersPerInch
    }

    /// What of the plane the image shows, with so many pixels more on each side.
    package func grown(pixels: Double) -> Envelope {
        let (across, down) = (Double(width) / 2 + pixels, Double(height) / 2 + pixels)
        let (sine, cosine) = (abs(turn.sine), abs(turn.cosine))
        let right = (across * cosine + down * sine) * resolutionX
        let up = (across * sine + down * cosine) * resolutionY
        let (x, y) = ((extent.xMin + extent.xMax) / 2, (extent.yMin + extent.yMax) / 2)
        return Envelope(
            xMin: x - right, yMin: y - up, xMax: x + right, yMax: y + up, spatialReference: reference)
    }

    private var turn: (sine: Double, cosine: Double) {
        // Without a turn nothing is rounded.
        rotation == 0 ? (0, 1) : (sin(rotation * .pi / 180), cos(rotation * .pi / 180))
    }

    /// Finds the pixels of places.
    package var pixels: Pixels { Pixels(self, turn) }

    /// From places of the plane to pixels of the image: x to the right and y downwards.
    package struct Pixels: Sendable {
        private let left: Double
        private let top: Double
        private let perUnitX: Double
        private let perUnitY: Double
        private let middle: (x: Double, y: Double)
        private let turn: (sine: Double, cosine: Double)

        fileprivate init(_ frame: MapFrame, _ turn: (sine: Double, cosine: Double)) {
            (left, top) = (frame.extent.xMin, frame.extent.yMax)
            (perUnitX, perUnitY) = (1 / frame.resolutionX, 1 / frame.resolutionY)
            middle = (Double(frame.width) / 2, Double(frame.height) / 2)
            self.turn = turn
        }

        @inline(__always)
        package func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            let (column, row) = ((x - left) * perUnitX, (top - y) * perUnitY)
            guard turn.sine != 0 || turn.cosine != 1 else { return (column, row) }
            let (across, down) = (column - middle.x, row - middle.y)
            return (
                middle.x + across * turn.cosine + down * turn.sine, middle.y + down * turn.cosine - across * turn.sine
            )
        }
    }
}
