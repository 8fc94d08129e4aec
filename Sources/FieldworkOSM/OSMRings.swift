/// Joins ways end to end into rings, as multipolygons and coastlines are drawn.
package struct OSMRings: Sendable {
    /// Nodes of rings; the first stands again at the end.
    package private(set) var closed: [[Int64]] = []
    /// What has two ends: ways that the extract has not would go on there.
    package private(set) var open: [[Int64]] = []

    /// - Parameter turns: ways may be turned; those of a coastline may not, since the sea lies to their right.
    package init(_ ways: [[Int64]], turns: Bool) {
        var rest: [[Int64]] = []
        for way in ways where way.count >= 2 {
            if way.first == way.last { closed.append(way) } else { rest.append(way) }
        }
        var ends: [Int64: [Int]] = [:]
        for (index, way) in rest.enumerated() {
            ends[way[0], default: []].append(index)
            if turns { ends[way[way.count - 1], default: []].append(index) }
        }
        // A line may begin in the midst of a chain: what ends where it begins is put before it.
        var starts: [Int64: [Int]] = [:]
        if !turns { for (index, way) in rest.enumerated() { starts[way[way.count - 1], default: []].append(index) } }
        var isFree = [Bool](repeating: true, count: rest.count)
        for index in rest.indices where isFree[index] {
            isFree[index] = false
            var line = rest[index]
            while line.first != line.last, let last = line.last,
                let next = ends[last]?.first(where: { isFree[$0] })
            {
                isFree[next] = false
                line += (rest[next].first == last ? rest[next] : rest[next].reversed()).dropFirst()
            }
            var before: [[Int64]] = []
            var first = line[0]
            while first != line[line.count - 1],
                let next = (turns ? ends : starts)[first]?.first(where: { isFree[$0] })
            {
                isFree[next] = false
                let way = rest[next].last == first ? rest[next] : rest[next].reversed()
                before.append(way.dropLast())
                first = way[0]
            }
            line = before.reversed().flatMap { $0 } + line
            if line.first == line.last { closed.append(line) } else { open.append(line) }
        }
    }
}
