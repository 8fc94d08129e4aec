import FieldworkREST

extension FeatureTable {
    /// The different values of a field, or combinations of values of several, that features chosen by parameters have, local edits
    /// included. Each is one element, by the names of the fields; a field without a value is not in it. They come in the order of
    /// the parameters, else in that of the fields. They are made on this device, like statistics. Not part of the vendor's API.
    /// - Parameters:
    ///   - fieldNames: at least one field.
    ///   - parameters: which features; its order, its offset and its greatest number are those of the values.
    /// - Throws: `CommonError.invalidArgument` for fields that are not there, for none, and when there are more features than a
    ///   query gathers.
    public func queryDistinctValues(
        ofFieldsNamed fieldNames: [String], using parameters: QueryParameters
    ) async throws -> [[String: any Sendable]] {
        let layer = try await loadedSource().layer
        guard !fieldNames.isEmpty else {
            throw CommonError.invalidArgument(details: "No field is named.")
        }
        var values = parameters.values
        let grouping = StatisticsQueryParameters(statisticDefinitions: [
            StatisticDefinition(fieldName: layer.objectIDField, statisticType: .count)
        ])
        grouping.addGroupByFieldNames(fieldNames)
        grouping.addOrderByFields(values.orderByFields)
        let (offset, most) = (values.resultOffset, values.maxFeatures)
        grouping.maxFeatures = most > 0 ? offset + most : 0
        let maker = try StatisticsMaker(grouping, layer: layer)
        values.orderByFields = []
        values.resultOffset = 0
        values.maxFeatures = 0
        values.returnsGeometry = false
        let all = QueryParameters()
        all.replaceValues(values)
        let found = try await query(all, outFields: maker.fieldNames)
        guard !found.isTransferLimitExceeded else {
            throw CommonError.invalidArgument(
                details: "More than \(Limits.queriedFeatures) features are meant: some values would be missing.")
        }
        return maker.records(of: found.features().lazy.map(\.attributes)).dropFirst(offset).map(\.group)
    }
}
