internal import CPROJ

extension TransformationCatalog {
    /// The transformation that the register has under codes, one after the other: `[1188]`, `[1626, 1149]`. Codes are
    /// EPSG's, and above those the vendor's own (`datumTransformation`). nil for a code that is not known.
    package static func transformation(codes: [Int]) -> DatumTransformation? {
        guard !codes.isEmpty, let context = try? ProjectionContext() else { return nil }
        var names: [String] = []
        for code in codes {
            func operation(of authority: String) -> OpaquePointer? {
                proj_create_from_database(
                    context.pointer, authority, String(code), PJ_CATEGORY_COORDINATE_OPERATION, 0, nil)
            }
            guard let operation = operation(of: "EPSG") ?? operation(of: "ESRI") else { return nil }
            defer { proj_destroy(operation) }
            guard let name = proj_get_name(operation) else { return nil }
            names.append(String(cString: name))
        }
        return GeographicTransformation(
            name: names.joined(separator: TransformationSteps.separator), accuracy: nil,
            isMissingProjectionEngineFiles: false)
    }

    /// The transformation, or its inverse, as it leads from one reference to another; nil when both have the same datum,
    /// so that nothing is transformed.
    ///
    /// Throws `GeometryError.unknownSpatialReference` when it does not lead there, `GeometryError.missingGridFile`.
    package static func applicable(
        _ transformation: DatumTransformation, from source: SpatialReference, to target: SpatialReference
    ) throws(GeometryError) -> DatumTransformation? {
        if source == target { return nil }
        let register = ReferenceRegister.shared
        let (first, second) = (register.traits(of: source).definition, register.traits(of: target).definition)
        if try ProjectionOperations.shareDatum(first, second) { return nil }
        let steps = TransformationSteps(transformation.name)
        let operations = try ProjectionOperations(from: first, to: second, throughOthers: steps.names.count > 1)
            .transformations
        for way in [steps, steps.inverse] {
            guard let operation = operations.first(where: { TransformationSteps($0.name).contains(way) }) else {
                continue
            }
            guard !operation.isMissingProjectionEngineFiles else {
                throw .missingGridFile(
                    details: "The transformation \(way.text.prefix(80)) needs a file that is not installed.")
            }
            return GeographicTransformation(
                name: way.text, accuracy: operation.accuracy, isMissingProjectionEngineFiles: false)
        }
        throw .unknownSpatialReference(
            details: "The transformation \(steps.text.prefix(80)) does not lead from one datum to the other.")
    }
}

/// The steps of a transformation, as the register writes them in its name.
struct TransformationSteps: Equatable {
    static let separator = " + "
    private static let inversePrefix = "Inverse of "

    let names: [String]

    init(_ name: String) {
        var names: [String] = []
        var rest = name[...]
        while let range = rest.firstRange(of: Self.separator) {
            names.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        self.names = names + [String(rest)]
    }

    private init(names: [String]) { self.names = names }

    var text: String { names.joined(separator: Self.separator) }

    /// The way back.
    var inverse: TransformationSteps {
        TransformationSteps(
            names: names.reversed().map { name in
                name.hasPrefix(Self.inversePrefix)
                    ? String(name.dropFirst(Self.inversePrefix.count)) : Self.inversePrefix + name
            })
    }

    /// Whether all steps of another are among these, one after the other: between projected references there are others
    /// before and after them.
    func contains(_ other: TransformationSteps) -> Bool {
        guard !other.names.isEmpty, other.names.count <= names.count else { return false }
        return (0...(names.count - other.names.count)).contains { start in
            names[start..<(start + other.names.count)].elementsEqual(other.names)
        }
    }
}
