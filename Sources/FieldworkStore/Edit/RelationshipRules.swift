import FieldworkREST

/// What the relationships of a service mean for edits, worked out once for each definition.
struct RelationshipRules: Sendable {
    private let layers: [Int: LayerRelationships]
    /// Origins before their destinations, and both before the tables between them.
    private let ranks: [Int: Int]

    var isEmpty: Bool { layers.isEmpty }

    func layer(_ id: Int) -> LayerRelationships? { layers[id] }
    func rank(of layerID: Int) -> Int { ranks[layerID] ?? 0 }

    init(_ catalogue: ServiceCatalogue) {
        var layers: [Int: LayerRelationships] = [:]
        var arrows: [(from: Int, to: Int)] = []
        for definition in catalogue.definition.layers {
            for end in definition.relationships where end.role == .origin {
                guard let path = RelationshipPath(end, of: definition, in: catalogue.definition),
                    let relationship = StoredRelationship(end, path, catalogue)
                else { continue }
                let (origin, destination) = (path.sourceLayerID, path.relatedLayerID)
                if let table = relationship.table {
                    let ends = (
                        LayerRelationships.Link.End(relationship.origin, table.origin),
                        LayerRelationships.Link.End(relationship.destination, table.destination)
                    )
                    layers[origin, default: LayerRelationships()].links.append(.init(ends.0, other: ends.1))
                    layers[destination, default: LayerRelationships()].links.append(.init(ends.1, other: ends.0))
                    layers[table.origin.layer.definition.id, default: LayerRelationships()].references += [
                        .init(table.origin, to: relationship.origin),
                        .init(table.destination, to: relationship.destination),
                    ]
                    for end in [origin, destination] { arrows.append((end, table.origin.layer.definition.id)) }
                } else {
                    layers[origin, default: LayerRelationships()].children.append(relationship)
                    layers[destination, default: LayerRelationships()].parents.append(relationship)
                    layers[destination, default: LayerRelationships()].references
                        .append(.init(relationship.destination, to: relationship.origin))
                    arrows.append((origin, destination))
                }
            }
        }
        self.layers = layers
        ranks = Self.ranks(arrows)
    }

    /// As far as circles allow: each round lets an arrow lift what it points to.
    private static func ranks(_ arrows: [(from: Int, to: Int)]) -> [Int: Int] {
        var ranks: [Int: Int] = [:]
        for _ in 0..<min(arrows.count, Limits.layersPerService) {
            var isSettled = true
            for (from, to) in arrows where from != to && ranks[to, default: 0] <= ranks[from, default: 0] {
                ranks[to] = ranks[from, default: 0] + 1
                isSettled = false
            }
            if isSettled { break }
        }
        return ranks
    }
}

/// The relationships of one layer or table, by the part that it has in them.
struct LayerRelationships: Sendable {
    /// Those in which this layer is the destination.
    var parents: [StoredRelationship] = []
    /// Those in which it is the origin.
    var children: [StoredRelationship] = []
    /// Many-to-many: its own key and the other side's, and where the table between holds them.
    var links: [Link] = []
    /// Columns of this layer or table that hold the key of another row.
    var references: [Reference] = []

    struct Link: Sendable {
        struct End: Sendable {
            let key: KeyColumn
            let inTable: KeyColumn

            init(_ key: KeyColumn, _ inTable: KeyColumn) {
                self.key = key
                self.inTable = inTable
            }
        }

        let end: End
        let other: End
        var own: KeyColumn { end.key }
        var inTable: KeyColumn { end.inTable }

        init(_ end: End, other: End) {
            self.end = end
            self.other = other
        }
    }

    struct Reference: Sendable {
        let column: Int
        let target: KeyColumn

        init(_ key: KeyColumn, to target: KeyColumn) {
            column = key.index
            self.target = target
        }
    }

    var isOrigin: Bool { !children.isEmpty || !links.isEmpty }
}

/// A column that holds a key.
struct KeyColumn: Sendable {
    enum Meaning: Sendable, Hashable {
        case objectID, globalID, field
    }

    let layer: StoredLayer
    let index: Int

    var name: String { layer.columns[index].name }
    var sql: String { quoted(name) }
    var table: String { quoted(layer.tableName) }
    var objectID: String { quoted(layer.objectIDColumn) }

    var meaning: Meaning {
        if index == layer.objectIDIndex { return .objectID }
        return index == layer.globalIDIndex ? .globalID : .field
    }

    init?(_ name: String, of layer: StoredLayer) {
        guard let index = layer.index(of: name), layer.columns[index].isStored else { return nil }
        self.layer = layer
        self.index = index
    }

    /// Whether a row holds a value.
    /// - Parameter objectID: a row that does not count.
    func holds(_ value: AttributeValue, except objectID: Int64? = nil, on connection: StoreConnection) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM \(table) WHERE \(sql) = ?1 AND \(self.objectID) IS DISTINCT FROM ?2 LIMIT 1"
        ) {
            try $0.bind(value, at: 1)
            if let objectID { try $0.bind(objectID, at: 2) }
        } != nil
    }
}

/// A relationship with the columns of both its sides.
struct StoredRelationship: Sendable {
    let name: String
    let origin: KeyColumn
    let destination: KeyColumn
    let isComposite: Bool
    let isOneToOne: Bool
    let deletion: RelationshipDefinition.OriginDeletion
    let table: (origin: KeyColumn, destination: KeyColumn)?

    init?(_ end: RelationshipDefinition, _ path: RelationshipPath, _ catalogue: ServiceCatalogue) {
        guard let originLayer = catalogue.layers[path.sourceLayerID],
            let destinationLayer = catalogue.layers[path.relatedLayerID],
            let origin = KeyColumn(path.sourceKey, of: originLayer),
            let destination = KeyColumn(path.relatedKey, of: destinationLayer)
        else { return nil }
        name = end.name
        self.origin = origin
        self.destination = destination
        isComposite = end.isComposite
        isOneToOne = end.cardinality == .oneToOne
        deletion = end.originDeletion
        guard let through = path.through else {
            table = nil
            return
        }
        guard let layer = catalogue.layers[through.layerID], let near = KeyColumn(through.sourceKey, of: layer),
            let far = KeyColumn(through.relatedKey, of: layer)
        else { return nil }
        table = (near, far)
    }

    /// Whether the destination's key can be emptied.
    var canClearKey: Bool {
        destination.meaning == .field && destination.layer.columns[destination.index].field.isNullable
    }
}
