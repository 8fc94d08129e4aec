public import FieldworkGeometry
import Synchronization

/// Edits one geometry in steps that can be undone. There is no view here: vertices are selected, moved and inserted by calls, which
/// may come from any thread. Calls that ask for what is not there (a vertex of another geometry, an edit before the start) do
/// nothing.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class GeometryEditor: @unchecked Sendable {
    private struct Step: Sendable {
        var sketch: GeometrySketch
        var selection: GeometryEditorElement?
    }

    private struct State: Sendable {
        /// nil before the start.
        var present: Step?
        var done: [Step] = []
        var undone: [Step] = []
        var tool: GeometryEditorTool = VertexTool()
    }

    private let state = Mutex(State())
    /// The geometry as it is now; nil before the start. Empty ones are there from the start.
    @Streamed public private(set) var geometry: Geometry?
    /// What is selected; nil for nothing.
    @Streamed public private(set) var selectedElement: GeometryEditorElement?
    /// What a pointer is over: nothing, since nothing here has one.
    @Streamed public private(set) var hoveredElement: GeometryEditorElement?
    /// What a pointer has picked up: nothing, since nothing here has one.
    @Streamed public private(set) var pickedUpElement: GeometryEditorElement?
    /// What a pointer is caught by.
    public let snapSettings = SnapSettings()

    /// An editor that has not started.
    public init() {}

    /// How a pointer edits; vertex by vertex at first.
    public var tool: GeometryEditorTool {
        get { state.withLock { $0.tool } }
        set { state.withLock { $0.tool = newValue } }
    }

    // MARK: The session

    /// Whether something is edited.
    public var isStarted: Bool { state.withLock { $0.present != nil } }

    /// Begins with an empty geometry of a kind: points, multipoints, polylines, polygons, envelopes. What was edited before is
    /// left.
    public func start(withType type: Geometry.Type) { start(GeometrySketch(type: type)) }

    /// Begins with a geometry. What was edited before is left.
    public func start(withInitial geometry: Geometry) { start(GeometrySketch(geometry)) }

    private func start(_ sketch: GeometrySketch?) {
        guard let sketch else { return }
        state.withLock { state in
            state.present = Step(sketch: sketch)
            state.done = []
            state.undone = []
            show(state)
        }
    }

    /// Ends the session.
    /// - Returns: the geometry as it was last; nil when nothing was edited.
    @discardableResult
    public func stop() -> Geometry? {
        state.withLock { state in
            let last = state.present?.sketch.geometry
            state = State(tool: state.tool)
            show(state)
            return last
        }
    }

    /// Within the lock, so that watchers see the states in their order.
    private func show(_ state: State) {
        let new = state.present?.sketch.geometry
        if geometry != new { geometry = new }
        if selectedElement !== state.present?.selection { selectedElement = state.present?.selection }
    }

    // MARK: Undo

    /// Whether there is a step to take back.
    public var canUndo: Bool { state.withLock { !$0.done.isEmpty } }
    /// Whether there is a step to do again.
    public var canRedo: Bool { state.withLock { !$0.undone.isEmpty } }

    /// Takes the last step back; its selection comes back with it.
    public func undo() {
        state.withLock { state in
            guard let present = state.present, let last = state.done.popLast() else { return }
            state.undone.append(present)
            state.present = last
            show(state)
        }
    }

    /// Does again what was taken back last.
    public func redo() {
        state.withLock { state in
            guard let present = state.present, let next = state.undone.popLast() else { return }
            state.done.append(present)
            state.present = next
            show(state)
        }
    }

    /// One step. What changes nothing is none.
    private func edit(_ change: (inout Step) -> Void) {
        state.withLock { state in
            guard let before = state.present else { return }
            var after = before
            change(&after)
            if after.sketch != before.sketch {
                state.done.append(before)
                if state.done.count > Limits.sketchSteps { state.done.removeFirst() }
                state.undone = []
            }
            state.present = after
            show(state)
        }
    }

    // MARK: Selection

    /// Selects a vertex.
    public func selectVertexAt(partIndex: Int, vertexIndex: Int) {
        edit { step in
            guard step.sketch.hasVertex(partIndex, vertexIndex) else { return }
            step.selection = GeometryEditorVertex(partIndex: partIndex, vertexIndex: vertexIndex)
        }
    }

    /// Selects the middle of a side.
    public func selectMidVertexAt(partIndex: Int, segmentIndex: Int) {
        edit { step in
            guard step.sketch.hasSegment(partIndex, segmentIndex) else { return }
            step.selection = GeometryEditorMidVertex(partIndex: partIndex, segmentIndex: segmentIndex)
        }
    }

    /// Selects a path or a ring.
    public func selectPart(partIndex: Int) {
        edit { step in
            guard step.sketch.parts.indices.contains(partIndex) else { return }
            step.selection = GeometryEditorPart(partIndex: partIndex)
        }
    }

    /// Selects the whole geometry.
    public func selectGeometry() {
        edit { step in if !step.sketch.isEmpty { step.selection = GeometryEditorGeometry() } }
    }

    /// Selects nothing.
    public func clearSelection() { edit { $0.selection = nil } }

    // MARK: Edits

    /// Takes all vertices away.
    public func clearGeometry() {
        edit { step in
            step.sketch.remove(part: nil)
            step.selection = nil
        }
    }

    /// Takes what is selected away: a vertex, a part, or all. The middle of a side is nothing that could go.
    public func deleteSelectedElement() {
        edit { step in
            switch step.selection {
            case let vertex as GeometryEditorVertex:
                step.sketch.remove(part: vertex.partIndex, vertex: vertex.vertexIndex)
            case let part as GeometryEditorPart: step.sketch.remove(part: part.partIndex)
            case is GeometryEditorGeometry: step.sketch.remove(part: nil)
            default: return
            }
            step.selection = nil
        }
    }

    /// Lets go of what a pointer has picked up.
    public func cancelCurrentAction() {
        if pickedUpElement != nil { pickedUpElement = nil }
    }

    /// Puts another geometry in the place of this one, as one step.
    public func replaceGeometry(with geometry: Geometry) {
        guard let sketch = GeometrySketch(geometry) else { return }
        edit { $0 = Step(sketch: sketch) }
    }

    /// Inserts a vertex behind the selected one, within the selected side, or at the end. It is selected afterwards. One in another
    /// reference is brought into that of the geometry.
    public func insertVertex(_ point: Point) {
        edit { step in
            guard let point = step.sketch.placed(point) else { return }
            let place: (part: Int, vertex: Int)? =
                switch step.selection {
                case let vertex as GeometryEditorVertex: (vertex.partIndex, vertex.vertexIndex)
                case let middle as GeometryEditorMidVertex: (middle.partIndex, middle.segmentIndex)
                case let part as GeometryEditorPart:
                    (part.partIndex, step.sketch.parts[part.partIndex].count - 1)
                default: nil
                }
            let vertex = step.sketch.insert(point, after: place)
            step.selection = GeometryEditorVertex(partIndex: vertex.part, vertexIndex: vertex.vertex)
        }
    }

    /// Moves what is selected to a point: a vertex, the middle of a side, which becomes a vertex, or the centre of a part or of the
    /// geometry.
    public func moveSelectedElement(to point: Point) {
        edit { step in
            guard step.selection != nil, let point = step.sketch.placed(point) else { return }
            switch step.selection {
            case let vertex as GeometryEditorVertex:
                step.sketch.move(part: vertex.partIndex, vertex: vertex.vertexIndex, to: point)
            case let middle as GeometryEditorMidVertex:
                let place = step.sketch.insert(point, after: (middle.partIndex, middle.segmentIndex))
                step.selection = GeometryEditorVertex(partIndex: place.part, vertexIndex: place.vertex)
            case let selection?:
                let part = (selection as? GeometryEditorPart)?.partIndex
                guard let centre = step.sketch.centre(of: part) else { return }
                step.sketch.move(part: part, x: point.x - centre.x, y: point.y - centre.y)
            case nil: return
            }
        }
    }

    /// Moves what is selected by so many units of the geometry's reference to the right and up.
    public func moveSelectedElement(x: Double, y: Double) {
        edit { step in
            switch step.selection {
            case let vertex as GeometryEditorVertex:
                let old = step.sketch.parts[vertex.partIndex][vertex.vertexIndex]
                let new = Point(
                    x: old.x + x, y: old.y + y, z: old.z, m: old.m, spatialReference: old.spatialReference)
                step.sketch.move(part: vertex.partIndex, vertex: vertex.vertexIndex, to: new)
            case let part as GeometryEditorPart: step.sketch.move(part: part.partIndex, x: x, y: y)
            case is GeometryEditorGeometry: step.sketch.move(part: nil, x: x, y: y)
            default: return
            }
        }
    }
}
