package import FieldworkGeometry

/// What an image shows: a part of a plane, and how many pixels it takes.
package struct MapFrame: Sendable {
    /// In the reference of the image.
    package let extent: Envelope
    package let width: Int
    package let height: Int
    /// Pixels to the inch: symbols grow with it.
    package let dpi: Double
    package let reference: SpatialReference?

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

    /// The extent with so many pixels more on each side.
    package func grown(pixels: Double) -> Envelope {
        let (right, up) = (pixels * resolutionX, pixels * resolutionY)
        return Envelope(
            xMin: extent.xMin - right, yMin: extent.yMin - up, xMax: extent.xMax + right, yMax: extent.yMax + up,
            spatialReference: reference)
    }
}
