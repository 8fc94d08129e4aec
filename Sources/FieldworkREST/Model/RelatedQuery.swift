package import Foundation

/// The features that a relationship leads to from some features of a layer, grouped by those.
package struct RelatedQuery: Sendable, Hashable {
    package enum Sources: Sendable, Hashable {
        case objectIDs([Int64])
        case globalIDs([UUID])
    }

    package var path: RelationshipPath
    package var sources: Sources
    /// What the sources must be besides; nil for all that are named.
    package var sourceCondition: SQLExpression?
    /// What is asked of the related features: condition, fields, order within a group, geometry. Offset and limit count
    /// over all groups. Ids and a geometry are not looked at.
    package var features: FeatureQuery
    /// The answer is the number of related features of each source; the limit doesn't count then.
    package var countsOnly: Bool

    package init(
        path: RelationshipPath, sources: Sources, sourceCondition: SQLExpression? = nil, features: FeatureQuery,
        countsOnly: Bool = false
    ) {
        self.path = path
        self.sources = sources
        self.sourceCondition = sourceCondition
        self.features = features
        self.countsOnly = countsOnly
    }
}
