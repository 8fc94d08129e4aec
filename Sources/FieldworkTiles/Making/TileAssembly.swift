import FieldworkREST

/// Puts the parts of features that lie in one tile together. Those of one layer with the same attributes become one feature: lines
/// are joined, areas and points stand beside each other.
struct TileAssembly {
    /// Names of layers in the order in which they stand in tiles.
    let layers: [String]
    /// Layers whose lines have a direction that matters.
    let directed: Set<String>

    private struct Group {
        var kind: VectorLayer.Kind
        var tags: ArraySlice<UInt8>
        var parts: [(part: TilePart, isShell: Bool)]
    }

    private struct GroupKey: Hashable {
        var kind: UInt64
        var tags: ArraySlice<UInt8>
    }

    /// What a tile was made of, and how much of it fits.
    struct Tile {
        var bytes: [UInt8]
        /// Records that were left out since the tile would have been too large.
        var omitted: Int
    }

    typealias Note = (_ layer: String, _ tags: [(key: String, value: VectorLayer.Value)]) -> Void

    /// The compressed tile; its bytes are empty when nothing of it can be drawn.
    func tile(_ records: [TileSpill.Record], note: Note) throws -> Tile {
        var share = 1.0
        while true {
            let (kept, omitted) = share < 1 ? least(records, share) : (records, 0)
            let bytes = try encoded(kept, note: note)
            guard !bytes.isEmpty else { return Tile(bytes: [], omitted: omitted) }
            let packed = try GzipStream.compressed(bytes, level: 9)
            // Bytes grow about as features do.
            if packed.count <= Limits.tileBytes || share < 0.001 { return Tile(bytes: packed, omitted: omitted) }
            share *= min(0.9, 0.95 * Double(Limits.tileBytes) / Double(packed.count))
        }
    }

    /// Leaves out what comes last in each layer that has many features.
    private func least(_ records: [TileSpill.Record], _ share: Double) -> ([TileSpill.Record], Int) {
        var kept: [TileSpill.Record] = []
        var start = 0
        while start < records.count {
            let layer = records[start].rank >> 32
            let end = records[start...].firstIndex { $0.rank >> 32 != layer } ?? records.count
            let count = max(min(100, end - start), Int(Double(end - start) * share))
            kept += records[start..<start + count]
            start = end
        }
        return (kept, records.count - kept.count)
    }

    private func encoded(_ records: [TileSpill.Record], note: Note) throws -> [UInt8] {
        var tile: [UInt8] = []
        var groups: [Group] = []
        var places: [GroupKey: Int] = [:]
        var current: Int?
        func finish() throws {
            defer {
                groups.removeAll(keepingCapacity: true)
                places.removeAll(keepingCapacity: true)
            }
            guard let current, layers.indices.contains(current), !groups.isEmpty else { return }
            var layer = VectorLayer(name: layers[current])
            for group in groups { try add(group, to: &layer, name: layers[current], note: note) }
            layer.append(to: &tile)
        }
        for record in records {
            let layer = Int(record.rank >> 32)
            if layer != current {
                try finish()
                current = layer
            }
            let content = try PartBytes.read(record.bytes)
            let key = GroupKey(kind: content.kind.rawValue, tags: content.tags)
            if let index = places[key] {
                groups[index].parts += content.parts
            } else {
                places[key] = groups.count
                groups.append(Group(kind: content.kind, tags: content.tags, parts: content.parts))
            }
        }
        try finish()
        return tile
    }

    private func add(_ group: Group, to layer: inout VectorLayer, name: String, note: Note) throws {
        let tags = try PartBytes.readTags(group.tags)
        var commands = TileCommands()
        commands.begin()
        var vertices = 0
        func end() {
            for tag in tags { layer.tag(tag.key, tag.value) }
            layer.add(id: nil, kind: group.kind, commands: commands.list)
            commands.begin()
            vertices = 0
        }
        switch group.kind {
        case .point:
            let places = group.parts.flatMap(\.part.places)
            for start in stride(from: 0, to: places.count, by: Limits.featureVertices) {
                commands.points(Array(places[start..<min(start + Limits.featureVertices, places.count)]))
                end()
            }
        case .line:
            for line in LineJoiner.joined(group.parts.map(\.part), keepsDirection: directed.contains(name)) {
                if vertices > 0, vertices + line.places.count > Limits.featureVertices { end() }
                // A renderer can number no more.
                for start in stride(from: 0, to: line.places.count - 1, by: Limits.featureVertices - 1) {
                    if start > 0 { end() }
                    let last = min(start + Limits.featureVertices, line.places.count)
                    commands.line(Array(line.places[start..<last]))
                    vertices += last - start
                }
            }
            end()
        case .polygon:
            for (index, ring) in group.parts.enumerated() {
                // A shell keeps its holes.
                if vertices > 0, ring.isShell, vertices + ring.part.places.count > Limits.featureVertices / 2 { end() }
                guard vertices + ring.part.places.count <= Limits.featureVertices || index == 0 else { continue }
                commands.ring(ring.part.places)
                vertices += ring.part.places.count
            }
            end()
        }
        note(name, tags)
    }
}
