import FieldworkGeometry
import FieldworkREST
import Foundation

@testable import Fieldwork

/// What connected people do to features and their files.
extension Simulation {
    func editConnected(_ index: Int) async {
        guard let geodatabase = walkers[index].geodatabase, !walkers[index].process.isDead else { return }
        do {
            try await asWalker(index, isOuter: !walkers[index].isSending) {
                let facts = try await editConnected(index, geodatabase)
                if walkers[index].process.isDead {
                    walkers[index].doubt = facts
                } else {
                    walkers[index].pending.apply(facts)
                    // What is saved while edits are being sent may go with them.
                    if walkers[index].isSending { walkers[index].pending.attempt() }
                    walkers[index].unsent.formUnion(facts.filter { $0.value == SavedEdits.added }.map(\.key.id))
                }
            }
        } catch is Fieldwork.ServiceError where !isQuiet {
            // Without the service there is nothing to see.
            note("  \(walkers[index].name): no answer")
        } catch GeodatabaseError.itemNotFound {
            // What it saw has gone meanwhile, by its own hand.
            note("  \(walkers[index].name): gone")
        } catch {
            complain(.workGoesOn, "\(walkers[index].name) can't edit: \(error)")
        }
    }

    private func editConnected(_ index: Int, _ geodatabase: ServiceGeodatabase) async throws -> [SavedEdits.Fact] {
        let kind = pick(SimulatedEdit.allCases.filter { $0 != .fell && $0 != .reassign }) ?? .note
        let layer = kind.isOfTrees ? OrchardService.trees : OrchardService.visits
        let name = walkers[index].name
        guard let table = geodatabase.table(withLayerID: layer) else { return [] }
        switch kind {
        case .addTree: return try await addTree(table, name)
        case .addVisit:
            guard let trees = geodatabase.table(withLayerID: OrchardService.trees),
                let tree = pick(try await features(of: trees)), let treeID = id(of: tree)
            else { return [] }
            return try await addVisit(table, of: treeID, name)
        default: break
        }
        let found = try await features(of: table)
        switch kind {
        case .deleteTree, .deleteVisit:
            guard found.count > 2, let feature = pick(found), let id = id(of: feature) else { return [] }
            note("\(name) deletes \(self.name(of: feature))")
            try await table.delete(feature)
            // Files that it had with it and that the service does not have are gone too.
            return [SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.deleted)]
                + filesGoing(with: id, of: walkers[index].pending)
        case .attach:
            guard let tree = pick(found), let treeID = id(of: tree), tree.canEditAttachments else { return [] }
            return try await attach(to: tree, treeID, name)
        case .replace, .detach:
            guard let tree = pick(found) else { return [] }
            return try await changeFile(of: tree, kind, name)
        default: break
        }
        guard let feature = pick(found), let id = id(of: feature) else { return [] }
        let fact: SavedEdits.Fact
        if kind == .move {
            let point = freshPlace(from: 0, to: OrchardService.length)
            feature.geometry = point
            fact = SavedEdits.Fact(layer, id, SavedEdits.place, OrchardRow.text(point))
        } else {
            let field = kind == .nameSpecies ? "Species" : kind == .note ? "Note" : "Remark"
            let value = freshValue(name)
            feature.setAttributeValue(value, forKey: field)
            fact = SavedEdits.Fact(layer, id, field, value)
        }
        note("\(name) sets \(fact.key.field) of \(self.name(of: feature)) to \(fact.value)")
        try await table.update(feature)
        return [fact]
    }

    private func addTree(_ table: ServiceFeatureTable, _ author: String) async throws -> [SavedEdits.Fact] {
        let (id, name) = (generator.uuid(), freshValue(author))
        let (point, species) = (freshPlace(from: 0, to: OrchardService.length), freshValue(author))
        note("\(author) adds \(name) \(id.uuidString.prefix(8))")
        try await table.add(
            table.makeFeature(
                attributes: ["GlobalID": id, "Name": name, "Felled": Int32(0), "Species": species], geometry: point))
        return [
            SavedEdits.Fact(OrchardService.trees, id, SavedEdits.existence, SavedEdits.added),
            SavedEdits.Fact(OrchardService.trees, id, SavedEdits.place, OrchardRow.text(point)),
            SavedEdits.Fact(OrchardService.trees, id, "Species", species),
        ]
    }

    private func addVisit(
        _ table: ServiceFeatureTable, of tree: UUID, _ author: String
    ) async throws -> [SavedEdits.Fact] {
        let (id, name, remark) = (generator.uuid(), freshValue(author), freshValue(author))
        note("\(author) adds \(name) \(id.uuidString.prefix(8))")
        try await table.add(
            table.makeFeature(
                attributes: ["GlobalID": id, "Name": name, "Remark": remark, "TreeID": tree], geometry: nil))
        return [
            SavedEdits.Fact(OrchardService.visits, id, SavedEdits.existence, SavedEdits.added),
            SavedEdits.Fact(OrchardService.visits, id, "Remark", remark),
        ]
    }

    private func changeFile(
        of tree: ArcGISFeature, _ kind: SimulatedEdit, _ author: String
    ) async throws -> [SavedEdits.Fact] {
        let there = try await tree.attachments.sorted { $0.id < $1.id }
        guard let attachment = pick(there), let id = attachment.edit.globalID else { return [] }
        if kind == .detach {
            note("\(author) detaches \(id.uuidString.prefix(8)) from \(name(of: tree))")
            try await tree.deleteAttachment(attachment)
            return [SavedEdits.Fact(OrchardService.files, id, SavedEdits.existence, SavedEdits.deleted)]
        }
        let content = freshValue("\(author)-photo")
        note("\(author) replaces \(id.uuidString.prefix(8)) of \(name(of: tree)) by \(content)")
        try await tree.updateAttachment(
            attachment, name: "photo.txt", contentType: "text/plain", data: Data(FileContent.bytes(of: content)))
        return [SavedEdits.Fact(OrchardService.files, id, SavedEdits.content, content)]
    }

    /// All features that the walker sees, in an order that is the same in each run.
    func features(of table: ServiceFeatureTable) async throws -> [ArcGISFeature] {
        try await table.queryFeatures(using: QueryParameters(), queryFeatureFields: .loadAll).features()
            .compactMap { $0 as? ArcGISFeature }.sorted { name(of: $0) < name(of: $1) }
    }
}
