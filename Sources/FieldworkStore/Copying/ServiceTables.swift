import FieldworkREST

/// All tables that make a service, on one store: those of `storage.md` without what a store keeps for itself.
struct ServiceTables {
    let catalogue: ServiceCatalogue
    let connection: StoreConnection
    let former: FormerLayers

    init(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws {
        self.init(catalogue, former: try FormerLayers.read(catalogue, on: connection), on: connection)
    }

    /// - Parameter former: what the history keeps of layers and fields that are gone, where it is known from elsewhere.
    init(_ catalogue: ServiceCatalogue, former: FormerLayers, on connection: StoreConnection) {
        self.catalogue = catalogue
        self.former = former
        self.connection = connection
    }

    /// Contents of attachments, whose bytes are copied apart.
    static let contents = CopiedTable(
        label: AttachmentTables.media, name: AttachmentTables.media,
        columns: [.integer("id"), .text("content_type"), .text("sha256")], isNumbered: true)

    /// Without contents; those that are there.
    func all() throws -> [CopiedTable] {
        var tables = try Self.bookkeeping.filter { try connection.hasTable($0.name) }
        for definition in catalogue.definition.layers {
            let layer = try catalogue.layer(definition.id)
            tables += [features(of: layer), history(of: layer)]
        }
        tables += former.histories.map(\.table)
        for id in try attachmentLayers() { tables += Self.attachments(of: id) }
        return tables
    }

    private static func table(
        _ name: String, _ integers: [String], _ texts: [String] = [], keyCount: Int = 1
    ) -> CopiedTable {
        CopiedTable(
            label: name, name: name, columns: integers.map { .integer($0) } + texts.map { .text($0) },
            keyCount: keyCount)
    }

    private static let bookkeeping = [
        table("fieldwork_counts", ["layer_id", "row_count"]),
        table("fieldwork_generations", ["generation"], ["moment", "editor"]),
        table("fieldwork_generation_origins", ["generation"], ["replica_id"]),
        table("fieldwork_definitions", ["generation"], ["definition"]),
        table(
            "fieldwork_changes",
            [
                "layer_id", "object_id", "generation", "operation", "changed_1", "changed_2", "changed_3", "changed_4",
            ], keyCount: 4),
        table("fieldwork_log_floors", ["layer_id", "generation"]),
        table("fieldwork_field_slots", ["layer_id", "slot"], ["field"], keyCount: 2),
        CopiedTable(
            label: EditTurns.table, name: EditTurns.table,
            columns: [.text("sender"), .integer("turn"), .text("moment")]),
        table("fieldwork_replicas", [], ["replica_id", "name", "definition", "last_sync", "state"]),
        CopiedTable(
            label: "fieldwork_replica_layers", name: "fieldwork_replica_layers",
            columns: [.text("replica_id"), .integer("layer_id"), .integer("generation")], keyCount: 2),
        table("fieldwork_uploads", [], ["replica_id", "upload_id", "moment", "results"], keyCount: 2),
        CopiedTable(
            label: "fieldwork_conflicts", name: "fieldwork_conflicts",
            columns: [.integer("conflict_id"), .integer("layer_id"), .integer("object_id")]
                + ["global_id", "kind", "rule", "winner", "state", "lost", "won", "moment"].map { .text($0) },
            isNumbered: true),
        table(AttachmentTables.uses, ["media_id", "uses"]),
        table(
            AttachmentTables.changes, ["layer_id", "generation", "attachment_id", "operation", "changed_content"],
            keyCount: 4),
    ]

    // MARK: Layers

    private func features(of layer: StoredLayer) -> CopiedTable {
        let key = layer.columns[layer.objectIDIndex]
        let rest = layer.columns.filter { $0.isStored && $0.name != key.name }
        return CopiedTable(
            label: "features \(layer.definition.id)", name: layer.tableName,
            columns: [key] + rest + (layer.geometryColumn.map { [.geometry($0)] } ?? []), isNumbered: true,
            reference: layer.definition.spatialReference, srsID: layer.srsID)
    }

    private func history(of layer: StoredLayer) -> CopiedTable {
        let values = layer.columns.filter { $0.isStored && $0.name != layer.objectIDColumn }
        return CopiedTable(
            label: layer.historyTable, name: layer.historyTable,
            columns: FormerLayers.versionColumns + values + (layer.geometryColumn.map { [.geometry($0)] } ?? [])
                + (former.removedColumns[layer.definition.id] ?? []),
            isNumbered: true, reference: layer.definition.spatialReference, srsID: layer.srsID)
    }

    // MARK: Attachments

    /// The layers that have or had attachments, also those that are gone.
    func attachmentLayers() throws -> [Int] {
        let prefix = "fieldwork_attachments_"
        return try connection.texts(connection.dialect.attachmentTables)
            .compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }.sorted()
    }

    private static func attachments(of id: Int) -> [CopiedTable] {
        let whole = ["attachmentid", "base_id", "related_id", "data_size"]
        let kept = AttachmentTables.kept.map { whole.contains($0) ? StoredColumn.integer($0) : .text($0) }
        let version = ["fieldwork_version", "fieldwork_generation", "fieldwork_operation", "fieldwork_with_feature"]
        return [
            CopiedTable(
                label: "attachments \(id)", name: "fieldwork_attachments_\(id)", columns: kept, isNumbered: true),
            CopiedTable(
                label: "attachment history \(id)", name: "fieldwork_attachment_history_\(id)",
                columns: version.map { .integer($0) } + kept, isNumbered: true),
        ]
    }
}
