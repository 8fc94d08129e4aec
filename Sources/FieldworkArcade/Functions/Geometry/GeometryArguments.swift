import FieldworkGeometry

/// Reads geometries from the values of a script: geometries, features, and dictionaries in the protocol's form.
enum GeometryArguments {
    /// The geometry of a value; nil for null and for a feature without one.
    static func optional(_ value: Value, _ machine: Machine) throws -> Geometry? {
        switch value {
        case .null: return nil
        case .geometry(let geometry):
            try machine.chargeVertices(geometry.vertices.count)
            return geometry.isEmpty ? nil : geometry
        case .feature(let feature):
            guard let geometry = feature.geometry, !geometry.isEmpty else { return nil }
            try machine.chargeVertices(geometry.vertices.count)
            return geometry
        case .dictionary(let dictionary): return try read(dictionary, machine)
        case .text(let text):
            guard case .dictionary(let dictionary) = try DictionaryFunctions.parse(text, machine) else {
                throw ArcadeError.runtime("The JSON is no geometry.")
            }
            return try read(dictionary, machine)
        case .array(let array):
            // Points in an array stand for a multipoint.
            let points = try array.elements.map { try point($0, machine) }
            return points.isEmpty ? nil : Multipoint(points: points, spatialReference: points.first?.spatialReference)
        default: throw ArcadeError.runtime("A geometry is needed here, and \(value.kindName) is given.")
        }
    }

    static func point(_ value: Value, _ machine: Machine) throws -> Point {
        guard let point = try optional(value, machine) as? Point else {
            throw ArcadeError.runtime("A Point is needed here, and \(value.kindName) is given.")
        }
        return point
    }

    /// Two values as geometries when both are; nil when they are compared by identity or value.
    static func pairForEquals(_ one: Value, _ other: Value, _ machine: Machine) throws -> (Geometry, Geometry)? {
        guard case .geometry(let left) = one, case .geometry(let right) = other else { return nil }
        try machine.chargeVertices(left.vertices.count + right.vertices.count)
        return (left, right)
    }

    // MARK: Dictionaries

    static func read(_ dictionary: DictionaryObject, _ machine: Machine) throws -> Geometry? {
        var object = JSONObject()
        var hasZ = false
        for (key, value) in zip(dictionary.keys, dictionary.values) {
            let name = key.lowercased()
            switch name {
            case "paths", "rings", "points": object[name] = try coordinates(value, &hasZ, machine, depth: 0)
            case "x", "y", "z", "m", "xmin", "ymin", "xmax", "ymax", "zmin", "zmax", "mmin", "mmax":
                if !value.isNull { object[name] = .number(try Coercion.number(value)) }
            case "hasz": object["hasZ"] = .bool(Coercion.boolean(value))
            case "hasm": object["hasM"] = .bool(Coercion.boolean(value))
            case "spatialreference": object["spatialReference"] = try reference(value, machine)
            default: break
            }
        }
        if object["hasZ"] == nil, hasZ { object["hasZ"] = true }
        do {
            let geometry = try GeoServicesJSON.geometry(
                from: .object(object), defaultSpatialReference: machine.context.spatialReference)
            try machine.chargeVertices(geometry?.vertices.count ?? 0)
            return geometry
        } catch let error as GeometryError { throw ArcadeError.runtime(error.details) }
    }

    private static func reference(_ value: Value, _ machine: Machine) throws -> JSONValue {
        switch value {
        case .null: return .null
        case .number(let number): return .number(number)
        case .dictionary(let dictionary):
            var object = JSONObject()
            for (key, value) in zip(dictionary.keys, dictionary.values) {
                switch value {
                case .number(let number): object[key] = .number(number)
                case .text(let text): object[key] = .string(text)
                default: break
                }
            }
            return .object(object)
        default: throw ArcadeError.runtime("A spatial reference is a dictionary with wkid, and not \(value.kindName).")
        }
    }

