import FieldworkGeometry

extension Quantization {
    /// Cells of the grid over an extent whose tolerance nobody named.
    private static let cellsPerExtent = 10_000.0

    /// The integer grid that a client asks for; nil when it asks for none.
    ///
    /// - Parameters:
    ///   - reference: the answer's.
    ///   - maxAllowableOffset: stands for the tolerance where that is missing.
    init?(
        _ parameters: RequestParameters, reference: SpatialReference?, maxAllowableOffset: Double
    ) throws(ServiceError) {
        guard let json = try parameters.json("quantizationParameters"), !json.isNull else { return nil }
        let extent = json["extent"]
        func side(_ name: String) -> Double? { extent?[name]?.doubleValue.flatMap { $0.isFinite ? $0 : nil } }
        guard let xMin = side("xmin"), let yMin = side("ymin"), let yMax = side("ymax") else {
            throw .invalidParameter("'quantizationParameters' needs an extent.")
        }
        let isEditMode = json["mode"]?.stringValue?.lowercased() == "edit"
        let tolerance: Double
        if isEditMode {
            // What is edited is sent back: a coarser grid would move what nobody touched.
            tolerance = reference?.isGeographic == true ? 1e-9 : 0.0001
        } else if let named = json["tolerance"], !named.isNull {
            tolerance = named.doubleValue ?? .nan
        } else if maxAllowableOffset > 0 {
            tolerance = maxAllowableOffset
        } else {
            tolerance = max((side("xmax") ?? xMin) - xMin, yMax - yMin) / Self.cellsPerExtent
        }
        guard tolerance > 0, tolerance.isFinite else {
            throw .invalidParameter("'quantizationParameters' needs a positive tolerance or an extent with a size.")
        }
        let isUpperLeft = json["originPosition"]?.stringValue?.lowercased() != "lowerleft"
        self.init(
            isUpperLeftOrigin: isUpperLeft, tolerance: tolerance, originX: xMin, originY: isUpperLeft ? yMax : yMin,
            isViewMode: !isEditMode)
    }
}
