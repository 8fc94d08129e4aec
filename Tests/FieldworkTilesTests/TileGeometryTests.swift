import FieldworkTiles
import Testing

@Suite("Geometries of vector tiles")
struct TileGeometryTests {
    private static let world = TileAddress(level: 0, column: 0, row: 0)

    /// Places in units of the world's tile as metres of the plane.
    private static func shape(_ parts: [[(Double, Double)]], areShells: [Bool]? = nil) -> TileShape {
        let unit = 2 * WebMercator.halfSide / 4_096
        var shape = TileShape()
        for part in parts {
            let start = shape.xs.count
            shape.xs += part.map { -WebMercator.halfSide + $0.0 * unit }
            shape.ys += part.map { WebMercator.halfSide - $0.1 * unit }
            shape.parts.append(start..<shape.xs.count)
        }
        shape.areShells = areShells ?? parts.map { _ in true }
        return shape
    }

    private static func geometry(simplifies: Bool = false) throws -> TileGeometry {
        TileGeometry(address: try #require(world), margin: 64, simplifies: simplifies)
    }

    @Test("Commands are those of the format's own examples")
    func examples() throws {
        var geometry = try Self.geometry()
        let point = Self.shape([[(25, 17)]])
        geometry.point(point.xs[0], point.ys[0])
        #expect(geometry.commands == [9, 50, 34])
        geometry.lines(Self.shape([[(2, 2), (2, 10), (10, 10)]]))
        #expect(geometry.commands == [9, 4, 4, 18, 0, 16, 16, 0])
        geometry.polygons(Self.shape([[(3, 6), (8, 12), (20, 34), (3, 6)]]))
        #expect(geometry.commands == [9, 6, 12, 18, 10, 12, 24, 44, 15])
    }

    @Test("A line that collapses to a place is left out")
    func collapsed() throws {
        var geometry = try Self.geometry()
        geometry.lines(Self.shape([[(2, 2), (2.1, 2.1)]]))
        #expect(geometry.commands.isEmpty)
        geometry.polygons(Self.shape([[(2, 2), (3, 3), (2, 2)]]))
        #expect(geometry.commands.isEmpty)
    }

    @Test("Rings are wound as the format wants them, whichever way they come", arguments: [false, true])
    func winding(isReversed: Bool) throws {
        let shell = [(0.0, 0.0), (100, 0), (100, 100), (0, 100), (0, 0)]
        let hole = [(20.0, 20.0), (40, 20), (40, 40), (20, 40), (20, 20)]
        var geometry = try Self.geometry()
        let parts: [[(Double, Double)]] =
            isReversed ? [Array(shell.reversed()), Array(hole.reversed())] : [shell, hole]
        geometry.polygons(Self.shape(parts, areShells: [true, false]))
        let decoded = try Self.decoded(geometry, .polygon)
        #expect(decoded.count == 2)
        #expect(Self.area(decoded[0]) == 10_000)
        #expect(Self.area(decoded[1]) == -400)
    }

    @Test("A hole goes with its shell")
    func holes() throws {
        var geometry = try Self.geometry()
        let far = [(9_000.0, 9_000.0), (9_100, 9_000), (9_100, 9_100), (9_000, 9_000)]
        let near = [(10.0, 10.0), (20, 10), (20, 20), (10, 10)]
        let hole = [(9_010.0, 9_005.0), (9_020, 9_005), (9_020, 9_010), (9_010, 9_005)]
        geometry.polygons(Self.shape([far, hole, near], areShells: [true, false, true]))
        #expect(try Self.decoded(geometry, .polygon).count == 1)
    }

    @Test("A hole within the tile is left out when its shell lies outside")
    func holeWithoutShell() throws {
        var geometry = try Self.geometry()
        let far = [(9_000.0, 9_000.0), (9_100, 9_000), (9_100, 9_100), (9_000, 9_000)]
        let near = [(10.0, 10.0), (20, 10), (20, 20), (10, 10)]
        let hole = [(110.0, 105.0), (120, 105), (120, 110), (110, 105)]
        geometry.polygons(Self.shape([far, hole, near], areShells: [true, false, true]))
        #expect(try Self.decoded(geometry, .polygon).count == 1)
    }

    @Test("A line that leaves the tile and comes back is cut at the margin and has two parts")
    func clippedLine() throws {
        var geometry = try Self.geometry()
        geometry.lines(Self.shape([[(4_000, 100), (5_000, 100), (5_000, 200), (4_000, 200)]]))
        let parts = try Self.decoded(geometry, .line)
        #expect(parts == [[[4_000, 100], [4_160, 100]], [[4_160, 200], [4_000, 200]]])
    }

    @Test("A polygon around the whole tile becomes its square")
    func surrounded() throws {
        var geometry = try Self.geometry()
        let ring = [(-9_000.0, -9_000.0), (9_000, -9_000), (9_000, 9_000), (-9_000, 9_000), (-9_000, -9_000)]
        geometry.polygons(Self.shape([ring]))
        let parts = try Self.decoded(geometry, .polygon)
        #expect(parts.count == 1)
        #expect(Set(parts[0]) == [[-64, -64], [4_160, -64], [4_160, 4_160], [-64, 4_160]])
    }

    @Test("Both sides of a tile's edge see the same line where it crosses")
    func neighboursAgree() throws {
        let left = try #require(TileAddress(level: 3, column: 3, row: 3))
        let right = try #require(TileAddress(level: 3, column: 4, row: 3))
        var shape = TileShape()
        for step in 0...400 {
            let along = Double(step) / 400
            shape.xs.append(left.xMin + along * 2 * left.side)
            // A saw of many teeth, most of them smaller than what a level shows.
            shape.ys.append(left.yMax - left.side * (0.4 + 0.2 * along + Double(step % 7) * 0.0004))
        }
        shape.parts = [0..<shape.xs.count]
        func crossing(_ address: TileAddress, at edge: Int32) throws -> Double {
            var geometry = TileGeometry(address: address, margin: 64, simplifies: true)
            geometry.lines(shape)
            let part = try #require(try Self.decoded(geometry, .line).first)
            let index = try #require(part.indices.dropFirst().first { part[$0 - 1].x <= edge && part[$0].x >= edge })
            let (from, to) = (part[index - 1], part[index])
            let share = to.x == from.x ? 0 : Double(edge - from.x) / Double(to.x - from.x)
            return Double(from.y) + share * Double(to.y - from.y)
        }
        let (one, other) = (try crossing(left, at: 4_096), try crossing(right, at: 0))
        #expect(abs(one - other) <= 1, "\(one) and \(other)")
    }

    @Test("Small polygons together are drawn with the area that they have")
    func diffusion() throws {
        var geometry = try Self.geometry(simplifies: true)
        var area = 0.0
        for index in 0..<1_000 {
            let (x, y) = (Double(index % 100) * 20, Double(index / 100) * 20)
            geometry.polygons(Self.shape([[(x, y), (x + 4, y), (x + 4, y + 4), (x, y + 4), (x, y)]]))
            area += try Self.decoded(geometry, .polygon).reduce(0) { $0 + Self.area($1) }
        }
        #expect(abs(area - 16_000) <= 64)
    }

    @Test("Coordinates that are no numbers draw nothing", arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func notNumbers(value: Double) throws {
        var geometry = try Self.geometry()
        geometry.point(value, 0)
        #expect(geometry.commands.isEmpty)
        let shape = TileShape(xs: [0, value, 10], ys: [0, 5, 10], parts: [0..<3], areShells: [true])
        geometry.lines(shape)
        geometry.polygons(shape)
        if !(value.isFinite) { #expect(geometry.commands.isEmpty) }
        geometry.points([value], [value])
        #expect(geometry.commands.isEmpty)
    }

    @Test("A feature with more vertices than a renderer can number is cut, and this is known")
    func vertices() throws {
        var geometry = try Self.geometry()
        let zigzag = (0...FieldworkTiles.Limits.featureVertices).map { (Double($0 % 4_000), Double($0 % 2)) }
        geometry.lines(Self.shape([Array(zigzag.dropLast(2)), [(1, 5), (3, 9)]]))
        #expect(geometry.isCut)
        var whole = try Self.geometry()
        whole.lines(Self.shape([Array(zigzag.dropLast())]))
        #expect(!whole.isCut)
    }

    private static func decoded(_ geometry: TileGeometry, _ kind: VectorLayer.Kind) throws -> [[SIMD2<Int32>]] {
        var layer = VectorLayer(name: "x")
        layer.add(id: 1, kind: kind, commands: geometry.commands)
        var bytes: [UInt8] = []
        layer.append(to: &bytes)
        return try VectorTileReader(bytes).layers.first?.features.first?.parts ?? []
    }

    /// Positive for shells, with y downwards.
    private static func area(_ ring: [SIMD2<Int32>]) -> Double {
        var sum = 0.0
        for index in ring.indices {
            let (one, next) = (ring[index], ring[(index + 1) % ring.count])
            sum += Double(one.x) * Double(next.y) - Double(next.x) * Double(one.y)
        }
        return sum / 2
    }
}