    /// Arrays of numbers or of points, however deep.
    private static func coordinates(
        _ value: Value, _ hasZ: inout Bool, _ machine: Machine, depth: Int
    ) throws -> JSONValue {
        switch value {
        case .array(let array) where depth < 4:
            try machine.charge(array.elements.count)
            return .array(try array.elements.map { try coordinates($0, &hasZ, machine, depth: depth + 1) })
        case .number(let number): return .number(number)
        case .null: return .null
        case .geometry(let point as Point):
            hasZ = hasZ || point.hasZ
            return .array([.number(point.x), .number(point.y)] + (point.z.map { [.number($0)] } ?? []))
        case .dictionary(let dictionary):
            guard let point = try read(dictionary, machine) as? Point else {
                throw ArcadeError.runtime("Coordinates are numbers or points, and not other dictionaries.")
            }
            hasZ = hasZ || point.hasZ
            return .array([.number(point.x), .number(point.y)] + (point.z.map { [.number($0)] } ?? []))
        default: throw ArcadeError.runtime("Coordinates are numbers or points, and not \(value.kindName).")
        }
    }

    // MARK: Units

    /// Metres in a unit of length; nil when none is named.
    static func metres(_ unit: Value, _ machine: Machine) throws -> Double? {
        switch unit {
        case .null: return nil
        case .number(let code):
            let codes: [Double: Double] = [
                9_001: 1, 9_002: 0.3048, 9_003: 1_200.0 / 3_937, 9_036: 1_000, 9_093: 1_609.344, 9_030: 1_852,
                9_096: 0.9144,
            ]
            if let metres = codes[code] { return metres }
        default: break
        }
        let name = try Coercion.text(unit, machine).lowercased().filter { $0 != "-" && $0 != " " && $0 != "_" }
        switch name {
        case "meters", "meter", "metres", "metre", "m": return 1
        case "kilometers", "kilometer", "kilometres", "kilometre", "km": return 1_000
        case "feet", "foot", "ft": return 0.3048
        case "ussurveyfeet", "surveyfeet": return 1_200.0 / 3_937
        case "miles", "mile", "mi": return 1_609.344
        case "nauticalmiles", "nauticalmile", "nmi": return 1_852
        case "yards", "yard", "yd": return 0.9144
        default: throw ArcadeError.runtime("“\(try Coercion.text(unit, machine))” is no unit of length.")
        }
    }

    /// Square metres in a unit of area; nil when none is named.
    static func squareMetres(_ unit: Value, _ machine: Machine) throws -> Double? {
        switch unit {
        case .null: return nil
        case .number(let code):
            let codes: [Double: Double] = [
                109_401: 10_000, 109_402: 4_046.8564224, 109_404: 1, 109_405: 0.09290304, 109_413: 2_589_988.110336,
                109_414: 1_000_000, 109_442: 0.83612736,
            ]
            if let metres = codes[code] { return metres }
        default: break
        }
        var name = try Coercion.text(unit, machine).lowercased().filter { $0 != "-" && $0 != " " && $0 != "_" }
        switch name {
        case "acres", "acre", "ac": return 4_046.8564224
        case "hectares", "hectare", "ha": return 10_000
        default: break
        }
        name =
            name.hasPrefix("square")
            ? String(name.dropFirst(6)) : (name.hasPrefix("sq") ? String(name.dropFirst(2)) : name)
        guard let metres = try? self.metres(.text(name), machine) else {
            throw ArcadeError.runtime("“\(try Coercion.text(unit, machine))” is no unit of area.")
        }
        return metres * metres
    }

    /// Whether the plane of a geometry is in degrees, where lengths mean nothing.
    static func isInDegrees(_ geometry: Geometry) -> Bool { geometry.spatialReference?.isGeographic == true }

    /// Metres in a unit of a geometry's plane.
    static func metresPerUnit(of geometry: Geometry) -> Double {
        guard let reference = geometry.spatialReference, reference.isProjected else { return 1 }
        let factor = reference.unitFactor
        return factor > 0 && factor.isFinite ? factor : 1
    }

    /// A distance in a unit as a distance on a geometry's plane.
    static func onPlane(_ distance: Double, _ unit: Value, of geometry: Geometry, _ machine: Machine) throws -> Double {
        try metres(unit, machine).map { distance * $0 / metresPerUnit(of: geometry) } ?? distance
    }

    static func made(_ geometry: Geometry?, _ machine: Machine) throws -> Value {
        guard let geometry, !geometry.isEmpty else { return .null }
        try machine.chargeVertices(geometry.vertices.count)
        return .geometry(geometry)
    }
}
