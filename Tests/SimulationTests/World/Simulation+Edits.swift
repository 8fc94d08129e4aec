import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// What people do to features, on devices and on the service itself.
enum SimulatedEdit: CaseIterable {
    case addTree, nameSpecies, note, move, fell, deleteTree, addVisit, remark, reassign, deleteVisit
    /// Of files that are with trees.
    case attach, replace, detach

    var isOfTrees: Bool {
        switch self {
        case .addTree, .nameSpecies, .note, .move, .fell, .deleteTree, .attach, .replace, .detach: true
        case .addVisit, .remark, .reassign, .deleteVisit: false
        }
    }
}

extension Simulation {
    // MARK: On devices

    func edit(_ index: Int) async {
        guard let geodatabase = devices[index].geodatabase, !devices[index].process.isDead else { return }
        do {
            try await asDevice(index) {
                let facts = try await edit(index, geodatabase)
                settle(facts, index)
            }
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't edit: \(error)")
        }
    }

    /// Several edits that stand or fall together.
    func transact(_ index: Int) async {
        guard let geodatabase = devices[index].geodatabase, !devices[index].isBusy else { return }
        let keeps = chance(600)
        note("\(devices[index].name) begins")
        do {
            try await asDevice(index) {
                try geodatabase.beginTransaction()
                var facts: [SavedEdits.Fact] = []
                for _ in 0..<number(1...4) { facts += try await edit(index, geodatabase) }
                // Within a transaction a later edit undoes what an earlier one said.
                var last = SavedEdits.Pending()
                last.apply(facts)
                // What was added and deleted within it was never there.
                let born = Set(facts.filter { $0.value == SavedEdits.added }.map(\.key.id))
                let ends = [SavedEdits.deleted, SavedEdits.gone]
                let effect = last.untouched.filter { !ends.contains($0.value) || !born.contains($0.key.id) }
                devices[index].doubt = effect
                if keeps { try geodatabase.commitTransaction() } else { try geodatabase.rollbackTransaction() }
                if !devices[index].process.isDead { devices[index].doubt = [] }
                note("\(devices[index].name) \(keeps ? "commits" : "rolls back")")
                if keeps {
                    settle(effect, index)
                } else if !devices[index].process.isDead {
                    for fact in effect where try await isSo(fact, geodatabase) && !ends.contains(fact.value) {
                        complain(.deathLosesNothing, "\(devices[index].name) rolled back \(fact), and it is there")
                    }
                }
            }
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't finish a transaction: \(error)")
        }
    }

    /// The call has returned: from here on it counts, unless the process died within.
    func settle(_ facts: [SavedEdits.Fact], _ index: Int) {
        if devices[index].process.isDead {
            devices[index].doubt = facts
        } else {
            devices[index].pending.apply(facts)
        }
    }

