import FieldworkDrawing
import FieldworkGeometry
import Testing

@Suite("Frames of images")
struct MapFrameTests {
    private static func extent(_ xMax: Double, _ yMax: Double, _ reference: SpatialReference = .webMercator) -> Envelope
    {
        Envelope(xMin: 0, yMin: 0, xMax: xMax, yMax: yMax, spatialReference: reference)
    }

    @Test("An extent grows to the sides of the image around its middle")
    func fits() throws {
        let frame = try MapFrame(extent: Self.extent(200, 100), width: 100, height: 100, dpi: 96)
        #expect((frame.extent.yMin, frame.extent.yMax) == (-50, 150))
        #expect(frame.resolutionX == 2)
    }

    @Test("The scale follows from the pixels of an inch and from the unit of the reference")
    func scale() throws {
        let frame = try MapFrame(extent: Self.extent(100, 100), width: 100, height: 100, dpi: 254)
        #expect(abs(frame.scale - 10_000) < 1e-9)
        let degrees = try MapFrame(extent: Self.extent(1, 1, .wgs84), width: 100, height: 100, dpi: 254)
        #expect(abs(degrees.scale - 111_319.49079327358 * 100) < 1e-3)
    }

    @Test("A frame of a scale has that scale, around the middle of the extent")
    func ofScale() throws {
        let frame = try MapFrame(center: Self.extent(10, 20), scale: 5_000, width: 300, height: 200, dpi: 96)
        #expect(abs(frame.scale - 5_000) < 1e-9)
        #expect(abs(frame.extent.xMin + frame.extent.xMax - 10) < 1e-9)
    }

    @Test("A frame without a size or an extent, or with very many pixels, is refused")
    func refused() {
        #expect(throws: DrawingError.self) { try MapFrame(extent: Self.extent(1, 1), width: 0, height: 9, dpi: 96) }
        #expect(throws: DrawingError.self) { try MapFrame(extent: Self.extent(1, 1), width: 9_999, height: 9, dpi: 96) }
        #expect(throws: DrawingError.self) { try MapFrame(extent: Self.extent(0, 0), width: 9, height: 9, dpi: 96) }
    }
}
