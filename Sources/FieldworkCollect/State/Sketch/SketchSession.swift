import Fieldwork
import Foundation

/// The editing of one shape, with all its steps: on disk after each of them, so that nothing is lost with the process.
struct SketchSession: Sendable, Codable {
    struct Step: Sendable, Codable {
        /// "move vertex 5"
        var name: String
        /// How the sketch was on the other side of the step.
        var sketch: Sketch
    }

    /// The edit that comes of it: saved twice it is one.
    let id: UUID
    /// The feature's address; for a new one that of its layer.
    let key: String
    /// What is added.
    var template: String?
    /// The shape as it was when the editing began, as the protocol's JSON.
    let base: Data?
    private(set) var sketch: Sketch
    private(set) var past: [Step] = []
    private(set) var future: [Step] = []
    var snaps = true
    /// What the last vertex was snapped to.
    var snapped: String?

    init(key: String, template: String?, base: Geometry?, sketch: Sketch) {
        id = UUID()
        self.key = key
        self.template = template
        self.base = base?.toJSON()
        self.sketch = sketch
    }

    var undoName: String? { past.last?.name }
    var redoName: String? { future.last?.name }
    var isChanged: Bool { !past.isEmpty }

    /// Does a step that can be taken back. False where the change was none.
    mutating func apply(_ name: String, _ change: (inout Sketch) -> Bool) -> Bool {
        var next = sketch
        guard change(&next) else { return false }
        past.append(Step(name: name, sketch: sketch))
        if past.count > Limits.sketchSteps { past.removeFirst() }
        future = []
        sketch = next
        snapped = nil
        return true
    }

    mutating func choose(_ spot: Sketch.Spot?) {
        sketch.chosen = spot.flatMap { sketch[$0] == nil ? nil : $0 }
        snapped = nil
    }

    mutating func undo() {
        guard let step = past.popLast() else { return }
        future.append(Step(name: step.name, sketch: sketch))
        sketch = step.sketch
        snapped = nil
    }

    mutating func redo() {
        guard let step = future.popLast() else { return }
        past.append(Step(name: step.name, sketch: sketch))
        sketch = step.sketch
        snapped = nil
    }
}

/// The sketches of a map that were begun and neither saved nor thrown away.
struct SketchShelf: Sendable {
    let directory: URL

    init(_ map: OpenMap) { directory = map.folder.appending(path: "sketches") }

    private func file(_ key: String) -> URL { directory.appending(path: "\(StableHash.hex(key)).json") }

    func session(_ key: String) -> SketchSession? {
        guard let data = try? Data(contentsOf: file(key)),
            let session = try? JSONDecoder().decode(SketchSession.self, from: data), session.key == key
        else { return nil }
        return session
    }

    func put(_ session: SketchSession) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try JSONEncoder().encode(session).write(to: file(session.key), options: .atomic)
    }

    func remove(_ key: String) { try? FileManager.default.removeItem(at: file(key)) }
}
