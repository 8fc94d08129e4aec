import Fieldwork

/// Why a shape under edit can't be saved.
enum SketchProblem: Sendable, Hashable {
    case tooFew(Int)
    case crossing

    /// nil where the shape can be saved.
    init?(_ shape: Geometry?, _ kind: GeometryKind) {
        let least = kind == .line ? 2 : 3
        let parts = (shape as? Multipart)?.parts.map { part in Set(part.points.map { [$0.x, $0.y] }) } ?? []
        guard let shape, !parts.isEmpty, parts.allSatisfy({ $0.count >= least }) else {
            self = .tooFew(least)
            return
        }
        guard kind == .polygon, !GeometryEngine.isSimple(shape) else { return nil }
        self = .crossing
    }

    func text(_ kind: GeometryKind) -> String {
        switch self {
        case .tooFew(let least): "\(kind == .line ? "A line" : "An area") needs \(least) vertices in each part."
        case .crossing: "The edge crosses itself."
        }
    }
}
