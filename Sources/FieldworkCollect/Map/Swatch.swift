import Fieldwork

/// A symbol as panels show it, drawn by the SDK.
struct Swatch: Sendable, Hashable {
    /// An element of SVG, which the SDK makes of numbers, escaped text and pictures that run nothing.
    let svg: String
    /// Pixels across and down.
    let side: Int

    /// Small symbols are shown enlarged, for they are to be told apart in a list; none is larger than its line.
    private static let sides = 12...22

    /// nil for a symbol that can't be drawn.
    init?(_ symbol: Symbol?) {
        guard let symbol else { return nil }
        let marker = (symbol as? SimpleMarkerSymbol).map { $0.size + ($0.outline?.width ?? 0) }
        let pixels = marker.map { Int(min(max($0, 0), 100) * 4 / 3) + 4 } ?? Self.sides.upperBound
        side = min(max(pixels, Self.sides.lowerBound), Self.sides.upperBound)
        guard let svg = symbol.svgSwatch(size: side) else { return nil }
        self.svg = svg
    }

    /// - Parameter large: whether it stands at the head of a row.
    func view(large: Bool = false) -> SymbolView { SymbolView(svg: Markup(html: svg), large: large) }
}
