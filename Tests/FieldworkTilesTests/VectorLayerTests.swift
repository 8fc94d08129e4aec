import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Testing

@Suite("Vector tiles")
struct VectorLayerTests {
    @Test("A layer is written as the format says, byte for byte")
    func bytes() {
        var layer = VectorLayer(name: "f")
        layer.tag("s", .integer(3))
        layer.add(id: 7, kind: .point, commands: [9, 50, 34])
        let expected: [UInt8] =
            [0x78, 2, 0x0a, 1, 0x66]
            + [0x12, 13, 0x08, 7, 0x12, 2, 0, 0, 0x18, 1, 0x22, 3, 9, 50, 34]
            + [0x1a, 1, 0x73, 0x22, 2, 0x28, 3, 0x28, 0x80, 0x20]
        var tile: [UInt8] = []
        layer.append(to: &tile)
        #expect(tile == [0x1a, UInt8(expected.count)] + expected)
    }

    @Test("A feature without geometry is left out with its attributes, and an empty layer is no layer")
    func empty() throws {
        var layer = VectorLayer(name: "f")
        layer.tag("a", .integer(1))
        layer.add(id: 1, kind: .line, commands: [])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        #expect(tile.isEmpty)
        layer.add(id: 2, kind: .point, commands: [9, 0, 0])
        layer.append(to: &tile)
        #expect(try VectorTileReader(tile).layers[0].features[0].attributes.isEmpty)
    }

