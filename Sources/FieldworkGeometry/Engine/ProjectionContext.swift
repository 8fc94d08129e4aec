internal import CPROJ
internal import Synchronization

/// A PROJ context: what errors and the database handle of one owner live in. It never uses the network.
struct ProjectionContext: ~Copyable {
    let pointer: OpaquePointer

    init() throws(GeometryError) {
        guard let pointer = proj_context_create() else {
            throw .unknownSpatialReference(details: "The projection library could not be started.")
        }
        self.pointer = pointer
        proj_context_set_enable_network(pointer, 0)
        // Errors come back as results; nothing is to be printed.
        proj_log_level(pointer, PJ_LOG_NONE)
    }

    deinit { proj_context_destroy(pointer) }

    var lastError: String {
        let code = proj_context_errno(pointer)
        guard code != 0, let text = proj_context_errno_string(pointer, code) else { return "unknown error" }
        return String(cString: text)
    }
}

/// A PROJ object (a reference or a transformation) and the context that it belongs to.
struct ProjectionObject: ~Copyable {
    let context: ProjectionContext
    let pointer: OpaquePointer

    /// A reference system from a definition such as `EPSG:2913` or well-known text.
    init(definition: String) throws(GeometryError) {
        let context = try ProjectionContext()
        guard let pointer = proj_create(context.pointer, definition) else {
            throw .unknownSpatialReference(details: "\(definition.prefix(80)): \(context.lastError)")
        }
        self.pointer = pointer
        self.context = context
    }

    /// The transformation between two definitions, x before y whatever the register's axis order.
    init(from source: String, to target: String) throws(GeometryError) {
        let context = try ProjectionContext()
        guard let raw = proj_create_crs_to_crs(context.pointer, source, target, nil) else {
            throw .unknownSpatialReference(
                details: "No transformation from \(source.prefix(80)) to \(target.prefix(80)): \(context.lastError)")
        }
        guard let normalized = proj_normalize_for_visualization(context.pointer, raw) else {
            proj_destroy(raw)
            throw .unknownSpatialReference(details: context.lastError)
        }
        proj_destroy(raw)
        pointer = normalized
        self.context = context
    }

    /// A copy of an operation in a context of its own, x before y whatever the register's axis order.
    init(normalizing operation: OpaquePointer) throws(GeometryError) {
        let context = try ProjectionContext()
        guard let clone = proj_clone(context.pointer, operation) else {
            throw .unknownSpatialReference(details: context.lastError)
        }
        defer { proj_destroy(clone) }
        guard let normalized = proj_normalize_for_visualization(context.pointer, clone) else {
            throw .unknownSpatialReference(details: context.lastError)
        }
        pointer = normalized
        self.context = context
    }

    deinit { proj_destroy(pointer) }
}

/// What is known of spatial references, asked of PROJ's database once each.
final class ReferenceRegister: Sendable {
    static let shared = ReferenceRegister()

    struct Traits: Sendable {
        var isGeographic: Bool
        /// Metres a unit, or radians for a geographic reference.
        var unitFactor: Double
        /// Whether the register writes the latitude or the northing first.
        var isNorthFirst: Bool
        var definition: String
    }

    private let known = Mutex<[String: Traits?]>([:])

    func contains(_ wkid: Int) -> Bool { traits(number: wkid) != nil }

    func canRead(_ text: String) -> Bool {
        ReferenceText.isAcceptable(text) && looked(up: text) != nil
    }

    func traits(of reference: SpatialReference) -> Traits {
        let found = reference.latestWKID.map { traits(number: $0) } ?? looked(up: reference.wkText)
        // A reference can only be made when it is known, so the fallback stands for nothing that exists.
        return found ?? Traits(isGeographic: false, unitFactor: 1, isNorthFirst: false, definition: "")
    }

    private func traits(number: Int) -> Traits? {
        switch number {
        case 4_326:
            return Traits(isGeographic: true, unitFactor: .pi / 180, isNorthFirst: true, definition: "EPSG:4326")
        case 3_857, 3_785, 102_100, 102_113, 900_913:
            return Traits(isGeographic: false, unitFactor: 1, isNorthFirst: false, definition: "EPSG:3857")
        // Below this number the register is EPSG's; a few of the vendor's own lie there as well.
        case ..<32_768: return looked(up: "EPSG:\(number)") ?? looked(up: "ESRI:\(number)")
        default: return looked(up: "ESRI:\(number)")
        }
    }

    private func looked(up definition: String) -> Traits? {
        if let known = known.withLock({ $0[definition] }) { return known }
        let traits = try? Self.ask(definition)
        known.withLock { known in
            // Text comes from outside: what is remembered of it stays bounded.
            if known.count >= GeometryLimits.rememberedReferencesMax { known.removeAll() }
            known[definition] = traits
        }
        return traits
    }

    private static func ask(_ definition: String) throws(GeometryError) -> Traits {
        let object = try ProjectionObject(definition: definition)
        guard proj_is_crs(object.pointer) != 0 else {
            throw .unknownSpatialReference(details: "\(definition.prefix(80)) is not a reference system.")
        }
        let type = proj_get_type(object.pointer)
        let isGeographic = type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS
        var factor = isGeographic ? .pi / 180 : 1.0
        var isNorthFirst = false
        if let system = proj_crs_get_coordinate_system(object.context.pointer, object.pointer) {
            var unit = 0.0
            var name: UnsafePointer<CChar>?
            if proj_cs_get_axis_info(object.context.pointer, system, 0, &name, nil, nil, &unit, nil, nil, nil) != 0 {
                if unit > 0 { factor = unit }
                // The direction would not tell: around a pole both axes point to the north, or to the south.
                let axis = name.map { String(cString: $0).lowercased() } ?? ""
                isNorthFirst = axis.contains("latitude") || axis.contains("northing")
            }
            proj_destroy(system)
        }
        return Traits(
            isGeographic: isGeographic, unitFactor: factor, isNorthFirst: isNorthFirst, definition: definition)
    }
}
