package import FieldworkGeometry
package import Foundation

/// Writes a replica, the answer to a synchronisation or a list of changes as JSON, piece by
/// piece: the rows of a replica are never in memory as a whole.
package struct ReplicaDocument: ChangeSink {
    package enum Form: Sendable, Hashable {
        case replica, synchronisation, changes
    }

    /// Which changes are wanted, and how.
    package struct ChangeOptions: Sendable, Hashable {
        package var returnsAdds = true
        package var returnsUpdates = true
        package var returnsDeletes = true
        package var returnsIDsOnly = false
        package var returnsHasGeometryUpdates = false
    }

    /// How the contents of attachments come.
    package enum AttachmentContents: Sendable, Hashable {
        /// In the document, as base64.
        case embedded
        /// As addresses under that of the layer.
        case addresses(layer: String)
    }

    private let form: Form
    private let model: ReplicaDefinition.SyncModel
    private let head: JSONObject
    private let layerIDs: [Int]
    private let write: @Sendable ([UInt8]) throws -> Void
    package var options = ChangeOptions()
    /// Generations of layers that are not read: their client has got nothing new.
    package var keptGenerations: [Int: Int64] = [:]
    /// What became of the edits that were handed in.
    package var results: [Int: LayerEditResults] = [:]
    package var returnsIDsForAdds = false
    /// By layer and object id, what deleted features were before; nil: ids are enough.
    package var deletedFeatures: [Int: [Int64: JSONValue]]?
    /// The address of the service under which attachments are had; nil for embedded ones.
    package var attachmentBase: String?

    /// The state that was read.
    package private(set) var generation: Int64 = 0
    private var bytes: [UInt8] = []
    private var openList: String?
    private var closedLists: Set<String> = []
    private var isFirstLayer = true
    private var hasHead = false
    private var hasFeatures = false
    private var deletes: [DeletedFeature] = []
    private var hasEdits = false
    private var hasWholeLayers = false
    private var isDelta = false
    private var layerID = 0
    private var layer: LayerDefinition?
    /// The list of attachments that is open, and whether it has any yet.
    private var openAttachments: ChangedFeatures?
    private var hasAttachments = false

    /// - Parameters:
    ///   - head: members that are known before anything is read.
    ///   - layerIDs: the layers whose generations are told.
    ///   - write: takes pieces of the document.
    package init(
        _ form: Form, model: ReplicaDefinition.SyncModel, head: JSONObject, layerIDs: [Int],
        write: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.form = form
        self.model = model
        self.head = head
        self.layerIDs = layerIDs
        self.write = write
    }

    private static let pieceSize = 256 * 1_024

    private mutating func flush(_ limit: Int = pieceSize) throws {
        guard bytes.count >= limit, !bytes.isEmpty else { return }
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    // MARK: The whole

    package mutating func begin(generation: Int64) throws {
        self.generation = generation
        var object = head
        for member in generations.members { object.append(member.key, member.value) }
        JSONValue.object(object).write(to: &bytes)
        // The object stays open for the layers.
        bytes.removeLast()
    }

    /// The generations that the client has once it has taken over the document.
    package var generations: JSONObject {
        var object = JSONObject()
        switch model {
        case .none: break
        case .perReplica: object.append("replicaServerGen", .integer(keptGenerations.values.min() ?? generation))
        case .perLayer:
            object.append(
                "layerServerGens",
                .array(
                    layerIDs.map { id in
                        ["id": JSONValue(id), "serverGen": .integer(keptGenerations[id] ?? generation)]
                    }))
        }
        return object
    }

    private mutating func open(_ list: String) {
        guard openList != list else { return }
        closeList()
        append(bytes.last == 0x7B ? "\"\(list)\":[" : ",\"\(list)\":[")
        openList = list
        isFirstLayer = true
    }

    private mutating func closeList() {
        guard let list = openList else { return }
        append("]")
        closedLists.insert(list)
        openList = nil
    }

    package mutating func end() throws {
        closeList()
        let expected = form == .replica ? "layers" : "edits"
        if !closedLists.contains(expected) { append(",\"\(expected)\":[]") }
        append(",\"responseType\":\"\(responseType)\"}")
        try flush(1)
    }

    /// What kind of document it became.
    package var responseType: String {
        switch form {
        case .replica: "esriReplicaResponseTypeData"
        case .changes: "esriDataChangesResponseTypeEdits"
        case .synchronisation:
            switch (hasEdits, hasWholeLayers) {
            case (true, true): "esriReplicaResponseTypeEditsAndData"
            case (true, false): "esriReplicaResponseTypeEdits"
            case (false, true): "esriReplicaResponseTypeData"
            case (false, false): "esriReplicaResponseTypeNoEdits"
            }
        }
    }

    // MARK: Layers

    package mutating func beginLayer(_ layer: LayerDefinition, delta: LayerDelta?) throws {
        isDelta = delta != nil
        layerID = layer.id
        self.layer = layer
        openAttachments = nil
        open(isDelta ? "edits" : "layers")
        if isFirstLayer { isFirstLayer = false } else { append(",") }
        append("{\"id\":\(layer.id),")
        hasHead = false
        hasFeatures = false
        guard let delta else {
            hasWholeLayers = true
            return
        }
        if !delta.isEmpty || results[layer.id] != nil { hasEdits = true }
        deletes = options.returnsDeletes ? delta.deletes : []
        if options.returnsIDsOnly {
            append("\"objectIds\":")
            let ids: JSONValue = [
                "adds": .array((options.returnsAdds ? delta.adds : []).map { .integer($0) }),
                "updates": .array((options.returnsUpdates ? delta.updates : []).map { .integer($0) }),
                "deletes": .array(deletes.map { .integer($0.objectID) }),
            ]
            ids.write(to: &bytes)
        } else {
            append("\"features\":{\"adds\":[")
        }
        if options.returnsHasGeometryUpdates { pendingMember = "\"hasGeometryUpdates\":\(delta.hasGeometryUpdates)" }
    }

    private var pendingMember: String?

    package mutating func encoder(
        for kind: ChangedFeatures, of layer: LayerDefinition, query: FeatureQuery
    ) throws -> FeatureListEncoder? {
        switch kind {
        case .adds: if !options.returnsAdds || options.returnsIDsOnly { return nil }
        case .updates: if !options.returnsUpdates || options.returnsIDsOnly { return nil }
        case .all: try writeHead(layer, query)
        }
        return try FeatureListEncoder(layer: layer, query: query, continues: hasFeatures)
    }

    /// What a whole layer says of its features.
    private mutating func writeHead(_ layer: LayerDefinition, _ query: FeatureQuery) throws {
        guard !hasHead else { return }
        hasHead = true
        var encoder = try JSONFeatureEncoder(layer: layer, query: query)
        encoder.begin()
        bytes.append(contentsOf: encoder.bytes.dropFirst())
    }

    package mutating func features(_ piece: [UInt8]) throws {
        if !piece.isEmpty { hasFeatures = true }
        bytes.append(contentsOf: piece)
        try flush()
    }

    package mutating func endFeatures(_ kind: ChangedFeatures) throws {
        hasFeatures = false
        switch kind {
        case .all:
            if !hasHead { append("\"features\":[") }
            append("]")
        case .adds: if !options.returnsIDsOnly { append("],\"updates\":[") }
        case .updates:
            guard !options.returnsIDsOnly else { return }
            append("],")
            try writeDeletes()
            append("}")
        }
    }

    private mutating func writeDeletes() throws {
        guard let known = deletedFeatures?[layerID] else {
            append("\"deleteIds\":")
            let ids = deletes.map { deleted in
                deleted.globalID.map { JSONValue.string(GUID.normalForm($0)) } ?? .integer(deleted.objectID)
            }
            JSONValue.array(ids).write(to: &bytes)
            return
        }
        append("\"deletes\":[")
        for (index, deleted) in deletes.enumerated() {
            if index > 0 { append(",") }
            (known[deleted.objectID] ?? named(deleted)).write(to: &bytes)
            try flush()
        }
        append("]")
    }

    /// A deleted feature of which no more is known than its ids.
    private func named(_ deleted: DeletedFeature) -> JSONValue {
        var attributes = JSONObject()
        if let layer { attributes.append(layer.objectIDField, .integer(deleted.objectID)) }
        if let field = layer?.globalIDField, let id = deleted.globalID {
            attributes.append(field, .string(GUID.normalForm(id)))
        }
        return ["attributes": .object(attributes)]
    }

    package mutating func endLayer(_ layer: LayerDefinition) throws {
        if isDelta {
            if openAttachments == nil { append(",\"attachments\":{\"adds\":[],\"updates\":[],\"deleteIds\":[]}") }
            if let pendingMember { append(",\(pendingMember)") }
            if let results = results[layer.id] { writeResults(results) }
        } else {
            append(openAttachments == nil ? ",\"attachments\":[]" : "]")
            if let results = results[layer.id] { writeResults(results) }
        }
        pendingMember = nil
        append("}")
        try flush()
    }

    /// Results are told for adds when asked for, and for all that failed.
    private mutating func writeResults(_ results: LayerEditResults) {
        let lists = [
            ("addResults", results.adds, returnsIDsForAdds), ("updateResults", results.updates, false),
            ("deleteResults", results.deletes, false),
        ]
        for (name, items, tellsAll) in lists {
            append(",\"\(name)\":")
            JSONValue.array(items.filter { tellsAll || !$0.isSuccess }.map(EditAnswer.json)).write(to: &bytes)
        }
        guard !results.attachments.all.isEmpty else { return }
        var told = results.attachments
        if !returnsIDsForAdds { told.adds.removeAll(where: \.isSuccess) }
        told.updates.removeAll(where: \.isSuccess)
        told.deletes.removeAll(where: \.isSuccess)
        append(",\"attachmentResults\":")
        AttachmentAnswer.results(told).write(to: &bytes)
    }

    // MARK: Attachments

    package mutating func beginAttachments(_ kind: ChangedFeatures) throws {
        switch kind {
        case .all: append(",\"attachments\":[")
        case .adds: append(",\"attachments\":{\"adds\":[")
        case .updates: append("],\"updates\":[")
        }
        openAttachments = kind
        hasAttachments = false
    }

    package mutating func attachment(
        _ info: AttachmentInfo, content: (_ take: ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        switch openAttachments {
        case .adds?: if !options.returnsAdds { return }
        case .updates?: if !options.returnsUpdates { return }
        case .all?, nil: break
        }
        hasEdits = hasEdits || isDelta
        if hasAttachments { append(",") }
        hasAttachments = true
        let contents = attachmentBase.map { AttachmentContents.addresses(layer: "\($0)/\(layerID)") } ?? .embedded
        try flush(1)
        try AttachmentListWriter(contents: contents).write(info, content: content, to: write)
    }

    package mutating func deletedAttachments(_ globalIDs: [UUID]) throws {
        let told = options.returnsDeletes ? globalIDs : []
        if !told.isEmpty { hasEdits = true }
        append("],\"deleteIds\":")
        JSONValue.array(told.map { .string(GUID.normalForm($0)) }).write(to: &bytes)
        append("}")
    }
}
