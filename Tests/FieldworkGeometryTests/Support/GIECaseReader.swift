import Foundation

/// One place of PROJ's conformance files and where it lies in another reference.
struct GIECase {
    var file: String
    var line: Int
    var source: Int
    var target: Int
    var accepted: [Double]
    var expected: [Double]
    /// In metres for plane results, in degrees for geographic ones.
    var tolerance: Double
}

/// Reads the cases that go from one register number to another: two steps, the first backwards. Other operations name
/// projections by their parameters, which spatial references of features don't.
enum GIECaseReader {
    static func cases(in file: URL) -> [GIECase] {
        guard let text = try? String(contentsOf: file, encoding: .isoLatin1) else { return [] }
        var cases: [GIECase] = []
        var numbers: (source: Int, target: Int)?
        var tolerance = 0.0005
        var accepted: [Double] = []
        let lines = text.replacing("\\\n", with: " ").split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let verb = words.first else { continue }
            switch verb {
            case "operation": (numbers, tolerance) = (pair(words), 0.0005)
            case "tolerance": tolerance = metres(words.dropFirst()) ?? tolerance
            case "accept": accepted = words.dropFirst().prefix(2).compactMap { Double($0) }
            case "expect":
                let expected = words.dropFirst().prefix(2).compactMap { Double($0) }
                guard let numbers, accepted.count == 2, expected.count == 2 else { continue }
                cases.append(
                    GIECase(
                        file: file.lastPathComponent, line: index + 1, source: numbers.source, target: numbers.target,
                        accepted: accepted, expected: expected, tolerance: tolerance))
            default: continue
            }
        }
        return cases
    }

    private static func pair(_ words: [Substring]) -> (source: Int, target: Int)? {
        let steps = words.split(separator: "+step").dropFirst()
        guard steps.count == 2, let first = steps.first, let last = steps.last, first.contains("+inv"),
            !last.contains("+inv"), let source = number(first), let target = number(last)
        else { return nil }
        return (source, target)
    }

    /// Only bare register numbers: a step with further parameters is another reference.
    private static func number(_ step: ArraySlice<Substring>) -> Int? {
        let rest = step.filter { $0 != "+inv" }
        guard rest.count == 1, let word = rest.first, word.hasPrefix("+init=epsg:") else { return nil }
        return Int(word.dropFirst("+init=epsg:".count))
    }

    private static func metres(_ words: ArraySlice<Substring>) -> Double? {
        guard let value = words.first.flatMap({ Double($0) }) else { return nil }
        switch words.dropFirst().first {
        case "mm": return value / 1_000
        case "cm": return value / 100
        case "um": return value / 1_000_000
        case "km": return value * 1_000
        default: return value
        }
    }
}
