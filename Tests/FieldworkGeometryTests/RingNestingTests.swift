import Testing

@testable import FieldworkGeometry

@Suite("Shells and holes")
struct RingNestingTests {
    private func polygon(_ rings: String) throws -> Polygon {
        let json = try JSONParser.parse(#"{"rings":\#(rings)}"#)
        return try #require(try GeoServicesJSON.geometry(from: json) as? Polygon)
    }

    private static let shell = "[[0,0],[0,9],[9,9],[9,0],[0,0]]"
    private static let hole = "[[2,2],[7,2],[7,7],[2,7],[2,2]]"

    @Test("A hole goes to the shell around it, whatever way the rings turn and whatever their order")
    func anyWinding() throws {
        let (shell, hole) = (Self.shell, Self.hole)
        let turnedShell = "[[0,0],[9,0],[9,9],[0,9],[0,0]]"
        let turnedHole = "[[2,2],[2,7],[7,7],[7,2],[2,2]]"
        for rings in [
            [shell, hole], [shell, turnedHole], [turnedShell, hole], [turnedShell, turnedHole], [hole, shell],
        ] {
            let polygon = try polygon("[\(rings.joined(separator: ","))]")
            #expect(RingWinding.polygons(of: polygon).map(\.count) == [2])
            #expect(GeometryEngine.area(of: polygon) == 56)
        }
    }

    @Test("An island in a hole is a polygon of its own")
    func island() throws {
        let polygon = try polygon("[\(Self.shell),\(Self.hole),[[4,4],[4,5],[5,5],[5,4],[4,4]]]")
        #expect(RingWinding.polygons(of: polygon).map(\.count) == [2, 1])
        #expect(GeometryEngine.area(of: polygon) == 57)
    }

    @Test("A hole that touches its shell at its first vertex is still its hole")
    func touching() throws {
        let polygon = try polygon("[\(Self.shell),[[0,0],[5,2],[5,5],[0,0]]]")
        #expect(RingWinding.polygons(of: polygon).map(\.count) == [2])
    }

    @Test("Separate shells stay separate")
    func separate() throws {
        let polygon = try polygon("[\(Self.shell),[[20,0],[20,9],[29,9],[29,0],[20,0]]]")
        #expect(RingWinding.polygons(of: polygon).map(\.count) == [1, 1])
    }

    @Test("GeoJSON and well-known binary wind shells counter-clockwise, the protocol clockwise")
    func windings() throws {
        let polygon = try polygon("[\(Self.shell)]")
        #expect(WellKnownText.text(of: polygon) == "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))")
        var bytes: [UInt8] = []
        GeoJSONCodec.append(polygon, to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}"#)
        let read = try #require(try WellKnownText.geometry(from: "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))"))
        #expect(RingWinding.signedArea(read.vertices, 0..<4) < 0)
    }

    @Test("Fifty thousand rings are sorted out while one waits")
    func many() throws {
        var vertices = Vertices(partStarts: [])
        for number in 0..<50_000 {
            vertices.partStarts.append(vertices.count)
            let (x, y) = (Double(number % 250) * 10, Double(number / 250) * 10)
            for (dx, dy) in [(0.0, 0.0), (0, 5), (5, 5), (5, 0)] {
                vertices.append(x: x + dx, y: y + dy, z: nil, m: nil)
            }
        }
        let polygon = Polygon(vertices: vertices, spatialReference: nil)
        #expect(RingWinding.polygons(of: polygon).count == 50_000)
    }
}
