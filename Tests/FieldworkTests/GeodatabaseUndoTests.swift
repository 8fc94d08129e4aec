import FieldworkGeometry
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Undo and redo in a geodatabase, which are kept in its file.
@Suite("Undo in a geodatabase", .fewAtATime)
struct GeodatabaseUndoTests {
    @Test("Adds, changes, moves and deletes are taken back one by one and done again")
    func single() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            #expect(!file.geodatabase.canUndo && !file.geodatabase.canRedo)
            #expect(try await !file.geodatabase.undo())
            var states = [try await file.state()]
            try await file.add("egret")
            states.append(try await file.state())
            try await file.change("egret", ["kind": Int32(2)])
            states.append(try await file.state())
            try await file.change("egret", ["comments": "white egret"], x: 50)
            states.append(try await file.state())
            try await file.birds.delete(try #require(try await file.bird("white egret")))
            states.append(try await file.state())
            #expect(Set(states.map(\.description)).count == 4)
            for expected in states.dropLast().reversed() {
                #expect(file.geodatabase.canUndo)
                #expect(try await file.geodatabase.undo())
                #expect(try await file.state() == expected)
            }
            #expect(!file.geodatabase.canUndo && file.geodatabase.canRedo)
            for expected in states.dropFirst() {
                #expect(try await file.geodatabase.redo())
                #expect(try await file.state() == expected)
            }
            #expect(!file.geodatabase.canRedo)
            // A deleted feature comes back as the same one.
            #expect(try await file.geodatabase.undo())
            #expect(try await file.geodatabase.undo())
            let back = try #require(try await file.bird("egret"))
            try await file.geodatabase.undo()
            try await file.geodatabase.undo()
            try await file.geodatabase.redo()
            #expect(
                try await file.bird("egret")?.attributes["GlobalID"] as? UUID == back.attributes["GlobalID"] as? UUID)
        }
    }

    @Test("After a new edit nothing that was undone can be done again, also after a restart")
    func newEdit() async throws {
        try await SightingsFile.with { url in
            var file = try await Sightings(url)
            try await file.add("egret")
            try await file.change("egret", ["kind": Int32(2)])
            #expect(try await file.geodatabase.undo())
            #expect(file.geodatabase.canRedo)
            try await file.add("heron")
            let state = try await file.state()
            #expect(!file.geodatabase.canRedo)
            #expect(try await !file.geodatabase.redo())
            file.geodatabase.close()
            file = try await Sightings(url)
            #expect(try await !file.geodatabase.redo())
            #expect(try await file.state() == state)
        }
    }

    @Test("A transaction is one step, and steps outlive the process")
    func groups() async throws {
        try await SightingsFile.with { url in
            var file = try await Sightings(url)
            try await file.add("alone")
            try file.geodatabase.beginTransaction()
            try await file.add("first")
            try await file.add("second")
            try await file.change("first", ["kind": Int32(2)], x: 9)
            await #expect(throws: CommonError.self) { _ = try await file.geodatabase.undo() }
            try file.geodatabase.commitTransaction()
            let whole = try await file.state()
            try file.geodatabase.beginTransaction()
            try await file.add("never")
            try file.geodatabase.rollbackTransaction()
            file.geodatabase.close()

            file = try await Sightings(url)
            #expect(file.geodatabase.canUndo)
            #expect(try await file.geodatabase.undo())
            #expect(try await file.state().keys.sorted() == ["alone"])
            file.geodatabase.close()
            file = try await Sightings(url)
            #expect(file.geodatabase.canRedo)
            #expect(try await file.geodatabase.redo())
            #expect(try await file.state() == whole)
            #expect(try await file.geodatabase.undo())
            // A new edit ends what could be done again.
            try await file.add("new")
            #expect(!file.geodatabase.canRedo)
            #expect(try await !file.geodatabase.redo())
            #expect(try await file.state().keys.sorted() == ["alone", "new"])
        }
    }

    @Test("Parts that went with their whole come back with it")
    func parts() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let heron = try await file.add("heron")
            let id = try #require(heron.attributes["GlobalID"] as? UUID)
            for eggs in 1...3 {
                try await file.nests.add(file.nests.makeFeature(attributes: ["Bird": id, "eggs": Int16(eggs)]))
            }
            try await file.birds.delete(heron)
            #expect(try await file.nests.queryFeatureCount(using: QueryParameters()) == 0)
            #expect(try await file.geodatabase.undo())
            #expect(try await file.nests.queryFeatureCount(using: QueryParameters()) == 3)
            #expect(try await file.bird("heron")?.attributes["GlobalID"] as? UUID == id)
            #expect(try await file.geodatabase.redo())
            #expect(try await file.nests.queryFeatureCount(using: QueryParameters()) == 0)
        }
    }

    @Test(
        "What another program changed meanwhile is not undone",
        .enabled(if: Outsider.isInstalled, "Python, which plays the other program, is not installed."))
    func others() async throws {
        try await SightingsFile.with { url in
            var file = try await Sightings(url)
            try await file.add("a")
            try await file.add("b")
            try await file.change("b", ["kind": Int32(2)], x: 7)
            file.geodatabase.close()
            try Outsider.run("UPDATE Birds SET kind = NULL WHERE comments = 'b'", on: url)
            try Outsider.run("UPDATE Birds SET kind = 2 WHERE comments = 'a'", on: url)

            file = try await Sightings(url)
            // The move is taken back; the kind is the other program's word.
            #expect(try await file.geodatabase.undo())
            #expect(try await file.state()["b"] == [-1, 0])
            // The feature itself has another's work in it, and stays.
            #expect(try await !file.geodatabase.undo())
            #expect(try await file.state()["b"] == [-1, 0])
            #expect(try await !file.geodatabase.undo())
            #expect(try await file.state()["a"] == [2, 0])
            #expect(!file.geodatabase.canUndo)
        }
    }

    @Test("The net edits after undo and redo are what there is")
    func netEdits() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            try await file.add("egret")
            try await file.geodatabase.undo()
            #expect(try await file.birds.addedFeaturesCount() == 0)
            #expect(!file.geodatabase.hasLocalEdits)
            try await file.geodatabase.redo()
            #expect(try await file.birds.addedFeaturesCount() == 1)
            #expect(file.geodatabase.hasLocalEdits)
            #expect(try await file.geodatabase.differences().map(\.operation) == [.add])
        }
    }
}
