import FieldworkOSM
package import Foundation

/// Makes the features of a basemap of an OpenStreetMap extract, in four passes over its blocks: relations, the nodes that ways need,
/// nodes, ways. Ways that refer to nodes outside of the extract are drawn as far as they are known.
///
/// In memory are the places of the ways' nodes (17 bytes each), the relations that are drawn, and the node numbers of their ways.
package struct OSMBasemap {
    /// What the extract had, and what it lacked.
    package struct Report: Sendable {
        /// Nodes that ways refer to and the extract hasn't.
        package var missingNodes = 0
        /// Multipolygons of which ways are missing.
        package var openAreas = 0
        /// Coastlines end within the extract: no sea was drawn.
        package var hasOpenCoast = false
    }

    private struct Relation {
        var ways: [(id: Int64, isInner: Bool)]
        var templates: [OSMTemplate]
    }

    private let file: OSMFile
    private let progress: (BasemapMaker.Progress) -> Void
    private var relations: [Relation] = []
    /// Ways of relations, with their nodes once they have been read.
    private var members: [Int64: [Int64]] = [:]
    /// The highest level of administration that a way is a boundary of.
    private var boundaries: [Int64: Int] = [:]
    private var nodes = OSMNodes()
    private var coasts: [[Int64]] = []
    private var box: PlaneBox?
    private var report = Report()

    package static let attribution = "© OpenStreetMap contributors"

    /// Where the extract says that it lies; nil where it doesn't.
    package static func box(of url: URL) throws -> PlaneBox? {
        let file = OSMFile(url)
        try file.readHeader()
        return file.bounds.flatMap {
            TileSetDescription.box(west: $0.west, south: $0.south, east: $0.east, north: $0.north)
        }
    }

    /// Adds all features of an extract to a map.
    package static func read(
        _ url: URL, into maker: inout BasemapMaker, progress: @escaping (BasemapMaker.Progress) -> Void = { _ in }
    ) throws -> Report {
        var reading = OSMBasemap(file: OSMFile(url), progress: progress)
        return try reading.run(&maker)
    }

    private init(file: OSMFile, progress: @escaping (BasemapMaker.Progress) -> Void) {
        (self.file, self.progress) = (file, progress)
    }

    private mutating func run(_ maker: inout BasemapMaker) throws -> Report {
        progress(BasemapMaker.Progress(step: "Reading relations", count: 0))
        try readRelations()
        progress(BasemapMaker.Progress(step: "Reading ways", count: 0))
        try findNodes()
        nodes.prepare()
        progress(BasemapMaker.Progress(step: "Reading nodes", count: 0))
        try readNodes(&maker)
        report.missingNodes = nodes.missingCount
        try readWays(&maker)
        for relation in relations { try add(relation, to: &maker) }
        try addSea(to: &maker)
        return report
    }

    // MARK: Passes

    private mutating func readRelations() throws {
        var (relations, members, boundaries) = (relations, members, boundaries)
        try file.forEachBlock(with: .relations) { block in
            let reader = OSMObjectTags.Reader(block)
            try block.forEachRelation { _, ways, tags in
                guard let tags = reader.read(tags) else { return }
                let type = tags[.type]
                if type == "boundary" || tags[.boundary] == "administrative" {
                    guard tags[.boundary] == "administrative", let level = Int(tags[.adminLevel]) else { return }
                    for way in ways { boundaries[way.id] = min(boundaries[way.id] ?? level, level) }
                    return
                }
                guard type == "multipolygon" else { return }
                let templates = OSMTemplates.of(tags, on: .ring(isRelation: true))
                guard !templates.isEmpty else { return }
                let roles = ways.map { (id: $0.id, isInner: block.string($0.role) == "inner") }
                relations.append(Relation(ways: roles, templates: templates))
                for way in ways { members[way.id] = [] }
            }
        }
        (self.relations, self.members, self.boundaries) = (relations, members, boundaries)
    }

    private func isDrawn(_ id: Int64, _ refs: [Int64], _ tags: OSMObjectTags?) -> [OSMTemplate] {
        guard let tags else { return [] }
        let isRing = refs.count >= 4 && refs.first == refs.last
        return OSMTemplates.of(tags, on: isRing ? .ring(isRelation: false) : .line)
    }

    private mutating func findNodes() throws {
        var nodes = nodes
        try file.forEachBlock(with: .ways) { block in
            let reader = OSMObjectTags.Reader(block)
            try block.forEachWay { id, refs, tags in
                let tags = reader.read(tags)
                if members[id] != nil || boundaries[id] != nil || tags?[.natural] == "coastline"
                    || !isDrawn(id, refs, tags).isEmpty
                {
                    try nodes.need(refs)
                }
            }
        }
        self.nodes = nodes
    }

    private mutating func readNodes(_ maker: inout BasemapMaker) throws {
        var (nodes, box) = (nodes, box)
        try file.forEachBlock(with: .nodes) { block in
            let reader = OSMObjectTags.Reader(block)
            try block.forEachNode { id, x, y, tags in
                nodes.place(id, x, y)
                guard abs(x) <= 180, abs(y) <= 90 else { return }
                let (x, y) = (WebMercator.x(longitude: x), WebMercator.y(latitude: y))
                box =
                    box.map {
                        PlaneBox(
                            xMin: min($0.xMin, x), yMin: min($0.yMin, y), xMax: max($0.xMax, x), yMax: max($0.yMax, y))
                    } ?? PlaneBox(xMin: x, yMin: y, xMax: x, yMax: y)
                guard let tags = reader.read(tags) else { return }
                for template in OSMTemplates.of(tags, on: .node) {
                    try maker.add(template.feature(.point(x: x, y: y)))
                }
            }
        }
        (self.nodes, self.box) = (nodes, box)
    }

    private mutating func readWays(_ maker: inout BasemapMaker) throws {
        var (members, coasts) = (members, coasts)
        try file.forEachBlock(with: .ways) { block in
            let reader = OSMObjectTags.Reader(block)
            try block.forEachWay { id, refs, tags in
                let tags = reader.read(tags)
                if members[id] != nil { members[id] = refs }
                if tags?[.natural] == "coastline" { coasts.append(refs) }
                if let level = boundaries[id] { try addBoundary(refs, level, tags, to: &maker) }
                for template in isDrawn(id, refs, tags) { try add(template, way: refs, to: &maker) }
            }
        }
        (self.members, self.coasts) = (members, coasts)
    }

    // MARK: Adding

    private func place(_ node: Int64) -> (x: Double, y: Double)? {
        nodes.place(node).map { (WebMercator.x(longitude: $0.x), WebMercator.y(latitude: $0.y)) }
    }

    private func add(_ template: OSMTemplate, way: [Int64], to maker: inout BasemapMaker) throws {
        switch template.form {
        case .line:
            let shape = lines(way)
            if !shape.parts.isEmpty { try maker.add(template.feature(.line(shape))) }
        case .area, .point: try add(template, shape: area([way], inner: []), to: &maker)
        }
    }

    private func add(_ template: OSMTemplate, shape: TileShape, to maker: inout BasemapMaker) throws {
        guard let shell = shape.parts.first else { return }
        guard template.form == .point else { return try maker.add(template.feature(.area(shape))) }
        guard let place = AreaPlace.place(in: shape) else { return }
        var template = template
        if let pixels = template.largePixels {
            // The level at which the area has so many square pixels.
            let metres = (abs(AreaPlace.signedArea(shape, shell)) / pixels).squareRoot()
            let level = metres > 0 ? log2(WebMercator.resolution / metres).rounded(.up) : 99
            template.level = min(template.level, max(8, Int(min(level, 99))))
        }
        try maker.add(template.feature(.point(x: place.x, y: place.y)))
    }

    /// The line of a way; where nodes are missing it is interrupted.
    private func lines(_ way: [Int64]) -> TileShape {
        var shape = TileShape()
        var start = 0
        func end() {
            if shape.xs.count - start >= 2 { shape.parts.append(start..<shape.xs.count) }
            start = shape.xs.count
        }
        for node in way {
            guard let place = place(node) else {
                end()
                continue
            }
            shape.xs.append(place.x)
            shape.ys.append(place.y)
        }
        end()
        return shape
    }

    /// The area within rings; missing nodes are left out of them.
    private func area(_ outer: [[Int64]], inner: [[Int64]]) -> TileShape {
        let shells = outer.map(ring).filter { $0.parts.count == 1 }
        let holes = inner.map(ring).filter { $0.parts.count == 1 }
        let sizes = shells.map { abs(AreaPlace.signedArea($0, $0.parts[0])) }
        var holesOf = [[TileShape]](repeating: [], count: shells.count)
        for hole in holes {
            // A hole lies in the smallest shell around it.
            let around = shells.indices.filter { AreaPlace.contains(shells[$0], x: hole.xs[0], y: hole.ys[0]) }
            let home = around.min { sizes[$0] < sizes[$1] } ?? (shells.count == 1 ? 0 : nil)
            if let home { holesOf[home].append(hole) }
        }
        var shape = TileShape()
        func append(_ ring: TileShape, isShell: Bool) {
            shape.parts.append(shape.xs.count..<shape.xs.count + ring.xs.count)
            shape.areShells.append(isShell)
            shape.xs += ring.xs
            shape.ys += ring.ys
        }
        // The largest comes first: the name stands in it.
        for index in shells.indices.sorted(by: { sizes[$0] > sizes[$1] }) {
            append(shells[index], isShell: true)
            for hole in holesOf[index] { append(hole, isShell: false) }
        }
        return shape
    }

    private func ring(_ way: [Int64]) -> TileShape {
        var shape = TileShape()
        for node in way.dropLast() {
            guard let place = place(node) else { continue }
            shape.xs.append(place.x)
            shape.ys.append(place.y)
        }
        guard shape.xs.count >= 3 else { return TileShape() }
        shape.xs.append(shape.xs[0])
        shape.ys.append(shape.ys[0])
        shape.parts = [0..<shape.xs.count]
        return shape
    }

    private mutating func add(_ relation: Relation, to maker: inout BasemapMaker) throws {
        func rings(_ isInner: Bool) -> OSMRings {
            OSMRings(relation.ways.filter { $0.isInner == isInner }.compactMap { members[$0.id] }, turns: true)
        }
        let (outer, inner) = (rings(false), rings(true))
        if !outer.open.isEmpty || relation.ways.contains(where: { members[$0.id]?.isEmpty != false }) {
            report.openAreas += 1
        }
        guard !outer.closed.isEmpty else { return }
        let shape = area(outer.closed, inner: inner.closed)
        for template in relation.templates { try add(template, shape: shape, to: &maker) }
    }

    private func addBoundary(_ way: [Int64], _ level: Int, _ tags: OSMObjectTags?, to maker: inout BasemapMaker) throws
    {
        let levels = [2: 0, 3: 5, 4: 4, 5: 7, 6: 8, 7: 9, 8: 10]
        guard let first = levels[level] else { return }
        let shape = lines(way)
        guard !shape.parts.isEmpty else { return }
        var written = [MapFeature.Tag("level", .integer(Int64(level)))]
        if tags?.isYes(.isMaritime) == true || tags?[.natural] == "coastline" {
            written.append(MapFeature.Tag("maritime", .integer(1)))
        }
        let template = OSMTemplate(
            .boundary, .line, class: "", level: first, order: UInt32(level), tags: written)
        try maker.add(template.feature(.line(shape)))
    }

    private mutating func addSea(to maker: inout BasemapMaker) throws {
        guard !coasts.isEmpty, let box = try Self.box(of: file.url) ?? box else { return }
        let rings = OSMRings(coasts, turns: false)
        let sea = Sea((rings.closed + rings.open).map { $0.compactMap(place) }.filter { $0.count >= 2 }, in: box)
        report.hasOpenCoast = sea.hasGaps
        let template = OSMTemplate(.water, .area, class: "sea", level: 0)
        for shape in sea.shapes { try maker.add(template.feature(.area(shape))) }
    }
}

extension OSMTemplate {
    fileprivate func feature(_ shape: MapFeature.Shape) -> MapFeature {
        MapFeature(
            layer: layer.rawValue, tags: tags, shape: shape, level: level, leastPixels: leastPixels, order: order)
    }
}
