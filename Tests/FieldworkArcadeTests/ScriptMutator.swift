import FieldworkArcade
import FieldworkGeometry

/// Makes scripts out of others: pieces cut out, doubled, exchanged and joined. The same seed gives the same scripts.
struct ScriptMutator {
    private let seeds: [[UInt8]]
    private var state: UInt64

    private static let pieces = [
        "(", ")", "[", "]", "{", "}", "`", "${", "'", "\"", "\\", ";", "\n", ",", "null", "$feature", "1e308", "-1",
        "0x7fffffff", "while(true){", "for(var i in ", "function f(x){return f(x)}f(1)", "var a=[];Push(a,a);a",
        "Infinity", "0/0", "9007199254740993", "[a,a]", "Text(", "Replace(", "Buffer(", "Polygon({rings:[[[0,0],[1,1],",
        "Date(", "DateAdd(", "Number(", "'#,##0.00'", "Sort(", "Array(1000000)", "Map(", "Reduce(", "é", "\u{1F309}",
        "/*",
        "++", "&&", "==", "return ", "Filter($layer,'a=@b')", "Dictionary(", "FromJSON('", "Split(", "Concatenate(",
    ].map { Array($0.utf8) }

    init(seeds: [[UInt8]], seed: UInt64) {
        self.seeds = seeds
        state = seed
    }

    private mutating func number(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return bound > 0 ? Int((state >> 33) % UInt64(bound)) : 0
    }

    mutating func next() -> String {
        var text = seeds[number(below: seeds.count)]
        for _ in 0...number(below: 6) {
            let start = number(below: text.count + 1)
            let end = min(text.count, start + number(below: 12))
            switch number(below: 6) {
            case 0: text.removeSubrange(start..<end)
            case 1: text.insert(contentsOf: Self.pieces[number(below: Self.pieces.count)], at: start)
            case 2: text.insert(contentsOf: text[start..<end], at: start)
            case 3:
                let other = seeds[number(below: seeds.count)]
                text.replaceSubrange(start..<end, with: other[..<number(below: other.count + 1)])
            case 4: text += Array(";".utf8) + seeds[number(below: seeds.count)]
            default: if start < text.count { text[start] = UInt8(32 + number(below: 95)) }
            }
            if text.count > 4_000 { text.removeLast(text.count - 4_000) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A feature for scripts that nobody wrote.
enum FuzzFeature {
    static let feature = ArcadeFeature(
        schema: ArcadeSchema(fields: [
            ArcadeField(name: "objectid", type: "esriFieldTypeOID"),
            ArcadeField(name: "dbh", type: "esriFieldTypeDouble"),
            ArcadeField(name: "species", type: "esriFieldTypeString"),
            ArcadeField(name: "planted", type: "esriFieldTypeDate"),
        ]), values: [.number(7), .number(12.5), .text("ACMA"), .number(1_262_304_000_000)],
        geometry: Point(x: -122.6, y: 45.5, spatialReference: .wgs84))
}
