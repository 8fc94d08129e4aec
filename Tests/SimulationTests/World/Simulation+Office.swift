import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// What connected people do beside single edits: files with trees, and requests that go as a whole or not at all.
extension Simulation {
    // MARK: Files

    func attachOnService() async {
        do {
            let trees = try await serverRows(OrchardService.trees).sorted { $0.value.name < $1.value.name }
            // Few files are edited by many: as a rule one that is there is meant.
            let all = try await servedFiles()
            let wanted = chance(600) ? pick(all)?.tree : nil
            guard let tree = trees.first(where: { $0.key == wanted }) ?? pick(trees) else { return }
            let there = all.filter { $0.tree == tree.key }
            switch (number(0...5), pick(there)) {
            case (0, let file?):
                note("office detaches \(file.content) from \(tree.value.name)")
                await sendFiles(
                    ["deletes": [.string(GUID.normalForm(file.id))]],
                    SavedEdits.Fact(OrchardService.files, file.id, SavedEdits.existence, SavedEdits.deleted))
            case (1...2, let file?):
                let content = freshValue("photo")
                note("office replaces \(file.content) of \(tree.value.name) by \(content)")
                await sendFiles(
                    ["updates": [fileJSON(file.id, of: tree.key, content)]],
                    SavedEdits.Fact(OrchardService.files, file.id, SavedEdits.content, content))
            default:
                // Some photos show two trees: the service keeps such a content once.
                let known = saved.files.map(\.content).sorted()
                let content = chance(250) ? pick(known) ?? freshValue("photo") : freshValue("photo")
                let id = generator.uuid()
                saved.note(file: id, of: tree.key)
                note("office attaches \(content) to \(tree.value.name)")
                await sendFiles(
                    ["adds": [fileJSON(id, of: tree.key, content)]],
                    SavedEdits.Fact(OrchardService.files, id, SavedEdits.content, content))
            }
        } catch {
            complain(.workGoesOn, "the office can't attach: \(error)")
        }
    }

    private func fileJSON(_ id: UUID, of tree: UUID, _ content: String) -> JSONValue {
        [
            "globalId": .string(GUID.normalForm(id)), "parentGlobalId": .string(GUID.normalForm(tree)),
            "name": "photo.txt", "contentType": "text/plain",
            "data": .string(Data(FileContent.bytes(of: content)).base64EncodedString()),
        ]
    }

    private func sendFiles(_ edits: JSONValue, _ fact: SavedEdits.Fact) async {
        guard let json = await apply([("attachments", edits.text)]) else { return }
        let results = ["addResults", "updateResults", "deleteResults"].flatMap {
            json["attachments"]?[$0]?.arrayValue ?? []
        }
        guard results.count == 1, results[0]["success"]?.boolValue == true else {
            return complain(.workGoesOn, "the service refuses a file of the office: \(json.text)")
        }
        saved.promise([fact])
    }

    /// Sends edits of trees; nil when the service died over it.
    private func apply(_ edits: [(name: String, value: String)]) async -> JSONValue? {
        let form = Fieldwork.ServiceRequest(
            URL(filePath: "/"), [("f", "json"), ("useGlobalIds", "true")] + edits, isRead: false
        ).form
        let path = Self.address.dropFirst(SimulatedServer.origin.count)
        let reply = await serve(
            SimulatedServer.Order(
                address: "\(path)/\(OrchardService.trees)/applyEdits", form: form, isRead: false, editor: "office"))
        return reply.flatMap { try? JSONParser.parse($0.bytes) }
    }

    /// The files that are with trees now, in an order that is the same in each run.
    func servedFiles() async throws -> [SavedEdits.File] {
        let layer = LayerAddress(service: OrchardService.name, layerID: OrchardService.trees)
        let page = try await server.store.attachments(AttachmentQuery(), in: layer)
        var files: [SavedEdits.File] = []
        for info in page.attachments {
            guard let id = info.globalID, let tree = info.parentGlobalID,
                let stored = try await server.store.attachmentContent(.id(info.id), of: nil, range: nil, in: layer)
            else {
                complain(.filesAreWhole, "the file \(info.id) can't be found or belongs to no tree")
                continue
            }
            files.append(SavedEdits.File(tree: tree, id: id, content: try await Self.text(stored.pieces)))
        }
        return files.sorted()
    }

    static func text(_ pieces: EncodedFeatures) async throws -> String {
        var bytes: [UInt8] = []
        for try await piece in pieces { bytes += piece }
        return FileContent.name(of: bytes)
    }

    // MARK: All or nothing

    /// Two edits in one request, of which the second may be one that the service has to refuse: then it takes none.
    func editAllOrNothing() async {
        do {
            let trees = try await serverRows(OrchardService.trees).sorted { $0.value.name < $1.value.name }
            guard let tree = pick(trees) else { return }
            let isGood = chance(500)
            let (added, place) = (generator.uuid(), freshPlace(from: 0, to: OrchardService.length))
            let (name, value) = (freshValue("office"), freshValue("office"))
            let changed = isGood ? tree.key : generator.uuid()
            note("office adds \(name) and sets Note of \(isGood ? tree.value.name : "no tree") to \(value)")
            let adds: JSONValue = [
                [
                    "attributes": ["GlobalID": .string(GUID.normalForm(added)), "Name": .string(name), "Felled": 0],
                    "geometry": ["x": .number(place.x), "y": .number(place.y)],
                ]
            ]
            let updates: JSONValue = [
                ["attributes": ["GlobalID": .string(GUID.normalForm(changed)), "Note": .string(value)]]
            ]
            let json = await apply([("rollbackOnFailure", "true"), ("adds", adds.text), ("updates", updates.text)])
            guard json != nil else { return }
            let now = try await serverRows(OrchardService.trees)
            guard (now[added] != nil) == isGood else {
                return complain(.workGoesOn, "of a request with one bad edit a part was done: \(name)")
            }
            if isGood {
                saved.promise([
                    SavedEdits.Fact(OrchardService.trees, added, SavedEdits.existence, SavedEdits.added),
                    SavedEdits.Fact(OrchardService.trees, added, SavedEdits.place, OrchardRow.text(place)),
                    SavedEdits.Fact(OrchardService.trees, changed, "Note", value),
                ])
            }
        } catch {
            complain(.workGoesOn, "the office can't edit: \(error)")
        }
    }
}
