import FieldworkGeometry
import FieldworkREST
import Foundation

/// Merges one update field by field with the feature as it is and as the client knew it.
struct FieldMerger {
    let layer: StoredLayer
    let rules: RowRules
    let current: RowVersion
    let uploadWins: Bool
    /// What is to be applied.
    private(set) var result = FeatureEdit()
    private var contested: [FeatureTimeline.Slot] = []
    private var given = Values()
    /// What of the contested the client knew; and what others changed beside it.
    private var known = Values()
    private var otherOnly: [String] = []
    /// The generation in which the others last changed what is contested.
    private(set) var otherGeneration: Int64?

    struct Values {
        var attributes: [String: AttributeValue] = [:]
        var geometry: MergeConflict.GeometryValue?
    }

    init(layer: StoredLayer, rules: RowRules, current: RowVersion, uploadWins: Bool) {
        self.layer = layer
        self.rules = rules
        self.current = current
        self.uploadWins = uploadWins
    }

    var hasConflict: Bool { !contested.isEmpty }

    // MARK: Merging

    /// Merges with what is known of the time since the client's base.
    mutating func merge(
        _ edit: FeatureEdit, _ timeline: FeatureTimeline, _ objectID: Int64, _ versions: VersionReader
    ) throws {
        var rows: [Int64: RowVersion] = [:]
        try merge(edit) { slot in
            guard timeline.isContested(slot) else { return .mine }
            let seen = timeline.seen(slot)
            if rows[seen] == nil { rows[seen] = try versions.version(of: objectID, at: seen) }
            return .contested(basis: rows[seen], generation: timeline.otherChange(of: slot))
        }
        guard hasConflict else { return }
        otherOnly = ([FeatureTimeline.geometry] + layer.columns.indices).filter { slot in
            timeline.isContested(slot) && !contested.contains(slot)
                && (slot == FeatureTimeline.geometry || rules.accepts(slot))
        }.map(name)
    }

    /// Merges without a base: every difference may be somebody else's work.
    mutating func merge(_ edit: FeatureEdit) {
        merge(edit) { _ in .contested(basis: nil, generation: nil) }
    }

    private enum Standing {
        /// Nobody else has changed it.
        case mine
        /// Somebody has; the basis is what the client knew.
        case contested(basis: RowVersion?, generation: Int64?)
    }

    private mutating func merge(_ edit: FeatureEdit, standing: (FeatureTimeline.Slot) throws -> Standing) rethrows {
        result = edit
        result.attributes = []
        for attribute in edit.attributes {
            guard let index = layer.index(of: attribute.name), rules.accepts(index) else {
                // What is not a field is the applier's to refuse; what a client may not set it leaves out.
                if layer.index(of: attribute.name) == nil { result.attributes.append(attribute) }
                continue
            }
            let value = RowVersion.comparable(attribute.value, layer.columns[index])
            guard value != current.values[index] else { continue }
            if case .contested(let basis, let generation) = try standing(index) {
                // The client sends what it had: it did not change this.
                if let basis, basis.values[index] == value { continue }
                given.attributes[layer.columns[index].name] = value
                if let basis { known.attributes[layer.columns[index].name] = basis.values[index] }
                contest(index, generation)
                guard uploadWins else { continue }
            }
            result.attributes.append(attribute)
        }
        try mergeGeometry(edit.geometry, standing: standing)
    }

    private mutating func mergeGeometry(
        _ edit: FeatureEdit.GeometryEdit, standing: (FeatureTimeline.Slot) throws -> Standing
    ) rethrows {
        guard layer.geometryColumn != nil else { return }
        let blob: [UInt8]?
        switch edit {
        case .unchanged: return
        case .null: blob = nil
        case .geometry(let geometry):
            // A geometry that does not fit the layer is the applier's to refuse.
            guard let fitting = try? GeometryRules.blob(for: geometry, in: layer) else { return }
            blob = fitting
        }
        result.geometry = .unchanged
        guard !RowVersion.isSameGeometry(blob, current.geometry) else { return }
        if case .contested(let basis, let generation) = try standing(FeatureTimeline.geometry) {
            if let basis, RowVersion.isSameGeometry(basis.geometry, blob) { return }
            given.geometry = MergeConflict.GeometryValue(Self.geometry(blob, layer))
            if let basis { known.geometry = MergeConflict.GeometryValue(Self.geometry(basis.geometry, layer)) }
            contest(FeatureTimeline.geometry, generation)
            guard uploadWins else { return }
        }
        result.geometry = edit
    }

    private mutating func contest(_ slot: FeatureTimeline.Slot, _ generation: Int64?) {
        contested.append(slot)
        if let generation { otherGeneration = max(otherGeneration ?? generation, generation) }
    }

    // MARK: Sides

    /// The client's values of the contested fields.
    func mine(_ layer: StoredLayer) -> Values { given }

    /// What both knew before, and what each changed alone; nil where the client's base isn't known.
    var base: MergeConflict.Base? {
        guard !known.attributes.isEmpty || known.geometry != nil else { return nil }
        var own = result.attributes.compactMap { layer.index(of: $0.name) }.filter { !contested.contains($0) }.map(name)
        if !result.geometry.isUnchanged, !contested.contains(FeatureTimeline.geometry) {
            own.append(name(FeatureTimeline.geometry))
        }
        return MergeConflict.Base(
            attributes: known.attributes, geometry: known.geometry, uploadOnly: own, serviceOnly: otherOnly)
    }

    private func name(_ slot: FeatureTimeline.Slot) -> String {
        slot == FeatureTimeline.geometry ? MergeConflict.Base.geometryName : layer.columns[slot].name
    }

    /// The service's values of the contested fields.
    func theirs(_ layer: StoredLayer, _ author: AuthorReader.Author) -> MergeConflict.Side {
        Self.side(of: current, contested, layer, author)
    }

    static func side(
        of version: RowVersion, _ slots: [FeatureTimeline.Slot], _ layer: StoredLayer, _ author: AuthorReader.Author
    ) -> MergeConflict.Side {
        var side = author.side(attributes: [:])
        for slot in slots {
            if slot == FeatureTimeline.geometry {
                guard layer.geometryColumn != nil else { continue }
                side.geometry = MergeConflict.GeometryValue(geometry(version.geometry, layer))
            } else {
                side.attributes?[layer.columns[slot].name] = version.values[slot]
            }
        }
        return side
    }

    /// All that an edit says, for one that was lost as a whole.
    static func values(of edit: FeatureEdit, _ layer: StoredLayer) -> Values {
        var values = Values()
        for attribute in edit.attributes {
            guard let index = layer.index(of: attribute.name) else { continue }
            values.attributes[layer.columns[index].name] = RowVersion.comparable(attribute.value, layer.columns[index])
        }
        switch edit.geometry {
        case .unchanged: break
        case .null: values.geometry = MergeConflict.GeometryValue(nil)
        case .geometry(let geometry): values.geometry = MergeConflict.GeometryValue(geometry)
        }
        return values
    }

    private static func geometry(_ blob: [UInt8]?, _ layer: StoredLayer) -> Geometry? {
        blob?.withUnsafeBytes {
            try? GeoPackageBinary.geometry(from: $0, spatialReference: layer.definition.spatialReference)
        }
    }
}
