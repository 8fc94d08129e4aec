internal import CPROJ

/// A way from one datum to another. Several lead between most pairs, each made for a region and with its own accuracy.
public class DatumTransformation: @unchecked Sendable, Hashable {
    // Unchecked because the class has a subclass; every stored property is a `let` of a Sendable type.

    /// Its name in the register, such as `NAD27 to WGS 84 (6)`.
    public let name: String
    /// Its accuracy in metres; nil when the register states none.
    public let accuracy: Double?
    /// Whether it needs a grid file that this machine does not have.
    public let isMissingProjectionEngineFiles: Bool

    init(name: String, accuracy: Double?, isMissingProjectionEngineFiles: Bool) {
        self.name = name
        self.accuracy = accuracy
        self.isMissingProjectionEngineFiles = isMissingProjectionEngineFiles
    }

    /// Whether both name the same transformation of the register.
    public static func == (one: DatumTransformation, other: DatumTransformation) -> Bool { one.name == other.name }

    /// Equal values give equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A transformation between geographic datums.
public final class GeographicTransformation: DatumTransformation, @unchecked Sendable {}

/// The transformations that the machine's register knows.
public enum TransformationCatalog {
    /// All transformations between two spatial references, the most suitable first.
    public static func transformationsBySuitability(
        from source: SpatialReference, to target: SpatialReference
    ) -> [DatumTransformation] {
        let register = ReferenceRegister.shared
        let (source, target) = (register.traits(of: source).definition, register.traits(of: target).definition)
        guard let operations = try? ProjectionOperations(from: source, to: target) else { return [] }
        return operations.transformations
    }

    /// The most suitable transformation whose files are all there; nil when there is none.
    public static func transformation(
        from source: SpatialReference, to target: SpatialReference
    ) -> DatumTransformation? {
        transformationsBySuitability(from: source, to: target).first { !$0.isMissingProjectionEngineFiles }
    }
}

/// The operations between two references, with the context that they belong to.
struct ProjectionOperations: ~Copyable {
    private let context: ProjectionContext
    private let list: OpaquePointer

    /// - Parameter throughOthers: whether ways through a third datum are listed although there are direct ones.
    init(from source: String, to target: String, throughOthers: Bool = false) throws(GeometryError) {
        let context = try ProjectionContext()
        let first = proj_create(context.pointer, source)
        let second = proj_create(context.pointer, target)
        let factory = proj_create_operation_factory_context(context.pointer, nil)
        defer {
            proj_destroy(first)
            proj_destroy(second)
            proj_operation_factory_context_destroy(factory)
        }
        guard let first, let second, let factory else {
            throw .unknownSpatialReference(details: context.lastError)
        }
        proj_operation_factory_context_set_spatial_criterion(
            context.pointer, factory, PROJ_SPATIAL_CRITERION_PARTIAL_INTERSECTION)
        if throughOthers {
            proj_operation_factory_context_set_allow_use_intermediate_crs(
                context.pointer, factory, PROJ_INTERMEDIATE_CRS_USE_ALWAYS)
        }
        // Those without their grid are listed as well: the caller is told what is missing.
        proj_operation_factory_context_set_grid_availability_use(
            context.pointer, factory, PROJ_GRID_AVAILABILITY_IGNORED)
        guard let list = proj_create_operations(context.pointer, first, second, factory) else {
            throw .unknownSpatialReference(details: context.lastError)
        }
        self.list = list
        self.context = context
    }

    deinit { proj_list_destroy(list) }

    private var count: Int32 { proj_list_get_count(list) }

    var transformations: [DatumTransformation] {
        (0..<count).compactMap { index in
            guard let operation = proj_list_get(context.pointer, list, index) else { return nil }
            defer { proj_destroy(operation) }
            guard let name = proj_get_name(operation) else { return nil }
            let accuracy = proj_coordoperation_get_accuracy(context.pointer, operation)
            return GeographicTransformation(
                name: String(cString: name), accuracy: accuracy < 0 ? nil : accuracy,
                isMissingProjectionEngineFiles: proj_coordoperation_is_instantiable(context.pointer, operation) == 0)
        }
    }

    /// Takes the operation of a name out, ready to be used in a context of its own. Between projected references the
    /// transformation is one step of several: the first operation that has it among its steps is taken.
    consuming func object(named name: String) throws(GeometryError) -> ProjectionObject {
        let steps = TransformationSteps(name)
        let found = transformations.firstIndex { transformation in
            transformation.name == name || TransformationSteps(transformation.name).contains(steps)
        }
        guard let found, let operation = proj_list_get(context.pointer, list, Int32(found)) else {
            throw .unknownSpatialReference(details: "The transformation \(name.prefix(80)) does not apply here.")
        }
        defer { proj_destroy(operation) }
        guard proj_coordoperation_is_instantiable(context.pointer, operation) != 0 else {
            throw .missingGridFile(details: "The transformation \(name.prefix(80)) needs a file that is not installed.")
        }
        return try ProjectionObject(normalizing: operation)
    }

    /// Whether two references stand on the same datum.
    static func shareDatum(_ one: String, _ other: String) throws(GeometryError) -> Bool {
        let context = try ProjectionContext()
        func geodetic(_ definition: String) -> OpaquePointer? {
            guard let reference = proj_create(context.pointer, definition) else { return nil }
            defer { proj_destroy(reference) }
            return proj_crs_get_geodetic_crs(context.pointer, reference)
        }
        let (first, second) = (geodetic(one), geodetic(other))
        defer {
            proj_destroy(first)
            proj_destroy(second)
        }
        guard let first, let second else { return false }
        return proj_is_equivalent_to_with_ctx(
            context.pointer, first, second, PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS) != 0
    }
}
