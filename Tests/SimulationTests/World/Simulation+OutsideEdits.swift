import FieldworkGeometry
import FieldworkREST
import Foundation

@testable import Fieldwork

/// What another program does to the file of a device while nobody else has it open.
extension Simulation {
    private enum OutsideEdit: CaseIterable {
        case nameSpecies, move, addTree, deleteTree, remark, addVisit, deleteVisit, attach, detach

        var isOfTrees: Bool {
            switch self {
            case .nameSpecies, .move, .addTree, .deleteTree, .attach, .detach: true
            case .remark, .addVisit, .deleteVisit: false
            }
        }
    }

    func editOutside(_ index: Int) async {
        guard !devices[index].isBusy, let geodatabase = devices[index].geodatabase else { return }
        let file = devices[index].fileURL
        do {
            try await asDevice(index) {
                await close(geodatabase)
                devices[index].geodatabase = nil
                note("\(devices[index].name) opens its file with another program")
                var facts: [SavedEdits.Fact] = []
                for _ in 0..<number(1...3) where !devices[index].process.isDead {
                    facts = try await editOutside(devices[index].name, file, devices[index].plan)
                    let trees = facts.filter { $0.key.layer == OrchardService.trees && $0.value == SavedEdits.deleted }
                    let gone = trees.flatMap { filesGoing(with: $0.key.id, of: devices[index].pending) }
                    settle(facts + gone, index)
                }
                guard !devices[index].process.isDead else { return }
                let opened = Geodatabase(fileURL: file)
                try await opened.load()
                devices[index].geodatabase = opened
                // What it did is seen, though nobody told. What was added and deleted again is nothing.
                if let fact = facts.last, fact.value != SavedEdits.deleted, !opened.hasLocalEdits {
                    complain(.workGoesOn, "\(devices[index].name) does not see \(fact) of another program")
                }
            }
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't be edited by another program: \(error)")
        }
    }

    private func editOutside(_ author: String, _ file: URL, _ plan: DevicePlan) async throws -> [SavedEdits.Fact] {
        let kind = pick(OutsideEdit.allCases) ?? .remark
        let layer = kind.isOfTrees ? OrchardService.trees : OrchardService.visits
        let table = kind.isOfTrees ? "Trees" : "Visits"
        let found = try ForeignTool.rows("SELECT GlobalID, Name FROM \(table) ORDER BY Name", of: file)
        switch kind {
        case .addTree: return try addTreeOutside(author, file, plan)
        case .addVisit: return try addVisitOutside(author, file)
        default: break
        }
        guard let row = pick(found), let text = row[0], let id = GUID.parse(text) else { return [] }
        let name = row[1] ?? "?"
        switch kind {
        case .attach: return try attachOutside(author, to: (id, name), file)
        case .detach: return try detachOutside(file)
        case .move:
            let point = freshPlace(from: plan.from, to: plan.to)
            note("  another program moves \(name) to \(OrchardRow.text(point))")
            try ForeignTool.run(
                "UPDATE Trees SET \(try shapeColumn(file)) = ? WHERE GlobalID = ?",
                [.bytes(try blob(point, file)), .text(text)], on: file)
            return [SavedEdits.Fact(layer, id, SavedEdits.place, OrchardRow.text(point))]
        case .deleteVisit, .deleteTree:
            guard found.count > 2 else { return [] }
            // Another program knows nothing of parts: only the service deletes those.
            note("  another program deletes \(name)")
            try ForeignTool.run("DELETE FROM \(table) WHERE GlobalID = ?", [.text(text)], on: file)
            return [SavedEdits.Fact(layer, id, SavedEdits.existence, SavedEdits.deleted)]
        default:
            let (field, value) = (kind.isOfTrees ? "Species" : "Remark", freshValue(author))
            note("  another program sets \(field) of \(name) to \(value)")
            try ForeignTool.run(
                "UPDATE \(table) SET \(field) = ? WHERE GlobalID = ?", [.text(value), .text(text)], on: file)
            return [SavedEdits.Fact(layer, id, field, value)]
        }
    }

    private func addTreeOutside(_ author: String, _ file: URL, _ plan: DevicePlan) throws -> [SavedEdits.Fact] {
        let (id, name) = (generator.uuid(), freshValue(author))
        let point = freshPlace(from: plan.from, to: plan.to)
        note("  another program adds \(name)")
        try ForeignTool.run(
            "INSERT INTO Trees (GlobalID, Name, Felled, \(try shapeColumn(file))) VALUES (?, ?, 0, ?)",
            [.text(GUID.normalForm(id)), .text(name), .bytes(try blob(point, file))], on: file)
        return [
            SavedEdits.Fact(OrchardService.trees, id, SavedEdits.existence, SavedEdits.added),
            SavedEdits.Fact(OrchardService.trees, id, SavedEdits.place, OrchardRow.text(point)),
        ]
    }

    private func addVisitOutside(_ author: String, _ file: URL) throws -> [SavedEdits.Fact] {
        let (id, name, remark) = (generator.uuid(), freshValue(author), freshValue(author))
        let trees = try ForeignTool.rows("SELECT GlobalID FROM Trees ORDER BY Name", of: file)
        guard let tree = pick(trees)?[0] else { return [] }
        note("  another program adds \(name)")
        try ForeignTool.run(
            "INSERT INTO Visits (GlobalID, Name, Remark, TreeID) VALUES (?, ?, ?, ?)",
            [.text(GUID.normalForm(id)), .text(name), .text(remark), .text(tree)], on: file)
        return [
            SavedEdits.Fact(OrchardService.visits, id, SavedEdits.existence, SavedEdits.added),
            SavedEdits.Fact(OrchardService.visits, id, "Remark", remark),
        ]
    }

    // MARK: The GeoPackage's own words

    private func shapeColumn(_ file: URL) throws -> String {
        let rows = try ForeignTool.rows(
            "SELECT column_name FROM gpkg_geometry_columns WHERE table_name = 'Trees'", of: file)
        return "\"\(rows.first?[0] ?? "geom")\""
    }

    private func blob(_ point: Point, _ file: URL) throws -> [UInt8] {
        let rows = try ForeignTool.rows("SELECT srs_id FROM gpkg_geometry_columns WHERE table_name = 'Trees'", of: file)
        return PointFunctions.blob(x: point.x, y: point.y, srsID: rows.first?[0].flatMap { Int32($0) } ?? 0)
    }
}
