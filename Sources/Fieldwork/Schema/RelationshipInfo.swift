import FieldworkREST

/// One end of a relationship between two tables of a service.
public final class RelationshipInfo: Sendable {
    /// How many rows of one side belong to how many of the other.
    public enum Cardinality: Sendable {
        /// One to one, one to many, many to many.
        case oneToOne, oneToMany, manyToMany
    }

    /// Which side a table is.
    public enum Role: Sendable {
        /// The side that is referred to, or the side that refers.
        case origin, destination
    }

    /// The relationship's id in the service.
    public let id: Int
    /// Its name as seen from this side.
    public let name: String
    /// How many rows of one side belong to how many of the other.
    public let cardinality: Cardinality
    /// Whether the parts vanish with the whole.
    public let isComposite: Bool
    /// The key column on this side.
    public let keyField: String
    /// The layer id of the other side.
    public let relatedTableID: Int
    /// Which side this table is.
    public let role: Role
    /// The layer id of the table between both sides; negative where there is none.
    public let relationshipTableID: Int
    /// The column of that table that keeps this side's keys; empty where there is none.
    public let relationshipTableKeyField: String

    init(_ definition: RelationshipDefinition) {
        id = definition.id
        name = definition.name
        cardinality =
            switch definition.cardinality {
            case .oneToOne: .oneToOne
            case .oneToMany: .oneToMany
            case .manyToMany: .manyToMany
            }
        isComposite = definition.isComposite
        keyField = definition.keyField
        relationshipTableID = definition.relationshipTableID ?? -1
        relationshipTableKeyField = definition.keyFieldInRelationshipTable ?? ""
        relatedTableID = definition.relatedTableID
        role = definition.role == .origin ? .origin : .destination
    }
}
