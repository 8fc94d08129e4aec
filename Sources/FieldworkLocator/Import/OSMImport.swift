import FieldworkOSM
package import Foundation

/// Reads addresses, streets and places of an OpenStreetMap extract into a locator, in three passes: relations, ways, nodes.
/// Ways that refer to nodes outside of the extract are cut there.
package struct OSMImport {
    private struct Way {
        var nodes: [Int64]
        var tags: OSMTags
    }

    private struct Area {
        var ways: [Int64]
        var tags: OSMTags
    }

    private struct House {
        var number: Int
        var tags: OSMTags
    }

    private let file: OSMFile
    private let builder: LocatorBuilder
    private var relations: [Area] = []
    private var memberWays: [Int64: [Int64]] = [:]
    private var streets: [Way] = []
    private var areas: [Way] = []
    private var interpolations: [Way] = []
    private var nodes = OSMNodes()
    private var houses: [Int64: House] = [:]

    package static func read(_ url: URL, into builder: LocatorBuilder) throws {
        var reading = OSMImport(file: OSMFile(url), builder: builder)
        try reading.run()
    }

    private init(file: OSMFile, builder: LocatorBuilder) {
        self.file = file
        self.builder = builder
    }

    private mutating func run() throws {
        try readRelations()
        try readWays()
        nodes.prepare()
        for street in streets { nodes.use(street.nodes) }
        try readNodes()
        for street in streets { try add(street: street) }
        for area in areas { try add(area.tags, rings: [area.nodes]) }
        for relation in relations { try add(relation.tags, rings: relation.ways.compactMap { memberWays[$0] }) }
        for way in interpolations { try add(interpolation: way) }
    }

    // MARK: Reading

    private mutating func readRelations() throws {
        var (found, members) = ([Area](), [Int64: [Int64]]())
        try file.forEachBlock(with: .relations) { block in
            let keys = OSMTags.Keys(block)
            try block.forEachRelation { _, ways, tags in
                guard let tags = OSMTags(tags, block, keys), tags[.highway].isEmpty,
                    !tags[.number].isEmpty || tags.place(x: 0, y: 0) != nil
                else { return }
                found.append(Area(ways: ways.map(\.id), tags: tags))
                for way in ways { members[way.id] = [] }
            }
        }
        (relations, memberWays) = (found, members)
    }

    private mutating func readWays() throws {
        var (streets, areas, interpolations) = ([Way](), [Way](), [Way]())
        var (members, nodes) = (memberWays, nodes)
        try file.forEachBlock(with: .ways) { block in
            let keys = OSMTags.Keys(block)
            try block.forEachWay { id, refs, tags in
                let tags = OSMTags(tags, block, keys)
                var isNeeded = false
                if members[id] != nil {
                    members[id] = refs
                    isNeeded = true
                }
                if let tags {
                    let way = Way(nodes: refs, tags: tags)
                    if !tags[.interpolation].isEmpty {
                        interpolations.append(way)
                        isNeeded = true
                    } else if tags.isNamedStreet {
                        streets.append(way)
                        isNeeded = true
                    } else if !tags[.number].isEmpty || tags.place(x: 0, y: 0) != nil {
                        areas.append(way)
                        isNeeded = true
                    }
                }
                if isNeeded { try nodes.need(refs) }
            }
        }
        (self.streets, self.areas, self.interpolations) = (streets, areas, interpolations)
        (memberWays, self.nodes) = (members, nodes)
    }

    private mutating func readNodes() throws {
        let onInterpolations = Set(interpolations.flatMap(\.nodes))
        let builder = builder
        var (nodes, houses) = (nodes, houses)
        try file.forEachBlock(with: .nodes) { block in
            let keys = OSMTags.Keys(block)
            try block.forEachNode { id, x, y, tags in
                nodes.place(id, x, y)
                guard !tags.isEmpty, let tags = OSMTags(tags, block, keys) else { return }
                if let address = tags.address(x: x, y: y) {
                    try builder.add(address)
                    if onInterpolations.contains(id), let number = HouseNumber(tags[.number]) {
                        houses[id] = House(number: number.value, tags: tags)
                    }
                }
                if let place = tags.place(x: x, y: y) { try builder.add(place) }
            }
        }
        (self.nodes, self.houses) = (nodes, houses)
    }

    // MARK: Adding

    /// A street in pieces between the nodes that it shares with others.
    private func add(street: Way) throws {
        var line: [Double] = []
        func finish() throws {
            if line.count >= 4 {
                try builder.add(
                    StreetRecord(
                        name: street.tags[.name], otherNames: street.tags.otherNames, zone: AddressZone(), line: line))
            }
            line = []
        }
        for (index, node) in street.nodes.enumerated() {
            guard let place = nodes.place(node) else {
                try finish()
                continue
            }
            line += [place.x, place.y]
            if index > 0, index < street.nodes.count - 1, nodes.isShared(node) {
                try finish()
                line = [place.x, place.y]
            }
        }
        try finish()
    }

    /// A building or an area, at its middle.
    private func add(_ tags: OSMTags, rings: [[Int64]]) throws {
        var box = PlaceExtent()
        var lines: [[Double]] = []
        for ring in rings {
            var line: [Double] = []
            for node in ring {
                guard let place = nodes.place(node) else { continue }
                box.take(place.x, place.y)
                line += [place.x, place.y]
            }
            // Only what is closed has an inside.
            if line.count >= 8, ring.first == ring.last { lines.append(line) }
        }
        guard !box.isEmpty else { return }
        let (x, y) = lines.first.map(Self.middle) ?? ((box.xMin + box.xMax) / 2, (box.yMin + box.yMax) / 2)
        if let address = tags.address(x: x, y: y) { try builder.add(address) }
        if let place = tags.place(x: x, y: y, rings: lines.count == rings.count ? lines : []) { try builder.add(place) }
    }

    private static func middle(_ ring: [Double]) -> (Double, Double) {
        var (x, y, count) = (0.0, 0.0, 0.0)
        for index in stride(from: 0, to: ring.count - 2, by: 2) {
            x += ring[index]
            y += ring[index + 1]
            count += 1
        }
        return (x / count, y / count)
    }

    /// A line along houses of which only some are drawn: a piece of the street with their numbers.
    private func add(interpolation way: Way) throws {
        var line: [Double] = []
        var start: House?
        for node in way.nodes {
            guard let place = nodes.place(node) else { continue }
            line += [place.x, place.y]
            guard let house = houses[node] else { continue }
            if let first = start, line.count >= 4, first.number != house.number {
                let parity: NumberRange.Parity? =
                    switch way.tags[.interpolation] {
                    case "odd": .odd
                    case "even": .even
                    case "all": .both
                    default: nil
                    }
                let street = house.tags[.street].isEmpty ? first.tags[.street] : house.tags[.street]
                try builder.add(
                    StreetRecord(
                        name: street, zone: house.tags.zone,
                        left: NumberRange(from: first.number, to: house.number, parity: parity), line: line))
            }
            start = house
            line = [place.x, place.y]
        }
    }
}