    @Test("Attributes come back as they were, equal keys and values written once")
    func attributes() throws {
        var layer = VectorLayer(name: "Bäume")
        for id in Int64(1)...100 {
            layer.tag("kind", .text("Eiche"))
            layer.tag("height", .real(-1.5))
            layer.tag("year", .integer(-300))
            layer.add(id: id, kind: .point, commands: [9, 2, 2])
        }
        var tile: [UInt8] = []
        layer.append(to: &tile)
        #expect(tile.count < 100 * 20 + 80)
        let read = try VectorTileReader(tile).layers[0]
        #expect(read.name == "Bäume")
        #expect(read.features.count == 100)
        #expect(read.features[41].id == 42)
        #expect(
            read.features[99].attributes == ["kind": .text("Eiche"), "height": .real(-1.5), "year": .integer(-300)])
    }

    @Test("Thousands of different values come back with their own keys, in whatever order a feature names them")
    func manyValues() throws {
        func attributes(_ id: Int64) -> [(String, VectorLayer.Value)] {
            var attributes: [(String, VectorLayer.Value)] = [
                ("name", .text("Tree \(id * 7_919)")), ("half", .real(Double(id) / 2)),
                ("number", .integer(id.isMultiple(of: 2) ? id : -id)),
                ("long", .text(String(repeating: "ä", count: Int(id % 90)))),
            ]
            if id % 5 == 1 { attributes.remove(at: Int(id % 4)) }
            if id % 3 == 1 { attributes.swapAt(0, attributes.count - 1) }
            return attributes
        }
        var layer = VectorLayer(name: "f")
        for id in Int64(0)..<5_000 {
            for (key, value) in attributes(id) { layer.tag(key, value) }
            layer.add(id: id, kind: .point, commands: [9, 2, 2])
        }
        var tile: [UInt8] = []
        layer.append(to: &tile)
        let features = try VectorTileReader(tile).layers[0].features
        #expect(features.count == 5_000)
        for (id, feature) in features.enumerated() {
            let pairs = attributes(Int64(id)).map { key, value -> (String, AttributeValue) in
                switch value {
                case .text(let text): (key, .text(text))
                case .integer(let integer): (key, .integer(integer))
                case .real(let real): (key, .real(real))
                }
            }
            let expected = Dictionary(uniqueKeysWithValues: pairs)
            #expect(feature.attributes == expected, "feature \(id)")
        }
    }

    @Test("What only left out features said is not in the tile, and the others say what they said")
    func kept() throws {
        var layer = VectorLayer(name: "f")
        for id in Int64(0)..<1_000 {
            layer.tag("kind", .text("Eiche"))
            layer.tag("name", .text(String(repeating: "x", count: 100) + String(id)))
            if id == 3 { layer.tag("rare", .integer(1)) }
            layer.add(id: id, kind: .point, commands: [9, 2, 2])
        }
        let size = layer.size(0)
        #expect(size > 100, "a name that no other feature has goes with it")
        layer.keep((0..<1_000).map { $0 % 100 == 50 })
        #expect(layer.byteCount < 2_000)
        layer.tag("name", .text("new"))
        layer.add(id: 5_000, kind: .point, commands: [9, 2, 2])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        #expect(tile.count < 2_000)
        let read = try VectorTileReader(tile).layers[0]
        let ids: [UInt64] = [50, 150, 250, 350, 450, 550, 650, 750, 850, 950, 5_000]
        #expect(read.features.compactMap(\.id) == ids)
        #expect(read.features[1].attributes["name"]?.textValue?.hasSuffix("x150") == true)
        #expect(read.features[1].attributes["kind"] == .text("Eiche"))
        #expect(read.features[10].attributes == ["name": .text("new")])
    }

    @Test("A crowded layer keeps as many features as its bytes allow, though each has a name of its own")
    func pruned() throws {
        let definition = LayerDefinition(
            id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "Name", type: .string, length: 200),
            ])
        let address = try #require(TileAddress(level: TileLevels.deepest, column: 0, row: 0))
        var encoder = try TileFeatureEncoder(
            layer: definition, query: FeatureQuery(outFields: ["OBJECTID", "Name"]), address: address,
            maximumBytes: 20_000)
        let place = Point(
            x: address.xMin + address.side / 2, y: address.yMax - address.side / 2, spatialReference: .webMercator)
        let blob = GeoPackageBinary.blob(for: place, srsID: 3_857)
        for id in Int64(1)...2_000 {
            encoder.beginFeature()
            encoder.integer(id, column: 0)
            let name = Array((String(repeating: "n", count: 90) + String(id)).utf8)
            name.withUnsafeBytes { encoder.text($0, column: 1) }
            try blob.withUnsafeBytes { try encoder.geometry($0) }
            encoder.endFeature()
        }
        encoder.end(exceededTransferLimit: false)
        let layers = try VectorTileReader(encoder.bytes).layers
        let trees = try #require(layers.first { $0.name == "Trees" })
        #expect(encoder.bytes.count < 21_000)
        #expect((100...250).contains(trees.features.count), "\(trees.features.count)")
        let notice = try #require(layers.first { $0.name.hasPrefix(TileNotice.layerName) }?.features.first)
        #expect(notice.attributes["total"] == .integer(2_000))
    }

    @Test("Texts of features are whole characters, whatever their bytes are, and no longer than they may be")
    func texts() throws {
        let definition = LayerDefinition(
            id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "Name", type: .string, length: 1_000),
            ])
        let address = try #require(TileAddress(level: 14, column: 0, row: 0))
        var encoder = try TileFeatureEncoder(
            layer: definition, query: FeatureQuery(outFields: ["OBJECTID", "Name"]), address: address)
        let given: [([UInt8], String)] = [
            (Array("plain".utf8), "plain"), ([], ""), (Array("Bäume".utf8), "Bäume"),
            ([0x41, 0xFF, 0x42], "A\u{FFFD}B"),
            (Array(String(repeating: "ä", count: 300).utf8), String(repeating: "ä", count: 256)),
            (Array(String(repeating: "x", count: 256).utf8), String(repeating: "x", count: 256)),
            (Array(String(repeating: "x", count: 257).utf8), String(repeating: "x", count: 256)),
            (Array("plain".utf8), "plain"),
        ]
        for (number, (bytes, _)) in given.enumerated() {
            encoder.beginFeature()
            encoder.integer(Int64(number + 1), column: 0)
            bytes.withUnsafeBytes { encoder.text($0, column: 1) }
            let place = Point(
                x: address.xMin + address.side * Double(number + 1) / 10, y: address.yMax - address.side / 2,
                spatialReference: .webMercator)
            try GeoPackageBinary.blob(for: place, srsID: 3_857).withUnsafeBytes { try encoder.geometry($0) }
            encoder.endFeature()
        }
        encoder.end(exceededTransferLimit: false)
        let features = try VectorTileReader(encoder.bytes).layers[0].features
        #expect(features.map { $0.attributes["Name"] } == given.map { .text($0.1) })
    }

    @Test("Ids that JavaScript can't count are left out")
    func ids() throws {
        var layer = VectorLayer(name: "f")
        layer.add(id: 1 << 53, kind: .point, commands: [9, 2, 2])
        layer.add(id: 1 << 53 - 1, kind: .point, commands: [9, 2, 2])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        let features = try VectorTileReader(tile).layers[0].features
        #expect(features[0].id == nil)
        #expect(features[1].id == 1 << 53 - 1)
    }

    @Test("A tile that lies about itself is refused")
    func broken() {
        let lies: [[UInt8]] = [
            [0x1a, 0x7f, 0], [0xff], [0x1a, 8, 0x12, 6, 0x18, 2, 0x22, 2, 0xfa, 0xff],
            // Three steps where there is room for one; a line without a begin; an attribute that isn't there.
            [0x1a, 9, 0x12, 7, 0x18, 1, 0x22, 3, 25, 2, 2], [0x1a, 9, 0x12, 7, 0x18, 2, 0x22, 3, 10, 2, 2],
            [0x1a, 6, 0x12, 4, 0x12, 2, 0, 0],
        ]
        for lie in lies { #expect(throws: TileError.self, "\(lie)") { try VectorTileReader(lie) } }
    }

    @Test("A level that is crowded shows fewer with each step, and the same ones at all levels below")
    func thinning() {
        #expect(Thinning.steps(total: 20_000, width: 1e4, height: 1e4, level: 3) == 0)
        let far = Thinning.steps(total: 218_602, width: 3e4, height: 3e4, level: 8)
        let near = Thinning.steps(total: 218_602, width: 3e4, height: 3e4, level: 12)
        #expect(far > near)
        #expect(Thinning.steps(total: 218_602, width: 3e4, height: 3e4, level: 15) == 0)
        let shares = (1...3).map { steps in
            (Int64(1)...100_000).filter { id in Thinning.shows(id, steps: steps) }
        }
        for (index, shown) in shares.enumerated() {
            let expected = 100_000 / (1...(index + 1)).reduce(1.0) { power, _ in power * 2.5 }
            #expect(abs(Double(shown.count) - expected) / expected < 0.02)
        }
        #expect(Set(shares[2]).isSubset(of: shares[1]))
    }

    @Test("The condition by which a store finds the features of a crowded level chooses those that the tile shows")
    func thinningCondition() throws {
        #expect(Thinning.condition(steps: 0, field: "id") == nil)
        for steps in 1...4 {
            let condition = try #require(Thinning.condition(steps: steps, field: "id"))
            let different = (Int64(1)...5_000).filter { id in
                SQLEvaluator(now: 0) { _ in .integer(id) }.holds(condition) != Thinning.shows(id, steps: steps)
            }
            #expect(different.isEmpty, "\(steps): \(different.prefix(3))")
        }
    }

    @Test("Levels end where the grid does")
    func grid() throws {
        let world = try #require(TileAddress(level: 0, column: 0, row: 0))
        #expect(world.xMin == -WebMercator.halfSide)
        #expect(TileAddress(level: 0, column: 1, row: 0) == nil)
        #expect(TileAddress(level: FieldworkTiles.Limits.tileLevel, column: 0, row: 0) != nil)
        #expect(TileAddress(level: FieldworkTiles.Limits.tileLevel + 1, column: 0, row: 0) == nil)
        let tile = try #require(TileAddress(level: 16, column: 10_487, row: 23_449))
        #expect(tile.ancestor(level: 14) == TileAddress(level: 14, column: 2_621, row: 5_862))
        let (columns, rows) = tile.box.grown(by: -1).tiles(level: 16)
        #expect(columns == 10_487...10_487)
        #expect(rows == 23_449...23_449)
        #expect(WebMercator.level(scale: 0) == nil)
        #expect(WebMercator.level(scale: WebMercator.scale / 1_024) == 10)
    }

    @Test("Of many points on one spot a level shows the first few, up to the edge of what its tile reaches into")
    func crowded() throws {
        let definition = LayerDefinition(
            id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
            fields: [FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)])
        let address = try #require(TileAddress(level: 14, column: 3, row: 3))
        var encoder = try TileFeatureEncoder(
            layer: definition, query: FeatureQuery(outFields: ["OBJECTID"]), address: address)
        let margin = TileFeatureEncoder.margin(.point, address)
        // The corners of what is drawn, just inside, and the middle.
        let places = [
            (address.xMin - margin * 0.999, address.yMax + margin * 0.999),
            (address.xMin + address.side + margin * 0.999, address.yMax - address.side - margin * 0.999),
            (address.xMin + address.side / 2, address.yMax - address.side / 2),
        ]
        for id in Int64(0)..<60 {
            encoder.beginFeature()
            encoder.integer(id, column: 0)
            let (x, y) = places[Int(id % 3)]
            try GeoPackageBinary.blob(for: Point(x: x, y: y, spatialReference: .webMercator), srsID: 3_857)
                .withUnsafeBytes { try encoder.geometry($0) }
            encoder.endFeature()
        }
        encoder.end(exceededTransferLimit: false)
        let trees = try #require(try VectorTileReader(encoder.bytes).layers.first { $0.name == "Trees" })
        #expect(trees.features.map(\.id) == (0..<24).map { UInt64($0) })
    }
}
