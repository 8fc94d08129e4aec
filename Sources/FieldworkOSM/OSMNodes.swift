/// The places of the nodes that ways refer to: sorted by id, 17 bytes each.
package struct OSMNodes {
    private var ids: [Int64] = []
    private var xs: [Int32] = []
    private var ys: [Int32] = []
    /// How many streets use a node, up to two.
    private var uses: [UInt8] = []
    private static let unknown = Int32.min

    package init() {}

    /// Takes the nodes of all ways, before any is looked up.
    package mutating func need(_ nodes: [Int64]) throws {
        ids.append(contentsOf: nodes)
        guard ids.count <= Limits.openStreetMapNodes else {
            throw OSMError(
                .tooLarge,
                """
                The ways of the extract have more than \(Limits.openStreetMapNodes) points. Use parts of it: osmium extract cuts \
                them out.
                """)
        }
    }

    package mutating func prepare() {
        ids.sort()
        var unique: [Int64] = []
        unique.reserveCapacity(ids.count)
        for id in ids where unique.last != id { unique.append(id) }
        ids = unique
        xs = Array(repeating: Self.unknown, count: ids.count)
        ys = xs
        uses = Array(repeating: 0, count: ids.count)
    }

    private func index(_ id: Int64) -> Int? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }

    package mutating func use(_ nodes: [Int64]) {
        for node in nodes { if let index = index(node) { uses[index] = min(2, uses[index] + 1) } }
    }

    package mutating func place(_ id: Int64, _ x: Double, _ y: Double) {
        guard abs(x) <= 180, abs(y) <= 90, let index = index(id) else { return }
        xs[index] = Int32((x * 1e7).rounded())
        ys[index] = Int32((y * 1e7).rounded())
    }

    /// nil for a node that the extract has not.
    package func place(_ id: Int64) -> (x: Double, y: Double)? {
        guard let index = index(id), xs[index] != Self.unknown else { return nil }
        return (Double(xs[index]) / 1e7, Double(ys[index]) / 1e7)
    }

    /// How many of the nodes the extract has not.
    package var missingCount: Int { xs.count { $0 == Self.unknown } }

    package func isShared(_ id: Int64) -> Bool { index(id).map { uses[$0] > 1 } ?? false }
}
