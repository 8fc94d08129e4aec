public import FieldworkGeometry
import Synchronization

/// Edits one geometry in steps that can be undone. There is no view here: vertices are selected, moved and inserted by
/// calls, which may come from any thread. Calls that ask for what is not there (a vertex of another geometry, an edit
/// before the start) do nothing.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class GeometryEditor: @unchecked Sendable {
    private typealias Version = GeometryEditorState.Version

    private struct Session: Sendable {
        /// nil before the start.
        var edited: GeometryEditorState?
        var tool: GeometryEditorTool = VertexTool()
    }

    private let session = Mutex(Session())
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
        get { session.withLock { $0.tool } }
        set { session.withLock { $0.tool = newValue } }
    }

    /// The vertices of each path or ring, as they are edited: those of `geometry`, and what a geometry can't have. The
    /// last part is empty behind `addPart`, and a ring's last vertex may lie on its first one. Empty before the start.
    ///
    /// The indices are those of `selectVertexAt(partIndex:vertexIndex:)`.
    public var parts: [[Point]] { session.withLock { $0.edited?.present.sketch.parts ?? [] } }

    // MARK: The session

    /// Whether something is edited.
    public var isStarted: Bool { session.withLock { $0.edited != nil } }

    /// Begins with an empty geometry of a kind: points, multipoints, polylines, polygons, envelopes. What was edited
    /// before is left.
    public func start(withType type: Geometry.Type) { start(GeometrySketch(type: type)) }

    /// Begins with a geometry. What was edited before is left. True curves become the vertices along them, and a ring
    /// that ends with its first vertex repeated is edited without the repeated one.
    public func start(withInitial geometry: Geometry) { start(GeometrySketch(geometry)) }

    private func start(_ sketch: GeometrySketch?) {
        guard let sketch else { return }
        start(withState: GeometryEditorState(present: Version(sketch: sketch)))
    }

    /// Goes on where another editor was, in this process or in an earlier one: with its geometry, its selection, and
    /// the steps that can be taken back or done again. What was edited before is left.
    /// - Parameter state: the `savedState` of that editor.
    public func start(withState state: GeometryEditorState) {
        session.withLock { session in
            session.edited = state
            show(session)
        }
    }

    /// All that is needed to go on later; nil before the start. It is a value: what is edited afterwards does not
    /// change it.
    ///
    /// ```swift
    /// try JSONEncoder().encode(editor.savedState).write(to: file, options: .atomic)
    /// // In a later process:
    /// let state = try JSONDecoder().decode(GeometryEditorState.self, from: Data(contentsOf: file))
    /// editor.start(withState: state)
    /// editor.undo()                             // the step that was made last, in the earlier process
    /// ```
    public var savedState: GeometryEditorState? { session.withLock { $0.edited } }

    /// Ends the session.
    /// - Returns: the geometry as it was last; nil when nothing was edited.
    @discardableResult
    public func stop() -> Geometry? {
        session.withLock { session in
            let last = session.edited?.present.sketch.geometry
            session.edited = nil
            show(session)
            return last
        }
    }

    /// Within the lock, so that watchers see the states in their order.
    private func show(_ session: Session) {
        let new = session.edited?.present.sketch.geometry
        if geometry != new { geometry = new }
        let selection = session.edited?.present.selection
        if selectedElement !== selection { selectedElement = selection }
    }

    // MARK: Undo

    /// Whether there is a step to take back.
    public var canUndo: Bool { session.withLock { $0.edited?.done.isEmpty == false } }
    /// Whether there is a step to do again.
    public var canRedo: Bool { session.withLock { $0.edited?.undone.isEmpty == false } }

    /// The name of the step that `undo` takes back; nil where it has none, and without such a step.
    public var undoActionName: String? { session.withLock { $0.edited?.done.last?.name } }
    /// The name of the step that `redo` does again; nil where it has none, and without such a step.
    public var redoActionName: String? { session.withLock { $0.edited?.undone.last?.name } }

    /// Names the step that was made last: the one that `undo` takes back. The name goes with the step when it is taken
    /// back and done again, and is kept in `savedState`. Does nothing without such a step.
    ///
    /// An edit that changes nothing is no step: named afterwards, the step before it gets the name.
    /// - Parameter name: what people read beside "Undo", as "move vertex 5"; empty for no name.
    public func setActionName(_ name: String) {
        session.withLock { session in
            guard let last = session.edited?.done.indices.last else { return }
            session.edited?.done[last].name = name.isEmpty ? nil : name
        }
    }

    /// Takes the last step back; its selection comes back with it.
    public func undo() {
        session.withLock { session in
            session.edited?.undo()
            show(session)
        }
    }

    /// Does again what was taken back last.
    public func redo() {
        session.withLock { session in
            session.edited?.redo()
            show(session)
        }
    }

    /// One step. What changes nothing is none.
    private func edit(_ change: (inout Version) -> Void) {
        session.withLock { session in
            guard var edited = session.edited else { return }
            session.edited = nil
            edited.edit(change)
            session.edited = edited
            show(session)
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
            guard step.sketch.hasPart(partIndex) else { return }
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
        edit { $0 = Version(sketch: sketch) }
    }

    /// Begins a path or a ring: the vertices that are inserted next make it. One step, after which nothing is selected.
    ///
    /// `geometry` has the new part from its first vertex on. Does nothing when the last part is empty still, when there
    /// is none yet, and for kinds without parts.
    ///
    /// ```swift
    /// editor.start(withType: Polyline.self)
    /// for point in path { editor.insertVertex(point) }
    /// editor.addPart()
    /// for point in otherPath { editor.insertVertex(point) }
    /// ```
    public func addPart() {
        edit { step in
            let count = step.sketch.parts.count
            step.sketch.beginPart()
            if step.sketch.parts.count > count { step.selection = nil }
        }
    }

    /// Inserts a vertex behind the selected one, within the selected side, or at the end. It is selected afterwards.
    /// One in another reference is brought into that of the geometry. A point without a height or a measure gets those
    /// of the vertex before it, where the geometry has them.
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

    /// Moves what is selected to a point: a vertex, the middle of a side, which becomes a vertex, or the centre of a
    /// part or of the geometry. A vertex keeps its height and its measure where the point has none.
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
                let new = Point(x: old.x + x, y: old.y + y, spatialReference: step.sketch.spatialReference)
                guard let new = step.sketch.placed(new) else { return }
                step.sketch.move(part: vertex.partIndex, vertex: vertex.vertexIndex, to: new)
            case let part as GeometryEditorPart: step.sketch.move(part: part.partIndex, x: x, y: y)
            case is GeometryEditorGeometry: step.sketch.move(part: nil, x: x, y: y)
            default: return
            }
        }
    }
}
