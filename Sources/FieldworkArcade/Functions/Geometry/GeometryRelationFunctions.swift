import FieldworkGeometry

/// Functions that say how geometries lie to each other. With features in one place they select from them.
enum GeometryRelationFunctions {
    static let all: [Builtin] = [
        relation("Intersects", .intersects, .intersects),
        relation("EnvelopeIntersects", .envelopeIntersects, .envelopeIntersects),
        // `Contains(features, g)` selects those that contain g, `Contains(g, features)` those within it.
        relation("Contains", .contains, .within), relation("Within", .within, .contains),
        relation("Crosses", .crosses, .crosses), relation("Overlaps", .overlaps, .overlaps),
        relation("Touches", .touches, .touches),
        .two("Disjoint", .geometry) { machine, one, other in
            guard let left = try GeometryArguments.optional(one, machine),
                let right = try GeometryArguments.optional(other, machine)
            else { return .boolean(true) }
            return .boolean(GeometryEngine.isGeometry(left, disjointWith: right))
        },
        .many("Relate", 3...3, .geometry) { machine, arguments in
            let pattern = try Arguments.text(arguments[2], "The pattern", machine)
            guard GeometryEngine.isRelationPattern(pattern) else {
                throw ArcadeError.runtime("“\(pattern)” is no pattern of nine signs out of T, F, 0, 1, 2 and *.")
            }
            guard let left = try GeometryArguments.optional(arguments[0], machine),
                let right = try GeometryArguments.optional(arguments[1], machine)
            else { return .boolean(false) }
            return .boolean(GeometryEngine.isGeometry(left, relatedTo: right, byRelation: pattern))
        },
    ]

    /// `ofFirst` is how features in the first place must lie to the second value, `ofSecond` the other way round.
    private static func relation(
        _ name: String, _ ofFirst: ArcadePlace.Relation, _ ofSecond: ArcadePlace.Relation
    ) -> Builtin {
        .two(name, .geometry) { machine, one, other in
            switch (one, other) {
            case (.featureSet(let features), let value): return try select(features, ofFirst, value, machine)
            case (let value, .featureSet(let features)): return try select(features, ofSecond, value, machine)
            default: break
            }
            guard let left = try GeometryArguments.optional(one, machine),
                let right = try GeometryArguments.optional(other, machine)
            else { return .boolean(false) }
            return .boolean(ArcadePlace(relation: ofFirst, geometry: right).holds(left))
        }
    }

    private static func select(
        _ features: FeatureSetObject, _ relation: ArcadePlace.Relation, _ value: Value, _ machine: Machine
    ) throws -> Value {
        guard let geometry = try GeometryArguments.optional(value, machine) else {
            // Nothing lies anywhere to no geometry.
            return try machine.featureSet(features.query.limited(0), parent: features)
        }
        return try machine.featureSet(
            features.query.placed(ArcadePlace(relation: relation, geometry: geometry)), parent: features)
    }
}
