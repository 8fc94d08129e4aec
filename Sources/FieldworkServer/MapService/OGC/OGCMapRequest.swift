import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST

/// A request for a map by OGC API - Maps, read. Without a box the whole map is drawn, without a size 1,024 pixels of its longer side.
struct OGCMapRequest: Sendable {
    let export: ExportRequest

    private static let side = 1_024

    /// - Parameters:
    ///   - layers: the lowest first.
    ///   - whole: the box of all that is drawn, in degrees; nil where there is nothing.
    init(_ parameters: RequestParameters, layers: [LayerDefinition], whole: Envelope?) throws {
        // What would change the map and is not done is refused by name.
        for name in [
            "subset", "subset-crs", "center", "center-crs", "scale-denominator", "orientation", "datetime",
            "mm-per-pixel",
        ]
        where parameters[name] != nil {
            throw ServiceError.invalidParameter(
                "'\(name)' is not supported. A map is asked for by bbox, width and height.")
        }
        let boxReference = try Self.reference("bbox-crs", parameters) ?? Self.degrees
        let reference =
            try Self.reference("crs", parameters) ?? (parameters["bbox"] == nil ? Self.degrees : boxReference)
        let box = try Self.box(parameters, boxReference, whole: whole, into: reference.reference)
        let (width, height) = try Self.size(parameters, box)
        let frame: MapFrame
        do throws(DrawingError) {
            frame = try MapFrame(exactly: box, width: width, height: height, dpi: 96)
        } catch {
            throw ServiceError.invalidParameter("'bbox', 'width' and 'height': \(error)")
        }
        let format = try Self.format(parameters)
        let drawn = try layers.filter { $0.isShown(at: frame.scale) }.map { layer in
            DrawnLayer(layer: layer, sourceID: layer.id, query: try LayerConditions.query(layer, [:]))
        }
        export = ExportRequest(
            frame: frame, format: format,
            isTransparent: try parameters.bool("transparent") ?? (parameters["bgcolor"] == nil),
            background: try WMSMapRequest.background(parameters), layers: drawn, output: .image)
    }

    private static let degrees = WMSReference(WMSReference.longitudeFirst, .wgs84, .v130)

    /// A reference by its address, its name (`urn:ogc:def:crs:EPSG::3857`, `EPSG:3857`), or that in brackets.
    private static func reference(
        _ parameter: String, _ parameters: RequestParameters
    ) throws(ServiceError) -> WMSReference? {
        guard let text = parameters[parameter]?.uppercased(), !text.isEmpty else { return nil }
        let words = text.trimmingPrefix("[").split { "/:]".contains($0) }
        if words.last == "CRS84" { return degrees }
        guard words.contains("EPSG"), let number = words.last.flatMap({ Int($0) }), let wkid = WKID(number),
            let reference = SpatialReference(wkid: wkid)
        else {
            throw .invalidParameter(
                "'\(parameter)' must be \(OGCName.longitudeLatitude), or the address of a reference of EPSG that is known."
            )
        }
        return WMSReference("EPSG:\(number)", reference, .v130)
    }

    private static func box(
        _ parameters: RequestParameters, _ reference: WMSReference, whole: Envelope?, into target: SpatialReference
    ) throws -> Envelope {
        let box: Envelope
        if parameters["bbox"] != nil {
            do throws(WMSException) {
                box = try reference.box(parameters)
            } catch {
                throw ServiceError.invalidParameter(error.message)
            }
        } else {
            guard let whole else { throw ServiceError.notFound("There is nothing to draw.") }
            box = whole.withArea
        }
        guard box.spatialReference != target else { return box }
        guard let projected = try? GeometryEngine.projected(box, into: target) else {
            throw ServiceError.invalidParameter("'bbox' has no place in the reference of the map.")
        }
        return projected
    }

    private static func size(_ parameters: RequestParameters, _ box: Envelope) throws(ServiceError) -> (Int, Int) {
        let sides = 1...FieldworkDrawing.Limits.imageSide
        func side(_ name: String) throws(ServiceError) -> Int? {
            guard let number = try parameters.integer(name) else { return nil }
            guard sides.contains(number) else {
                throw .invalidParameter("'\(name)' must be pixels from 1 to \(sides.upperBound).")
            }
            return number
        }
        let ratio = box.width > 0 && box.height > 0 ? box.width / box.height : 1
        func scaled(_ number: Int, by factor: Double) -> Int {
            min(max(Int(exactly: (Double(number) * factor).rounded()) ?? sides.upperBound, 1), sides.upperBound)
        }
        switch (try side("width"), try side("height")) {
        case (let width?, let height?): return (width, height)
        case (let width?, nil): return (width, scaled(width, by: 1 / ratio))
        case (nil, let height?): return (scaled(height, by: ratio), height)
        case (nil, nil):
            let side = Self.side
            return ratio >= 1 ? (side, scaled(side, by: 1 / ratio)) : (scaled(side, by: ratio), side)
        }
    }

    private static func format(_ parameters: RequestParameters) throws(ServiceError) -> ImageFormat {
        switch parameters["f"]?.lowercased() {
        case nil, "png", "image/png": .png
        case "jpeg", "jpg", "image/jpeg": .jpg
        case "svg", "image/svg+xml": .svg
        case "pdf", "application/pdf": .pdf
        case let name?: throw .invalidParameter("'f' is '\(name.prefix(32))'; it must be png, jpeg, svg or pdf.")
        }
    }
}

extension Envelope {
    /// A box of degrees that has an area: a street's width is around a single place, or around places in one line.
    var withArea: Envelope {
        guard width <= 0 || height <= 0 else { return self }
        let margin = 0.001
        return Envelope(
            xMin: xMin - margin, yMin: yMin - margin, xMax: xMax + margin, yMax: yMax + margin, spatialReference: .wgs84
        )
    }
}
