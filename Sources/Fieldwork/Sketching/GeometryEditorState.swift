/// All that a `GeometryEditor` edits: the geometry, what of it is selected, and the steps that can be taken back or
/// done again, with their names. `GeometryEditor.savedState` gives it, `GeometryEditor.start(withState:)` goes on with
/// it.
///
/// Written with an encoder it can be kept: each coordinate comes back to the last digit. What a decoder reads from
/// damaged data throws; only a selection of what is not there is dropped.
public struct GeometryEditorState: Codable, Sendable {
    /// The geometry at some time.
    struct Version: Sendable {
        var sketch: GeometrySketch
        var selection: GeometryEditorElement?
    }

    struct Step: Sendable {
        /// What people read beside "Undo".
        var name: String?
        /// How it was on the other side of the step.
        var other: Version
    }

    var present: Version
    /// The last one is taken back first.
    var done: [Step] = []
    /// The last one is done again first.
    var undone: [Step] = []

    init(present: Version, done: [Step] = [], undone: [Step] = []) {
        self.present = present
        self.done = done.suffix(Limits.sketchSteps)
        self.undone = undone.suffix(Limits.sketchSteps)
    }

    /// Reads what `encode(to:)` wrote. Throws for anything else.
    public init(from decoder: any Decoder) throws { self = try GeometryEditorRecord(from: decoder).state() }

    /// Writes the state: the vertices as the protocol's JSON, each once, and which of them each step has.
    public func encode(to encoder: any Encoder) throws { try GeometryEditorRecord(self).encode(to: encoder) }

    /// One step. What changes nothing is none.
    mutating func edit(_ change: (inout Version) -> Void) {
        let before = present
        change(&present)
        guard present.sketch != before.sketch else { return }
        done.append(Step(other: before))
        if done.count > Limits.sketchSteps { done.removeFirst() }
        undone = []
    }

    mutating func undo() {
        guard let step = done.popLast() else { return }
        undone.append(Step(name: step.name, other: present))
        present = step.other
    }

    mutating func redo() {
        guard let step = undone.popLast() else { return }
        done.append(Step(name: step.name, other: present))
        present = step.other
    }
}
