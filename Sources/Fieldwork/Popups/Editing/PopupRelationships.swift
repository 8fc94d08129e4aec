import FieldworkREST
import Foundation
import Synchronization

/// The related records of one pop-up, as an app shows and edits them. Loading fetches them.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class PopupRelationships: Loadable, @unchecked Sendable {
    private struct State {
        var manyToOne: [ManyToOneRelationship] = []
        var oneToMany: [OneToManyRelationship] = []
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    private let loading: LoadOnce
    private let state = Mutex(State())
    private let feature: ArcGISFeature
    private let table: ArcGISFeatureTable
    private let definition: PopupDefinition

    /// nil for something without related records.
    init?(popup: Popup) {
        guard let feature = popup.geoElement as? ArcGISFeature, let table = feature.table as? ArcGISFeatureTable,
            !table.relationshipInfos.isEmpty
        else { return nil }
        self.feature = feature
        self.table = table
        definition = popup.definition
        loading = LoadOnce(status: _loadStatus)
    }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Fetches the related records of all relationships whose tables have pop-ups.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    /// The records that the feature refers to: one a relationship.
    public var manyToOne: [ManyToOneRelationship] { state.withLock { $0.manyToOne } }

    /// The records that refer to the feature.
    public var oneToMany: [OneToManyRelationship] { state.withLock { $0.oneToMany } }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            var found = State()
            for info in table.relationshipInfos where info.cardinality != .manyToMany {
                guard let related = table.relatedTable(of: info), related.popupIsEnabled else { continue }
                try await related.load()
                if info.role == .destination {
                    let relationship = ManyToOneRelationship(feature: feature, info: info, table: related)
                    try await relationship.fetch()
                    found.manyToOne.append(relationship)
                } else {
                    let element = definition.elements.lazy.compactMap { $0 as? RelationshipPopupElement }
                        .first { $0.relationshipID == info.id && !$0.orderByFields.isEmpty }
                    let relationship = OneToManyRelationship(
                        feature: feature, info: info, table: related,
                        order: element?.orderByFields ?? definition.relatedOrder(of: info.id))
                    try await relationship.fetch()
                    found.oneToMany.append(relationship)
                }
            }
            let records = found
            state.withLock { $0 = records }
        }
    }
}

/// The record that a feature refers to, and the one that it shall refer to after the editing session.
public final class ManyToOneRelationship: Sendable {
    private struct State: Sendable {
        var record: Popup?
        var staged: Popup?
    }

    /// The feature that refers.
    let feature: ArcGISFeature
    /// The relationship.
    public let relationshipInfo: RelationshipInfo
    /// The table of the records.
    public let table: ArcGISFeatureTable
    private let state = Mutex(State())

    init(feature: ArcGISFeature, info: RelationshipInfo, table: ArcGISFeatureTable) {
        self.feature = feature
        relationshipInfo = info
        self.table = table
    }

    /// What people see above the record.
    public var name: String { relationshipInfo.name.isEmpty ? table.displayName : relationshipInfo.name }

    /// The record that the feature refers to: the staged one, else the saved one.
    public var relatedPopup: Popup? { state.withLock { $0.staged ?? $0.record } }

    /// Whether another record was chosen and not saved.
    public var hasStagedChange: Bool { state.withLock { $0.staged != nil } }

    func fetch() async throws {
        guard let own = feature.table as? ArcGISFeatureTable else { return }
        let parameters = RelatedQueryParameters(relationshipInfo: relationshipInfo)
        parameters.maxFeatures = 1
        let found = try await own.queryRelatedFeatures(to: feature, using: parameters).first
        let record = found?.features().first { _ in true }.map { Popup(geoElement: $0) }
        state.withLock { $0 = State(record: record) }
    }

    /// All records that may be chosen.
    public func candidates(orderedBy order: OrderBy? = nil) async throws -> [Popup] {
        let parameters = QueryParameters()
        parameters.whereClause = "1=1"
        if let order { parameters.addOrderByField(order) }
        return try await table.queryFeatures(using: parameters).features().map { Popup(geoElement: $0) }
    }

    /// Chooses a record. It is related when the editing session is finished. There is no way to choose none.
    func stage(_ popup: Popup) throws {
        guard let record = popup.geoElement as? ArcGISFeature, record.table === table else {
            throw GeodatabaseError.invalidArgument(details: "The record is not one of \(table.displayName).")
        }
        state.withLock { $0.staged = popup }
    }

    func cancelChange() { state.withLock { $0.staged = nil } }

    /// Relates the feature to the record that was chosen.
    func relate() throws {
        guard let record = state.withLock({ $0.staged })?.geoElement as? ArcGISFeature else { return }
        try feature.relate(to: record, using: relationshipInfo)
    }

    func noteSaved() {
        state.withLock { state in
            state.record = state.staged ?? state.record
            state.staged = nil
        }
    }
}

/// The records that refer to a feature.
public final class OneToManyRelationship: Sendable {
    /// The feature that is referred to.
    let feature: ArcGISFeature
    /// The relationship.
    public let relationshipInfo: RelationshipInfo
    /// The table of the records.
    public let table: ArcGISFeatureTable
    private let order: [OrderBy]
    private let records = Mutex<[Popup]>([])

    init(feature: ArcGISFeature, info: RelationshipInfo, table: ArcGISFeatureTable, order: [OrderBy]) {
        self.feature = feature
        relationshipInfo = info
        self.table = table
        self.order = order
    }

    /// What people see above the records.
    public var name: String { relationshipInfo.name.isEmpty ? table.displayName : relationshipInfo.name }

    /// The records in their order.
    public var relatedPopups: [Popup] { records.withLock { $0 } }

    func fetch() async throws {
        guard let own = feature.table as? ArcGISFeatureTable else { return }
        let parameters = RelatedQueryParameters(relationshipInfo: relationshipInfo)
        parameters.addOrderByFields(order)
        let found = try await own.queryRelatedFeatures(to: feature, using: parameters).first
        let popups = found?.features().map { Popup(geoElement: $0) } ?? []
        records.withLock { $0 = popups }
    }

    /// A record is there, new or changed.
    func note(_ popup: Popup) {
        records.withLock { records in
            let index = records.firstIndex { Self.areSame($0, popup) }
            if let index { records[index] = popup } else { records.append(popup) }
        }
    }

    /// A record is not there any more.
    func forget(_ popup: Popup) { records.withLock { $0.removeAll { Self.areSame($0, popup) } } }

    /// The same object, or another one of the same row.
    static func areSame(_ one: Popup, _ other: Popup) -> Bool {
        if one.geoElement === other.geoElement { return true }
        guard let first = (one.geoElement as? ArcGISFeature)?.objectID else { return false }
        return first == (other.geoElement as? ArcGISFeature)?.objectID
    }
}
