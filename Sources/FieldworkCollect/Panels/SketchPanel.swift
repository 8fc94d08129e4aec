/// A line or an area that is drawn vertex by vertex.
struct SketchPanel: PanelModel {
    static let template = "sketch"

    /// What keeps the shape from being saved.
    struct Problem: ViewModel {
        let text: String
        /// Whether it can be mended by itself.
        let crossing: Bool
    }

    struct Table: ViewModel {
        let rows: [Row]
        /// "200 of 1,204 vertices, around the chosen one"; nil where all are shown.
        let more: String?
        /// What the button says that begins another part.
        let partName: String
    }

    struct Row: ViewModel {
        /// Part and index, which the page posts.
        let spot: String
        let number: Int
        let lat: String
        let lon: String
        let current: Bool
    }

    let heading: String
    let subheading: String
    let action: String
    /// Whether it is the shape of a new feature.
    let new: Bool
    /// The vertices, for the map's script: JSON.
    let shape: String
    /// What a screen reader says after a step.
    let says: String
    /// Why the last step can't be done.
    let error: String?
    /// Whether others changed the shape meanwhile.
    let stale: Bool
    /// "Vertex 2 of 5"
    let vertex: String
    let measure: String
    /// What the last vertex snapped to.
    let snapped: String?
    let problem: Problem?
    /// The place in degrees, as it was typed or as the chosen vertex has it; empty for none.
    let lat: String
    let lon: String
    /// Whether a vertex is chosen.
    let chosen: Bool
    /// Whether new vertices snap to what is there.
    let snaps: Bool
    /// What the buttons say that take a step back or do it again; nil where there is none.
    let undo: String?
    let redo: String?
    /// nil before the first vertex.
    let table: Table?
    let isDraft: Bool
}
