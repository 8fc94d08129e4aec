import Foundation
import TestSupport
import Testing

@testable import FieldworkGeometry

@Suite("Projection")
struct ProjectionTests {
    private func reference(_ number: Int) throws -> SpatialReference {
        let wkid = try #require(WKID(number))
        return try #require(SpatialReference(wkid: wkid))
    }

    @Test("WGS 84 to Web Mercator and back by formula gives known places")
    func mercator() throws {
        let portland = Point(latitude: 45.5231, longitude: -122.6765)
        let plane = try #require(GeometryEngine.project(portland, into: .webMercator))
        #expect(abs(plane.x - -13_656_285.5) < 1)
        #expect(abs(plane.y - 5_703_175) < 2_000)
        let back = try #require(GeometryEngine.project(plane, into: .wgs84))
        #expect(abs(back.x - portland.x) < 1e-12 && abs(back.y - portland.y) < 1e-12)
        let edge = try #require(
            GeometryEngine.project(Point(latitude: 0, longitude: 180), into: .webMercator))
        #expect(abs(edge.x - 20_037_508.342789244) < 1e-6)
    }

    @Test("The formula agrees with PROJ to a nanometre", arguments: 0..<50)
    func formulaAgainstLibrary(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let (x, y) = (
            Double.random(in: -180...180, using: &generator), Double.random(in: -85...85, using: &generator)
        )
        let plane = try #require(GeometryEngine.project(Point(latitude: y, longitude: x), into: .webMercator))
        let text = """
            PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",\
            SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],\
            PROJECTION["Mercator_Auxiliary_Sphere"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],\
            PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],\
            PARAMETER["Auxiliary_Sphere_Type",0.0],UNIT["Meter",1.0]]
            """
        let reference = try #require(SpatialReference(wkText: text))
        let library = try #require(GeometryEngine.project(Point(latitude: y, longitude: x), into: reference))
        #expect(abs(library.x - plane.x) < 1e-8 && abs(library.y - plane.y) < 1e-7)
    }

    @Test("State plane feet of Oregon North agree with the published conversion")
    func statePlane() throws {
        // EPSG:2913 in international feet; the false origin is 2,500,000 m east at 120.5° W, 43 2/3° N.
        let origin = Point(latitude: 43 + 2.0 / 3, longitude: -120.5)
        let plane = try #require(GeometryEngine.project(origin, into: try reference(2_913)))
        #expect(abs(plane.x - 8_202_099.7375) < 5)
        #expect(abs(plane.y) < 5)
        #expect(try reference(2_913).isProjected)
        #expect(abs(try reference(2_913).unitFactor - 0.3048) < 1e-9)
    }

    @Test("The vendor's own numbers and both dialects of well-known text are known")
    func registers() throws {
        #expect(try reference(102_003).isProjected)
        #expect(try reference(4_269).isGeographic)
        let esri = """
            PROJCS["WGS_1984_UTM_Zone_10N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,\
            298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],\
            PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],\
            PARAMETER["Central_Meridian",-123.0],PARAMETER["Scale_Factor",0.9996],\
            PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]
            """
        let custom = try #require(SpatialReference(wkText: esri))
        let point = Point(latitude: 45, longitude: -122)
        let byText = try #require(GeometryEngine.project(point, into: custom))
        let byNumber = try #require(GeometryEngine.project(point, into: try reference(32_610)))
        #expect(abs(byText.x - byNumber.x) < 1e-3 && abs(byText.y - byNumber.y) < 1e-3)
    }

    @Test("An unknown number is no reference, and says so in the protocol's reader")
    func unknown() throws {
        let wkid = try #require(WKID(99_999))
        #expect(SpatialReference(wkid: wkid) == nil)
        #expect(WKID(0) == nil && WKID(-4_326) == nil)
        #expect(throws: GeometryError.self) { try GeoServicesJSON.spatialReference(from: 99_999) }
    }

    @Test(
        "Text that is not well-known text, or that reaches for a file, is no reference",
        arguments: [
            "", "EPSG:4326", "WGS84", "+proj=longlat +nadgrids=/etc/passwd", "+init=/etc/passwd:1",
            "+proj=pipeline +step +proj=hgridshift +grids=/etc/passwd",
            #"GEOGCS["x",DATUM["x",SPHEROID["x",6378137,298.25],EXTENSION["PROJ4_GRIDS","/etc/passwd"]],UNIT["d",0.017]]"#,
            #"GEOGCS["x",DATUM["x",SPHEROID["x",6378137,298.25]],UNIT["d",0.017],EXTENSION["PROJ4","+nadgrids=/etc/passwd"]]"#,
            "GEOGCS[" + String(repeating: "A[", count: 200), String(repeating: "GEOGCS", count: 10_000),
        ])
    func refusedText(text: String) {
        #expect(SpatialReference(wkText: text) == nil)
    }

    @Test("A place that the target does not have gives nothing, not a wrong place")
    func outOfRange() throws {
        #expect(GeometryEngine.project(Point(latitude: 90, longitude: 0), into: .webMercator) == nil)
        #expect(GeometryEngine.project(Point(x: .infinity, y: 0, spatialReference: .wgs84), into: .webMercator) == nil)
        #expect(GeometryEngine.project(Point(x: 1, y: 2), into: .wgs84) == nil)
    }

    @Test("An envelope's projection holds the projections of its inner points")
    func envelopes() throws {
        let albers = try reference(5_070)
        let box = Envelope(xMin: -110, yMin: 30, xMax: -80, yMax: 45, spatialReference: .wgs84)
        let projected = try #require(GeometryEngine.project(box, into: albers))
        // The southern side sags in the middle, far below its ends.
        let sag = try #require(GeometryEngine.project(Point(latitude: 30, longitude: -96), into: albers))
        for longitude in [-110.0, -80] {
            let corner = try #require(
                GeometryEngine.project(Point(latitude: 30, longitude: longitude), into: albers))
            #expect(corner.y > sag.y + 50_000)
        }
        #expect(projected.yMin <= sag.y + 1_000)
        for latitude in stride(from: 30.0, through: 45, by: 2.5) {
            for longitude in stride(from: -110.0, through: -80, by: 2.5) {
                let inner = try #require(
                    GeometryEngine.project(Point(latitude: latitude, longitude: longitude), into: albers))
                #expect(inner.x >= projected.xMin - 1_000 && inner.x <= projected.xMax + 1_000)
                #expect(inner.y >= projected.yMin - 1_000 && inner.y <= projected.yMax + 1_000)
            }
        }
        #expect(projected.spatialReference == albers)
    }

    @Test("The sides of an envelope bulge, to the north as to the south, and its projection holds them")
    func bulgingSides() throws {
        let zone = try reference(32_633)
        for (yMin, yMax) in [(40.0, 60.0), (5, 80)] {
            let box = Envelope(xMin: 6, yMin: yMin, xMax: 24, yMax: yMax, spatialReference: .wgs84)
            let projected = try #require(GeometryEngine.project(box, into: zone))
            for part in 0...180 {
                for latitude in [yMin, yMax] {
                    let place = try #require(
                        GeometryEngine.project(
                            Point(latitude: latitude, longitude: 6 + Double(part) / 10), into: zone))
                    // A thousandth of the box is what the densified sides may miss.
                    let slack = 0.001 * (projected.yMax - projected.yMin)
                    #expect(place.y >= projected.yMin - slack && place.y <= projected.yMax + slack)
                    #expect(place.x >= projected.xMin - slack && place.x <= projected.xMax + slack)
                }
            }
        }
    }

    @Test("With a chosen datum transformation a place stays where it is, there and back")
    func chosenDatumThereAndBack() throws {
        let old = try reference(4_267)
        let boston = Point(x: -71, y: 42.3, spatialReference: old)
        let steps = TransformationCatalog.transformationsBySuitability(from: old, to: .wgs84)
            .filter { !$0.isMissingProjectionEngineFiles }
        #expect(!steps.isEmpty)
        let back = TransformationCatalog.transformationsBySuitability(from: .wgs84, to: old)
        for step in steps {
            guard let place = GeometryEngine.project(boston, into: .wgs84, datumTransformation: step) else { continue }
            // The two data of North America lie some ten metres apart there.
            #expect(abs(place.x + 71) < 0.005 && abs(place.y - 42.3) < 0.005, "\(step.name)")
            guard let inverse = back.first(where: { $0.name == "Inverse of \(step.name)" }),
                let again = GeometryEngine.project(place, into: old, datumTransformation: inverse)
            else { continue }
            #expect(abs(again.x - boston.x) < 1e-6 && abs(again.y - boston.y) < 1e-6, "\(step.name)")
        }
        let used = steps.compactMap { GeometryEngine.project(boston, into: .wgs84, datumTransformation: $0) }
        #expect(!used.isEmpty)
    }

    @Test("A chosen shift of a datum moves a place by what its published parameters say")
    func chosenShift() throws {
        // EPSG:1133 moves the geocentre by -87, -98 and -121 m; at 45° N, 5° E that is 109 m to the south and 90 m to the west.
        let old = try reference(4_230)
        let step = try #require(
            TransformationCatalog.transformationsBySuitability(from: old, to: .wgs84)
                .first { $0.name == "ED50 to WGS 84 (1)" })
        let place = try #require(
            GeometryEngine.project(Point(x: 5, y: 45, spatialReference: old), into: .wgs84, datumTransformation: step))
        #expect(abs(place.x - (5 - 0.00114)) < 0.00002 && abs(place.y - (45 - 0.00098)) < 0.00002)
    }

    @Test("Many tasks project at once and agree")
    func concurrently() async throws {
        let target = try reference(32_610)
        let expected = try #require(GeometryEngine.project(Point(latitude: 45, longitude: -122), into: target))
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    (0..<200).filter { _ in
                        GeometryEngine.project(Point(latitude: 45, longitude: -122), into: target) != expected
                    }.count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test("The caller may choose the datum transformation, and is told what is missing")
    func datumChoice() throws {
        let nad27 = try reference(4_267)
        let all = TransformationCatalog.transformationsBySuitability(from: nad27, to: .wgs84)
        #expect(all.count > 10)
        let best = try #require(TransformationCatalog.transformation(from: nad27, to: .wgs84))
        #expect(!best.isMissingProjectionEngineFiles)
        let denver = Point(x: -105, y: 40, spatialReference: nad27)
        let usable = all.filter { !$0.isMissingProjectionEngineFiles }.prefix(8)
        let places = usable.compactMap {
            GeometryEngine.project(denver, into: .wgs84, datumTransformation: $0)
        }
        #expect(places.count == usable.count)
        // Each is a transformation of its own, and all stay within 200 m of the old coordinates.
        #expect(Set(places).count > 3)
        for place in places { #expect(abs(place.x + 105) < 0.002 && abs(place.y - 40) < 0.002) }
        for missing in all.filter(\.isMissingProjectionEngineFiles).prefix(1) {
            #expect(GeometryEngine.project(denver, into: .wgs84, datumTransformation: missing) == nil)
        }
        // A step of the way between projected references is chosen by the same value.
        let zone = Point(x: 500_000, y: 4_427_757, spatialReference: try reference(26_713))
        let whole = TransformationCatalog.transformationsBySuitability(from: try reference(26_713), to: .webMercator)
            .filter { !$0.isMissingProjectionEngineFiles }
        let chosen = try #require(all.first { step in whole.contains { $0.name.contains("+ \(step.name) +") } })
        #expect(GeometryEngine.project(zone, into: .webMercator, datumTransformation: chosen) != nil)
        let other = try #require(
            TransformationCatalog.transformation(from: try reference(4_277), to: .wgs84))
        #expect(GeometryEngine.project(denver, into: .wgs84, datumTransformation: other) == nil)
    }

    @Test(
        "The register tells which references write the latitude or the northing first",
        arguments: [
            (4_326, true), (4_258, true), (2_193, true), (31_468, true), (3_857, false), (102_100, false),
            (25_832, false), (3_031, false), (2_913, false),
        ])
    func axisOrder(number: Int, isNorthFirst: Bool) throws {
        let reference = try #require(WKID(number).flatMap { SpatialReference(wkid: $0) })
        #expect(reference.isNorthFirst == isNorthFirst)
    }
}
