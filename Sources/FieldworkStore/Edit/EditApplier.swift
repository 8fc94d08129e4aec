import FieldworkGeometry
import FieldworkREST
import Foundation

/// Applies a batch within an open transaction: all that a write is, in one place. The schema's rules are
/// checked here, history and change log are written by the tables' triggers in the same transaction.
struct EditApplier {
    let connection: StoreConnection
    let catalogue: ServiceCatalogue
    let rules: [Int: RowRules]
    let relationships: RelationshipRules
    let options: GeoPackageFile.Options
    /// The first generation of the transaction that the batch is part of; nil when it is a transaction of its own.
    var transactionStart: Int64?
    /// The layers whose extents are looked at before the commit; nil where each batch looks by itself.
    var reached: ReachedLayers?

    /// The layers of a transaction that got features or places.
    final class ReachedLayers {
        var ids: Set<Int> = []
    }

    /// Applies a batch in a savepoint, beside others in one transaction; or throws and leaves nothing of it.
    /// - Parameter allowance: of the request that brought it.
    func applyInSavepoint(_ batch: EditBatch, within allowance: WorkAllowance? = nil) throws -> EditBatchResult {
        try connection.run("SAVEPOINT fieldwork_batch")
        do {
            let (result, isKept) = try apply(batch, within: allowance)
            if !isKept {
                try connection.run("ROLLBACK TO fieldwork_batch")
                try takeTurn(of: batch)
            }
            try connection.run("RELEASE fieldwork_batch")
            return result
        } catch {
            // Some failures (disk full) have ended the whole transaction already.
            if connection.isInTransaction {
                try connection.run("ROLLBACK TO fieldwork_batch")
                try connection.run("RELEASE fieldwork_batch")
            }
            throw error
        }
    }

    /// Applies a batch. When it is not to be kept, the caller undoes what was written.
    func apply(_ batch: EditBatch) throws -> (result: EditBatchResult, isKept: Bool) {
        try takeTurn(of: batch)
        for edits in batch.layers { _ = try catalogue.layer(edits.layerID) }
        let generation = try open(batch)
        var run = EditRun(applier: self, batch: batch)
        var result = EditBatchResult(layers: try run.apply(), generation: generation, moment: batch.moment)
        if result.hasErrors, batch.rollsBackOnFailure {
            result.generation = nil
            result.markRolledBack()
            return (result, false)
        }
        // A batch of which nothing succeeded is no generation.
        guard result.hasSuccess else {
            result.generation = nil
            return (result, false)
        }
        try widenExtents(batch)
        if options.recordsUndo, batch.origin == .edit, let generation {
            try UndoSteps(connection: connection).record(generation, from: transactionStart ?? generation)
        }
        if batch.returnsEditedFeatures, let generation {
            result.editedFeatures = try EditedFeaturesReader(catalogue: catalogue, connection: connection)
                .read(generation, editor: batch.editor)
        }
        return (result, true)
    }

    /// The same within the limits of the request that brought it. What comes after it, a COMMIT or a rollback, is never broken
    /// off, and the edits are not because their client has left.
    func apply(
        _ batch: EditBatch, within asked: WorkAllowance?
    ) throws -> (result: EditBatchResult, isKept: Bool) {
        let allowance = asked?.ofEdits()
        return try WorkAllowance.$current.withValue(allowance) {
            try connection.watch.run(allowance) { try apply(batch) }
        }
    }

    private func widenExtents(_ batch: EditBatch) throws {
        // The end of a load looks at the extents.
        if batch.origin == .load, let first = batch.layers.first,
            try TableLoad.isUnderWay(catalogue.layer(first.layerID), on: connection)
        {
            return
        }
        for edits in batch.layers {
            // A rule may give a feature another place.
            let mayMove = rules[edits.layerID]?.attributeRules != nil && !edits.updates.isEmpty
            guard mayMove || !edits.adds.isEmpty || edits.updates.contains(where: { !$0.geometry.isUnchanged }) else {
                continue
            }
            try reach(edits.layerID)
        }
    }

    /// Has the extent of a layer looked at: before the commit, or at once where the batches of a transaction are not together.
    func reach(_ layerID: Int) throws {
        guard let reached else { return try widenExtent(of: try catalogue.layer(layerID)) }
        reached.ids.insert(layerID)
    }

    /// Other programs show a layer by the extent that the file tells.
    private func widenExtent(of layer: StoredLayer) throws {
        guard connection.dialect.isSQLite, layer.geometryColumn != nil else { return }
        try FeatureTable(layer: layer).widenExtent(on: connection)
    }

    /// Gives a batch its turn, where it has one. The turn of one that was undone is taken again: it counts all the same.
    func takeTurn(of batch: EditBatch) throws {
        guard let turn = batch.turn else { return }
        try EditTurns(connection: connection).take(turn, at: batch.moment)
    }

    /// Begins a generation; a cache that takes over state begins none, and its triggers log nothing.
    private func open(_ batch: EditBatch) throws -> Int64? {
        if batch.origin == .cache {
            try connection.run("UPDATE fieldwork_state SET inside = 1, muted = 1 WHERE id = 1")
            return nil
        }
        return try openGeneration(editor: batch.editor, moment: batch.moment)
    }

    /// Begins a generation: what the tables' triggers log from here on belongs to it.
    func openGeneration(editor: String?, moment: Date) throws -> Int64 {
        var generation: Int64?
        for statement in connection.dialect.opening { generation = try connection.integer(statement) }
        guard let generation else { throw StoreError(.corrupt, "The file has lost its state of generations.") }
        try connection.run("INSERT INTO fieldwork_generations (generation, moment, editor) VALUES (?, ?, ?)") {
            try $0.bind(generation, at: 1)
            try $0.bind(DateText.text(milliseconds: moment.milliseconds), at: 2)
            try $0.bind(editor, at: 3)
        }
        return generation
    }

    /// Looks at the extents of the layers that all batches reached, and ends what `open` began; the last step before COMMIT.
    func close() throws {
        for id in reached?.ids.sorted() ?? [] { try widenExtent(of: try catalogue.layer(id)) }
        try Self.close(on: connection)
    }

    /// Ends what `open` began; the last step before COMMIT.
    static func close(on connection: StoreConnection) throws {
        for statement in connection.dialect.closing { try connection.run(statement) }
    }
}

extension EditBatchResult {
    var hasSuccess: Bool { layers.contains { $0.all.contains(where: \.isSuccess) } }

    /// What succeeded was undone with the rest.
    mutating func markRolledBack() {
        func mark(_ results: inout [EditResult], areNew: Bool) {
            for index in results.indices where results[index].isSuccess {
                results[index].error = .rolledBack
                if areNew { results[index].objectID = nil }
            }
        }
        for index in layers.indices {
            mark(&layers[index].adds, areNew: true)
            mark(&layers[index].updates, areNew: false)
            mark(&layers[index].deletes, areNew: false)
            mark(&layers[index].attachments.adds, areNew: true)
            mark(&layers[index].attachments.updates, areNew: false)
            mark(&layers[index].attachments.deletes, areNew: false)
        }
    }
}