    private func edit(_ index: Int, _ geodatabase: Geodatabase) async throws -> [SavedEdits.Fact] {
        let kind = pick(SimulatedEdit.allCases) ?? .note
        let layer = kind.isOfTrees ? OrchardService.trees : OrchardService.visits
        guard let table = geodatabase.featureTable(withServiceLayerID: layer) else { return [] }
        let found = try await features(of: table)
        switch kind {
        case .addTree, .addVisit: return try await add(kind, index, geodatabase, table)
        case .deleteTree, .deleteVisit:
            // Else soon nothing is left to edit.
            guard found.count > 2, let feature = pick(found), let id = id(of: feature) else { return [] }
            var facts = [SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.deleted)]
            if kind == .deleteTree, plan.isComposite { facts += try await parts(of: id, geodatabase) }
            if kind == .deleteTree { facts += try await filesGoing(with: id, geodatabase) }
            note("\(devices[index].name) deletes \(name(of: feature))")
            try await table.delete(feature)
            return facts
        case .attach, .replace, .detach: return try await editFile(kind, found, index, geodatabase)
        default:
            guard let feature = pick(found), let id = id(of: feature) else { return [] }
            let facts = try await change(feature, id, kind, index, geodatabase)
            try await table.update(feature)
            return facts
        }
    }

    private func add(
        _ kind: SimulatedEdit, _ index: Int, _ geodatabase: Geodatabase, _ table: GeodatabaseFeatureTable
    ) async throws -> [SavedEdits.Fact] {
        let device = devices[index]
        let layer = kind == .addTree ? OrchardService.trees : OrchardService.visits
        let id = generator.uuid()
        let name = freshValue(device.name)
        var attributes: [String: any Sendable] = ["GlobalID": id, "Name": name]
        var facts = [SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.added)]
        var place: Point?
        if kind == .addTree {
            let point = freshPlace(from: device.plan.from, to: device.plan.to)
            place = point
            attributes["Felled"] = Int32(0)
            attributes["Species"] = freshValue(device.name)
            facts.append(SavedEdits.Fact(layer, id, SavedEdits.place, OrchardRow.text(point)))
            facts.append(SavedEdits.Fact(layer, id, "Species", "\(device.name)-\(counter)"))
        } else {
            guard let trees = geodatabase.featureTable(withServiceLayerID: OrchardService.trees),
                let tree = pick(try await features(of: trees)), let treeID = self.id(of: tree)
            else { return [] }
            attributes["TreeID"] = treeID
            attributes["Remark"] = freshValue(device.name)
            facts.append(SavedEdits.Fact(layer, id, "Remark", "\(device.name)-\(counter)"))
        }
        note("\(device.name) adds \(name) \(id.uuidString.prefix(8))")
        try await table.add(table.makeFeature(attributes: attributes, geometry: place))
        return facts
    }

    /// Changes one field of a feature in memory.
    private func change(
        _ feature: ArcGISFeature, _ id: UUID, _ kind: SimulatedEdit, _ index: Int, _ geodatabase: Geodatabase
    ) async throws -> [SavedEdits.Fact] {
        let device = devices[index]
        let layer = kind.isOfTrees ? OrchardService.trees : OrchardService.visits
        let field: String
        switch kind {
        case .move:
            let point = freshPlace(from: device.plan.from, to: device.plan.to)
            feature.geometry = point
            note("\(device.name) moves \(name(of: feature)) to \(OrchardRow.text(point))")
            return [SavedEdits.Fact(layer, id, SavedEdits.place, OrchardRow.text(point))]
        case .fell:
            let isFelled = chance(500)
            feature.setAttributeValue(Int32(isFelled ? 1 : 0), forKey: "Felled")
            note("\(device.name) \(isFelled ? "fells" : "raises") \(name(of: feature))")
            return []
        case .reassign:
            guard let trees = geodatabase.featureTable(withServiceLayerID: OrchardService.trees),
                let tree = pick(try await features(of: trees)), let treeID = self.id(of: tree)
            else { return [] }
            feature.setAttributeValue(treeID, forKey: "TreeID")
            note("\(device.name) gives \(name(of: feature)) to \(name(of: tree))")
            return []
        case .nameSpecies: field = "Species"
        case .note: field = "Note"
        default: field = "Remark"
        }
        let value = freshValue(device.name)
        feature.setAttributeValue(value, forKey: field)
        note("\(device.name) sets \(field) of \(name(of: feature)) to \(value)")
        return [SavedEdits.Fact(layer, id, field, value)]
    }

    /// The visits that go with a tree.
    private func parts(of tree: UUID, _ geodatabase: Geodatabase) async throws -> [SavedEdits.Fact] {
        try await rows(of: geodatabase, OrchardService.visits).filter { $0.value.tree == tree }.map {
            SavedEdits.Fact(OrchardService.visits, $0.key, SavedEdits.existence, SavedEdits.deleted)
        }
    }

    /// All features, in an order that is the same in each run.
    private func features(of table: GeodatabaseFeatureTable) async throws -> [ArcGISFeature] {
        try await table.queryFeatures(using: QueryParameters()).features().compactMap { $0 as? ArcGISFeature }
            .sorted { name(of: $0) < name(of: $1) }
    }

    func name(of feature: ArcGISFeature) -> String { feature.attributes["Name"] as? String ?? "?" }
    func id(of feature: ArcGISFeature) -> UUID? { feature.attributes["GlobalID"] as? UUID }

    // MARK: On the service

    /// An edit of somebody who is connected, acknowledged by the service itself.
    func editOnService(_ wanted: SimulatedEdit?) async {
        let kind = wanted ?? pick([.addTree, .nameSpecies, .note, .move, .deleteTree, .remark, .addVisit]) ?? .note
        let layer = kind.isOfTrees ? OrchardService.trees : OrchardService.visits
        do {
            let rows = try await serverRows(layer).sorted { $0.value.name < $1.value.name }
            let id = [.addTree, .addVisit].contains(kind) ? generator.uuid() : pick(rows)?.key
            guard let id else { return }
            var fact = SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.added)
            let value = freshValue("office")
            var attributes = JSONObject(["GlobalID": .string(GUID.normalForm(id))])
            var feature = JSONObject()
            switch kind {
            case .addTree, .move:
                let point = freshPlace(from: 0, to: OrchardService.length)
                feature["geometry"] = ["x": .number(point.x), "y": .number(point.y)]
                fact = SavedEdits.Fact(layer, id, SavedEdits.place, OrchardRow.text(point))
                if kind == .addTree {
                    attributes["Name"] = .string(value)
                    attributes["Felled"] = 0
                }
            case .addVisit:
                let trees = try await serverRows(OrchardService.trees).sorted { $0.value.name < $1.value.name }
                guard let tree = pick(trees)?.key else { return }
                attributes["Name"] = .string(value)
                attributes["TreeID"] = .string(GUID.normalForm(tree))
            case .deleteTree:
                guard rows.count > 3 else { return }
                fact = SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.deleted)
            default:
                let field = kind == .nameSpecies ? "Species" : kind == .note ? "Note" : "Remark"
                attributes[field] = .string(value)
                fact = SavedEdits.Fact(layer, id, field, value)
            }
            feature["attributes"] = .object(attributes)
            let list: JSONValue = kind == .deleteTree ? [.string(GUID.normalForm(id))] : [.object(feature)]
            let verb = kind == .deleteTree ? "deletes" : [.addTree, .addVisit].contains(kind) ? "adds" : "updates"
            note("office \(kind) \(rows[id: id]?.name ?? value)")
            await send(verb, list, layer, fact)
        } catch {
            complain(.workGoesOn, "the office can't edit: \(error)")
        }
    }

    private func send(_ verb: String, _ list: JSONValue, _ layer: Int, _ fact: SavedEdits.Fact) async {
        let form = Fieldwork.ServiceRequest(
            URL(filePath: "/"), [("f", "json"), ("useGlobalIds", "true"), (verb, list.text)], isRead: false
        ).form
        let path = Self.address.dropFirst(SimulatedServer.origin.count)
        let reply = await serve(
            SimulatedServer.Order(
                address: "\(path)/\(layer)/applyEdits", form: form, isRead: false, editor: "office"))
        guard let reply, let json = try? JSONParser.parse(reply.bytes) else { return }
        let results = ["addResults", "updateResults", "deleteResults"].flatMap { json[$0]?.arrayValue ?? [] }
        if results.count == 1, results[0]["success"]?.boolValue == true {
            saved.promise([fact])
        } else {
            complain(.workGoesOn, "the service refuses an edit of the office: \(json.text)")
        }
    }
}

extension [(key: UUID, value: OrchardRow)] {
    fileprivate subscript(id id: UUID) -> OrchardRow? { first { $0.key == id }?.value }
}
