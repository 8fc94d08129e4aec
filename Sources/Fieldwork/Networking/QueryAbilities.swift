import FieldworkREST

/// What queries of a layer its service can answer. Services of other makes and of older versions leave much out.
struct QueryAbilities: Sendable {
    /// Answers come in the shorter format, which rounds coordinates.
    let givesPBF: Bool
    /// Answers begin at an offset and end after a count.
    let paginates: Bool
    /// Answers come in the order that is asked for.
    let orders: Bool
    /// Answers may be statistics.
    let computes: Bool
    /// Answers may have each combination of values once.
    let tellsApart: Bool
    /// An answer that is cut says so.
    let tellsWhatIsCut: Bool

    init(_ layer: LayerDefinition) {
        let members = layer.unknownMembers
        let advanced = members["advancedQueryCapabilities"]
        // What does not say its version is not taken for old.
        let version = members["currentVersion"]?.doubleValue ?? .infinity
        givesPBF = members["supportedQueryFormats"]?.stringValue?.lowercased().contains("pbf") ?? false
        paginates = advanced?["supportsPagination"]?.boolValue ?? (members["supportsPagination"]?.boolValue ?? false)
        orders =
            advanced?["supportsOrderBy"]?.boolValue ?? members["supportsAdvancedQueries"]?.boolValue
            ?? (version >= Self.firstOrdering)
        computes = advanced?["supportsStatistics"]?.boolValue ?? members["supportsStatistics"]?.boolValue ?? false
        tellsApart = advanced?["supportsDistinct"]?.boolValue ?? false
        tellsWhatIsCut = version >= Self.firstOrdering
    }

    /// The first version that knows advanced queries and tells when an answer is cut.
    private static let firstOrdering = 10.1
}
