import FieldworkGeometry

/// A condition for what is drawn. Queries find the other features all the same.
public final class DisplayFilter: Sendable {
    /// Tells the filter from the others of its layer.
    public let id: String
    /// What people call it.
    public let name: String
    /// The condition in SQL.
    public let whereClause: String
    /// The denominators of the scales between which it holds; 0 for no limit.
    public let minScale: Double, maxScale: Double

    /// A condition that an app switches on.
    public convenience init(name: String, whereClause: String) {
        self.init(id: name, name: name, whereClause: whereClause, minScale: 0, maxScale: 0)
    }

    init(id: String, name: String, whereClause: String, minScale: Double, maxScale: Double) {
        self.id = id
        self.name = name
        self.whereClause = whereClause
        self.minScale = minScale
        self.maxScale = maxScale
    }

    func holds(atScale scale: Double) -> Bool {
        (minScale <= 0 || scale <= minScale) && (maxScale <= 0 || scale >= maxScale)
    }
}

/// Which of a layer's filters is in force.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class DisplayFilterDefinition: @unchecked Sendable {
    init() {}

    /// The filter that is in force.
    /// - Parameter scale: the denominator of the scale that is looked at; nil when that is not known.
    func filter(atScale scale: Double?) -> DisplayFilter? { nil }

    /// The filters of a layer definition; nil when there are none or they are switched off.
    static func make(_ layerDefinition: JSONValue?) -> DisplayFilterDefinition? {
        guard let json = layerDefinition?["displayFilterInfo"],
            layerDefinition?["disableDisplayFilter"]?.boolValue != true
        else { return nil }
        let filters = (json["filters"]?.arrayValue ?? []).map { filter in
            DisplayFilter(
                id: filter["id"]?.stringValue ?? "", name: filter["title"]?.stringValue ?? "",
                whereClause: filter["where"]?.stringValue ?? "", minScale: filter["minScale"]?.doubleValue ?? 0,
                maxScale: filter["maxScale"]?.doubleValue ?? 0)
        }
        if json["filterMode"]?.stringValue?.lowercased() == "scale" {
            return ScaleDisplayFilterDefinition(filters: filters)
        }
        let active = json["activeFilterId"]?.stringValue
        return ManualDisplayFilterDefinition(
            activeFilter: filters.first { $0.id == active }, availableFilters: filters)
    }
}

/// An app chooses the filter.
public final class ManualDisplayFilterDefinition: DisplayFilterDefinition, @unchecked Sendable {
    /// The filter that is in force; nil for none.
    public let activeFilter: DisplayFilter?
    /// The filters to choose from.
    public let availableFilters: [DisplayFilter]

    /// Filters to choose from and the one that is in force.
    public init(activeFilter: DisplayFilter?, availableFilters: [DisplayFilter]) {
        self.activeFilter = activeFilter
        self.availableFilters = availableFilters
    }

    override func filter(atScale scale: Double?) -> DisplayFilter? { activeFilter }
}

/// The scale that is looked at chooses the filter.
public final class ScaleDisplayFilterDefinition: DisplayFilterDefinition, @unchecked Sendable {
    /// The filters with the scales between which they hold.
    public let filters: [DisplayFilter]

    /// Filters with the scales between which they hold.
    public init(filters: [DisplayFilter]) { self.filters = filters }

    override func filter(atScale scale: Double?) -> DisplayFilter? {
        scale.flatMap { scale in filters.first { $0.holds(atScale: scale) } }
    }
}
