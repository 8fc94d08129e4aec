import ArcGIS
import Foundation

/// The members of queries that clients rely on, each with the type that they rely on. That it compiles is the test.
enum QuerySignatures {
    static func queryParameters() {
        let _: () -> QueryParameters = QueryParameters.init
        let _: WritableKeyPath<QueryParameters, String> = \.whereClause
        let _: WritableKeyPath<QueryParameters, Geometry?> = \.geometry
        let _: WritableKeyPath<QueryParameters, SpatialRelationship> = \.spatialRelationship
        let _: (QueryParameters) -> (OrderBy) -> Void = QueryParameters.addOrderByField(_:)
        let _: WritableKeyPath<QueryParameters, Int> = \.maxFeatures
        let _: WritableKeyPath<QueryParameters, TimeExtent?> = \.timeExtent
    }

    static func spatialRelationship() {
        let _: [SpatialRelationship] = [
            .contains, .crosses, .disjoint, .envelopeIntersects, .equals, .indexIntersects, .intersects, .overlaps,
            .relate, .touches, .unknown, .within,
        ]
    }

    static func orderBy() {
        let _: (String, OrderBy.SortOrder) -> OrderBy = OrderBy.init(fieldName:sortOrder:)
        let _: KeyPath<OrderBy, String> = \.fieldName
        let _: WritableKeyPath<OrderBy, OrderBy.SortOrder> = \.sortOrder
    }

    static func orderBySortOrder() {
        let _: [OrderBy.SortOrder] = [.ascending, .descending]
    }

    static func featureQueryResult() {
        let _: (FeatureQueryResult) -> () -> AnySequence<Feature> = FeatureQueryResult.features
        let _: KeyPath<FeatureQueryResult, Geometry.Type?> = \.geometryType
    }

    static func featureSet() {
        let _: (FeatureSet) -> () -> AnySequence<Feature> = FeatureSet.features
    }

    static func relatedQueryParameters() {
        let _: (RelationshipInfo) -> RelatedQueryParameters = RelatedQueryParameters.init(relationshipInfo:)
    }

    static func relatedFeatureQueryResult() {
        let _: KeyPath<RelatedFeatureQueryResult, ArcGISFeature?> = \.feature
        let _: KeyPath<RelatedFeatureQueryResult, ArcGISFeatureTable?> = \.relatedTable
        let _: (RelatedFeatureQueryResult) -> () -> AnySequence<Feature> = RelatedFeatureQueryResult.features
    }

    static func relationshipInfo() {
        let _: KeyPath<RelationshipInfo, Bool> = \.isComposite
    }

    static func statisticsQueryParameters() {
        let _: ([StatisticDefinition]) -> StatisticsQueryParameters = StatisticsQueryParameters.init(
            statisticDefinitions:)
        let _: WritableKeyPath<StatisticsQueryParameters, String> = \.whereClause
        let _: WritableKeyPath<StatisticsQueryParameters, Geometry?> = \.geometry
        let _: (StatisticsQueryParameters) -> ([String]) -> Void = StatisticsQueryParameters.addGroupByFieldNames(_:)
        let _: (StatisticsQueryParameters) -> ([OrderBy]) -> Void = StatisticsQueryParameters.addOrderByFields(_:)
    }

    static func statisticDefinition() {
        let _: (String, StatisticDefinition.StatisticType, String) -> StatisticDefinition = StatisticDefinition.init(
            fieldName:statisticType:outputAlias:)
        let _: KeyPath<StatisticDefinition, String> = \.fieldName
        let _: KeyPath<StatisticDefinition, StatisticDefinition.StatisticType> = \.statisticType
    }

    static func statisticDefinitionStatisticType() {
        let _: [StatisticDefinition.StatisticType] = [
            .average, .count, .maximum, .minimum, .standardDeviation, .sum, .variance,
        ]
    }

    static func statisticsQueryResult() {
        let _: (StatisticsQueryResult) -> () -> AnySequence<StatisticRecord> = StatisticsQueryResult.statisticRecords
    }

    static func statisticRecord() {
        let _: KeyPath<StatisticRecord, [String: any Sendable]> = \.group
        let _: KeyPath<StatisticRecord, [String: any Sendable]> = \.statistics
    }
}
