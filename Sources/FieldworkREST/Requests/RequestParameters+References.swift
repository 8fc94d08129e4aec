import FieldworkGeometry

extension RequestParameters {
    /// The reference of the answer's geometries, nil for the layer's.
    func outputReference() throws(ServiceError) -> SpatialReference? {
        if let reference = try spatialReference("outSR") { return reference }
        return try spatialReference("defaultSR")
    }

    /// The reference of the request's geometry, nil for the geometry's own or the layer's.
    func inputReference() throws(ServiceError) -> SpatialReference? {
        if let reference = try spatialReference("inSR") { return reference }
        return try spatialReference("defaultSR")
    }

    /// The way between the datums of two references that `datumTransformation` names: a wkid, `{"wkid":…}` or
    /// `{"geoTransforms":[{"wkid":…,"transformForward":true},…]}`. Which way round follows from the references. nil without
    /// the parameter, or where nothing lies between them.
    func datumTransformation(
        from source: SpatialReference?, to target: SpatialReference?
    ) throws(ServiceError) -> DatumTransformation? {
        guard let text = self["datumTransformation"], text != "null" else { return nil }
        let codes = try Self.transformationCodes(text)
        guard let named = TransformationCatalog.transformation(codes: codes) else {
            throw .invalidQuery("'datumTransformation': the transformation \(text.prefix(64)) is not known.")
        }
        guard let source, let target else { return nil }
        do {
            return try TransformationCatalog.applicable(named, from: source, to: target)
        } catch {
            throw .invalidQuery("'datumTransformation': \(error.details)")
        }
    }

    private static func transformationCodes(_ text: String) throws(ServiceError) -> [Int] {
        func code(_ json: JSONValue?) -> Int? {
            json?.integerValue.flatMap { $0 > 0 ? Int(exactly: $0) : nil }
        }
        let refusal = ServiceError.invalidParameter(
            "'datumTransformation' must be a wkid, {\"wkid\": …} or {\"geoTransforms\": [{\"wkid\": …}, …]}.")
        guard let json = try? JSONParser.parse(text) else { throw refusal }
        guard let object = json.objectValue else {
            guard let single = code(json) else { throw refusal }
            return [single]
        }
        guard object["geoTransforms"] != nil else {
            guard let single = code(object["wkid"]) else { throw refusal }
            return [single]
        }
        let steps = object.array("geoTransforms")
        let codes = steps.compactMap { code($0["wkid"]) }
        guard (1...Limits.datumTransformationSteps).contains(steps.count), codes.count == steps.count else {
            throw refusal
        }
        return codes
    }
}
