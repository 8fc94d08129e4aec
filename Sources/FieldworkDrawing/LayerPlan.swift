import FieldworkGeometry
package import FieldworkREST
package import FieldworkTiles

/// How the features of one layer are drawn in one image.
package struct LayerPlan: Sendable {
    package let layer: LayerDefinition
    /// The names of the fields that the drawing needs.
    package let fields: [String]
    /// What the layer's looks ask for besides; nil for looks without expressions.
    package let expressions: DrawnExpressions?
    /// Where what they give stands among the values of a feature, behind the fields.
    let places: [String: Int]
    package let frame: MapFrame
    /// From 0 to 1.
    let opacity: Double
    let looks: [SymbolLook]
    let finder: ClassFinder
    let variables: VisualVariables
    /// How points add up; nil for a layer whose features are drawn each.
    let heat: HeatMap?
    let labels: [LabelClass]
    let geometryType: LayerGeometryType
    /// Pixels around the image from which features are drawn into it.
    package let margin: Double

    /// nil for a table.
    /// - Parameters:
    ///   - layer: its `drawingInfo` says how it is drawn.
    ///   - isTile: whether it is told from the change log which tiles an edit makes anew: features further away than the log is
    ///     asked about are not drawn then.
    package init?(_ layer: LayerDefinition, in frame: MapFrame, isTile: Bool = false) {
        guard let geometryType = layer.geometryType else { return nil }
        self.layer = layer
        self.frame = frame
        self.geometryType = geometryType
        let drawn = DrawnExpressions(layer)
        let wanted = Set(StyleFields.names(layer) + (drawn?.fields(of: layer) ?? []))
        let fields = layer.fields.map(\.name).filter(wanted.contains)
        let attributes = drawn?.attributes.map(\.name) ?? []
        let columns = fields + attributes
        self.fields = fields
        expressions = drawn
        places = Dictionary(
            attributes.enumerated().map { ($1, fields.count + $0) }, uniquingKeysWith: { first, _ in first })
        let info = layer.drawingInfo
        let renderer = DrawnRenderer.evaluated(info?["renderer"])
        let classes = RendererClasses(renderer, maximum: Limits.drawnClasses)
        finder = ClassFinder(classes, columns: columns)
        looks = classes.all.map { SymbolLook($0.symbol, for: geometryType, scale: frame.symbolScale) }
        variables = VisualVariables(renderer, columns: columns)
        opacity = 1 - min(max(info?["transparency"]?.doubleValue ?? 0, 0), 100) / 100
        labels = LabelClass.classes(of: layer, columns: columns, in: frame)
        let isPoint = geometryType == .point || geometryType == .multipoint
        // A tile draws no points from further away than its margin.
        let farthest = isTile ? Self.tileMargin - 2 : Limits.heatReach
        heat =
            isPoint
            ? HeatMap(renderer, columns: columns, scale: frame.symbolScale, farthest: farthest) : nil
        let reach = max(looks.map(\.reach).max() ?? 0, heat?.reach ?? 0)
        let varies = variables.isEmpty ? 0 : 64 * frame.symbolScale
        margin = min(
            max(reach, varies) + 2, isTile ? (isPoint ? Self.tileMargin : 4) : max(512, (heat?.reach ?? 0) + 2))
    }

    /// Pixels around a tile from which points are drawn into it.
    private static let tileMargin = 32.0

    /// Bytes that drawing the layer takes besides the image.
    package var memory: Int { heat == nil ? 0 : HeatSheet.memory(width: frame.width, height: frame.height) }
}
