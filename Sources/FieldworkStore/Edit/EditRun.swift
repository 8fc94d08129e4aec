import FieldworkREST
import Foundation

/// One batch on its way into the tables: adds of all layers, then updates, then deletes, then attachments. Within each, origins of
/// relationships come before their destinations (at deletes after them), whatever the order of the request, so that a key
/// is there before it is named. The results keep the request's order.
struct EditRun {
    private let applier: EditApplier
    private let batch: EditBatch
    private let writers: LayerWriters
    private var provisional = ProvisionalIDs()
    private var deletes: RelatedDeletes

    private var connection: StoreConnection { applier.connection }

    init(applier: EditApplier, batch: EditBatch) {
        self.applier = applier
        self.batch = batch
        writers = LayerWriters(applier: applier, batch: batch)
        deletes = RelatedDeletes(rules: applier.relationships, connection: applier.connection, batch: batch)
    }

    mutating func apply() throws -> [LayerEditResults] {
        var results = batch.layers.map { LayerEditResults(layerID: $0.layerID) }
        let order = batch.layers.indices.sorted { first, second in
            let ranks = [first, second].map { applier.relationships.rank(of: batch.layers[$0].layerID) }
            return (ranks[0], first) < (ranks[1], second)
        }
        for index in order { try restore(batch.layers[index]) }
        for index in order { results[index].adds = try add(batch.layers[index]) }
        for index in order { try restoreWhatWent(with: batch.layers[index]) }
        for index in order { results[index].updates = try update(batch.layers[index]) }
        for index in order.reversed() { results[index].deletes = try delete(batch.layers[index]) }
        for index in order where !batch.layers[index].attachments.isEmpty {
            let edits = batch.layers[index]
            results[index].attachments = try AttachmentWriter(features: writer(edits.layerID)).apply(edits.attachments)
        }
        return results
    }

    private func writer(_ layerID: Int) throws -> LayerWriter { try writers.writer(layerID) }

    // MARK: Restores

    private var restorer: FeatureRestorer {
        let (applier, batch) = (applier, batch)
        return FeatureRestorer(rules: applier.relationships, connection: connection) { try applier.writer($0, batch) }
    }

    /// After all adds of the batch: a client may bring itself what belongs to a feature that it adds again.
    private func restoreWhatWent(with edits: LayerEdits) throws {
        if edits.adds.isEmpty { return }
        let restorer = restorer
        for globalID in try writer(edits.layerID).returned {
            try restorer.restoreWhatWent(with: globalID, in: edits.layerID)
        }
    }

    private mutating func restore(_ edits: LayerEdits) throws {
        if edits.restores.isEmpty { return }
        let restorer = restorer
        for globalID in edits.restores {
            guard batch.scope != nil else {
                try restorer.restore(globalID, in: edits.layerID)
                continue
            }
            // What it was last has to be within reach: that is known when it is there.
            try connection.run("SAVEPOINT fieldwork_restore")
            try restorer.restore(globalID, in: edits.layerID)
            if try writer(edits.layerID).find(.globalID(globalID)) == nil {
                try connection.run("ROLLBACK TO fieldwork_restore")
            }
            try connection.run("RELEASE fieldwork_restore")
        }
    }

    // MARK: Adds

    private mutating func add(_ edits: LayerEdits) throws -> [EditResult] {
        guard !edits.adds.isEmpty else { return [] }
        let writer = try writer(edits.layerID)
        guard let relationships = applier.relationships.layer(edits.layerID), batch.origin == .edit else {
            return try add(edits.adds, writer)
        }
        guard relationships.references.contains(where: { $0.target.layer.definition.id == edits.layerID }) else {
            // None of them names another one.
            let adds = try edits.adds.map {
                try provisional.resolved($0, relationships.references, layer: writer.layer, on: connection)
            }
            let results = try writer.addAll(adds)
            provisional.note(edits.adds, results, layerID: edits.layerID)
            return results
        }
        var results = [EditResult](repeating: EditResult(objectID: nil, globalID: nil), count: edits.adds.count)
        for index in ProvisionalIDs.order(of: edits.adds, relationships, writer.layer) {
            let add = try provisional.resolved(
                edits.adds[index], relationships.references, layer: writer.layer, on: connection)
            results[index] = try writer.add(add)
            provisional.note([edits.adds[index]], [results[index]], layerID: edits.layerID)
        }
        return results
    }

