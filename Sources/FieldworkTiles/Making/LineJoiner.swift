/// Joins lines that meet end to end, so that a street is one line however often the data cuts it: its name is drawn once, and the
/// tile is smaller.
enum LineJoiner {
    /// - Parameter keepsDirection: joins an end to a beginning only; else lines may be turned.
    static func joined(_ lines: [TilePart], keepsDirection: Bool) -> [TilePart] {
        guard lines.count > 1 else { return lines }
        var lines = lines
        var isOpen = [Bool](repeating: true, count: lines.count)
        // The lines that begin or end at a place.
        var ends: [UInt64: [Int]] = [:]
        ends.reserveCapacity(2 * lines.count)
        for (index, line) in lines.enumerated() {
            guard let first = line.places.first, let last = line.places.last else { continue }
            ends[key(first), default: []].append(index)
            if key(first) != key(last) { ends[key(last), default: []].append(index) }
        }
        var result: [TilePart] = []
        for index in lines.indices where isOpen[index] {
            isOpen[index] = false
            var line = lines[index]
            grow(&line, &lines, &isOpen, ends, keepsDirection)
            if !keepsDirection {
                line.places.reverse()
                grow(&line, &lines, &isOpen, ends, keepsDirection)
                line.places.reverse()
            }
            result.append(line)
        }
        return result
    }

    /// Goes on from the end of a line as long as another begins there.
    private static func grow(
        _ line: inout TilePart, _ lines: inout [TilePart], _ isOpen: inout [Bool], _ ends: [UInt64: [Int]],
        _ keepsDirection: Bool
    ) {
        while let last = line.places.last {
            let next = ends[key(last)]?.first { other in
                guard isOpen[other], let first = lines[other].places.first, let end = lines[other].places.last else {
                    return false
                }
                return first == last || (!keepsDirection && end == last)
            }
            guard let next else { return }
            isOpen[next] = false
            if let first = lines[next].places.first, first != last { lines[next].places.reverse() }
            line.places += lines[next].places.dropFirst()
        }
    }

    private static func key(_ place: (x: Int32, y: Int32)) -> UInt64 {
        UInt64(UInt32(bitPattern: place.x)) << 32 | UInt64(UInt32(bitPattern: place.y))
    }
}
