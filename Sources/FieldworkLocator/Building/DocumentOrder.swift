import FieldworkStore
import Foundation

/// The order of streets and places by their importance, which their ids follow: the full-text index gives the most important first,
/// without sorting.
struct DocumentOrder {
    /// The id of each street of the builder's register.
    private(set) var roads: [Int64]
    /// The id of each place, by its number in the working table less one.
    private(set) var places: [Int64]

    /// For each power of two the first id of what weighs no more: a place that was asked for by another name stands among lighter ones.
    private(set) var firstIDs: [Int64] = []

    private static let powers = 40

    private struct Entry {
        var weight: Float
        var road: Int32
        var place: Int32
    }

    init(_ builder: LocatorBuilder) throws {
        var entries: [Entry] = []
        for (id, road) in builder.roads.all.enumerated() {
            // A street of many houses stands beside a village of as many inhabitants.
            entries.append(Entry(weight: Float(road.addresses) + 0.5, road: Int32(id), place: -1))
        }
        try builder.connection.run("SELECT id, weight FROM stage_place") { _ in
        } row: {
            entries.append(Entry(weight: Float($0.double(1)), road: -1, place: Int32(clamping: $0.integer(0) - 1)))
        }
        entries.sort { ($1.weight, $0.road, $0.place) < ($0.weight, $1.road, $1.place) }
        firstIDs = (0..<Self.powers).map { power in
            Int64(entries.firstIndex { Double($0.weight) <= pow(2, Double(power)) } ?? entries.count) + 1
        }
        roads = Array(repeating: 0, count: builder.roads.all.count)
        places = Array(repeating: 0, count: entries.count - roads.count)
        for (index, entry) in entries.enumerated() {
            if entry.road >= 0 {
                roads[Int(entry.road)] = Int64(index + 1)
            } else if places.indices.contains(Int(entry.place)) {
                places[Int(entry.place)] = Int64(index + 1)
            }
        }
    }
}