    private func add(_ adds: [FeatureEdit], _ writer: LayerWriter) throws -> [EditResult] {
        if batch.origin == .cache { return try writer.takeOverAll(adds) }
        guard batch.origin == .load, writer.layer.geometryColumn != nil else { return try writer.addAll(adds) }
        // Neighbours on the map become neighbours in the file; the results keep the order of the request.
        var results = [EditResult](repeating: EditResult(objectID: nil, globalID: nil), count: adds.count)
        let order = HilbertOrder.order(of: adds)
        for (index, result) in zip(order, try writer.addAll(order.map { adds[$0] })) { results[index] = result }
        return results
    }

    // MARK: Updates

    private mutating func update(_ edits: LayerEdits) throws -> [EditResult] {
        var edits = edits
        if let calculation = edits.calculation {
            edits.updates += try CalculationReader(
                layer: applier.catalogue.layer(edits.layerID), connection: connection, user: batch.editor
            ).updates(calculation)
        }
        guard !edits.updates.isEmpty else { return [] }
        let writer = try writer(edits.layerID)
        guard let relationships = applier.relationships.layer(edits.layerID), batch.origin == .edit else {
            return try writer.updateAll(edits.updates)
        }
        return try edits.updates.map { edit in
            let resolved = try provisional.resolved(
                edit, relationships.references, layer: writer.layer, on: connection)
            return try writer.update(resolved)
        }
    }

    // MARK: Deletes

    private mutating func delete(_ edits: LayerEdits) throws -> [EditResult] {
        switch edits.deletes {
        case .features(let identifiers): try delete(identifiers, from: edits.layerID)
        case .matching(let query): try delete(query, from: edits.layerID)
        }
    }

    private mutating func delete(_ identifiers: [FeatureIdentifier], from layerID: Int) throws -> [EditResult] {
        guard !identifiers.isEmpty else { return [] }
        if let results = try deletes.deleteAll(identifiers, from: layerID, writer: writers.writer) { return results }
        var results: [EditResult] = []
        results.reserveCapacity(identifiers.count)
        for identifier in identifiers {
            results.append(try deletes.delete(identifier, from: layerID, writer: writers.writer))
        }
        return results
    }

    /// Where results are not listed there are two at most, the first and the first failure: they say how it went.
    private mutating func delete(_ query: FeatureQuery, from layerID: Int) throws -> [EditResult] {
        let matched = try MatchedFeatures(query, in: applier.catalogue.layer(layerID), on: connection)
        if batch.listsMatches, try matched.count() > FieldworkREST.Limits.listedDeletes {
            throw StoreError(
                .invalidQuery,
                "More than \(FieldworkREST.Limits.listedDeletes) features are chosen: delete them with "
                    + "'returnDeleteResults=false', or in several steps. Nothing was deleted.")
        }
        var results: [EditResult] = []
        try matched.forEach { id in
            let result = try deletes.delete(
                .objectID(id), from: layerID, isChosen: true, writer: writers.writer)
            if batch.listsMatches || results.isEmpty || result.error != nil { results.append(result) }
            // The rest would be undone with it.
            return batch.listsMatches || result.error == nil
        }
        try matched.forget()
        return results
    }
}

/// The writers of a batch's layers, each made once.
private final class LayerWriters {
    private let applier: EditApplier
    private let batch: EditBatch
    private var made: [Int: LayerWriter] = [:]

    init(applier: EditApplier, batch: EditBatch) {
        self.applier = applier
        self.batch = batch
    }

    func writer(_ layerID: Int) throws -> LayerWriter {
        if let writer = made[layerID] { return writer }
        let writer = try applier.writer(layerID, batch)
        made[layerID] = writer
        return writer
    }
}

extension EditApplier {
    /// - Parameter cascade: carries out what the rules of the layer ask for; nil for the writer of a request's own edits.
    func writer(_ layerID: Int, _ batch: EditBatch, cascade: RuleCascade? = nil) throws -> LayerWriter {
        let rules = try rules[layerID] ?? RowRules(layer: catalogue.layer(layerID))
        var ruled: RuledLayer?
        if batch.origin == .edit, let own = rules.attributeRules {
            ruled = RuledLayer(rules.layer, own, catalogue, connection, batch, try rulePlace())
        }
        return LayerWriter(
            rules: rules, connection: connection, batch: batch, keepsObjectIDs: options.keepsObjectIDs,
            relationships: relationships.layer(layerID), ruled: ruled,
            cascade: ruled == nil ? nil : cascade ?? RuleCascade(applier: self, batch: batch))
    }

    private func rulePlace() throws -> AttributeRulePlace {
        guard options.isOnDevice else { return .service }
        return try FileNotes(connection: connection).value(GeoPackageFile.replicaNote) == nil ? .file : .copy
    }
}
