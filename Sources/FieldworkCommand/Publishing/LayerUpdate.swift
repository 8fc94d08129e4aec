import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Brings the rows of a file into a layer that is there: as one edit, whole or not at all, which is in the history and goes to
/// those who have the layer offline.
struct LayerUpdate {
    let store: any FeatureStore
    let service: ServiceName
    let layer: LayerDefinition
    var skipsBadRows = false
    var skipsColumns = false

    /// Rows of a file: they are held in memory until they are written in one transaction.
    static let rowsMax = 1_000_000
    private static let pageSize = 5_000

    struct Outcome: Equatable {
        var added = 0
        /// Rows that were not appended because they are in the layer.
        var known = 0
        var changed = 0
        var deleted = 0
        var unchanged = 0
        /// Features of the layer that are not in the file.
        var missing = 0
        var skipped = 0
    }

    /// What to do with a file.
    enum Mode: Equatable {
        /// Every row is a new feature, or one that was appended before.
        case append(AppendedRows.Rule)
        /// Rows whose value of a column a feature has are left out, the others are new features.
        case appendOthers(key: String)
        /// Rows are features that are there, known by a column, or new ones.
        case replace(key: String, deletesMissing: Bool)
    }

    // MARK: The layer

    /// The layer of a service that somebody means: by its name or id, or the only one.
    static func layer(_ wanted: String?, of definition: ServiceDefinition) throws -> LayerDefinition {
        let found = wanted.map { name in definition.layers.filter { $0.name == name || String($0.id) == name } }
        let candidates = found ?? definition.layers
        guard let layer = candidates.first, candidates.count == 1 else {
            let list = definition.layers.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
            throw CommandFailure(.noInput, "Say with --layer which layer of \(definition.name.path): \(list).")
        }
        return layer
    }

    // MARK: The file

    func run(_ source: any FeatureSource, _ mode: Mode, isTrial: Bool = false) async throws -> Outcome {
        var reading = ProgressBar("Reading")
        let surveyed = try source.schema { reading.advance(to: $0) }
        reading.finish(
            "Read \(Counted.text(surveyed.featureCount, "row")) with \(Counted.text(surveyed.fields.count, "column"))")
        for note in surveyed.notes { Terminal.error(note) }
        guard surveyed.featureCount <= Self.rowsMax else {
            throw CommandFailure(
                .badData,
                "The file has \(Counted.text(surveyed.featureCount, "row")); at most \(Self.rowsMax) are taken at once. Split it."
            )
        }
        let schema = try fitted(surveyed)
        var edits: [FeatureEdit] = []
        var places: [String] = []
        var outcome = Outcome()
        try source.forEach(schema) { row, place in
            try Task.checkCancellation()
            do {
                edits.append(try projected(row.get()))
                places.append(source.name(of: place))
            } catch let bad as BadRow {
                try refuse(source.name(of: place), bad.reason)
                outcome.skipped += 1
            }
        }
        switch mode {
        case .append(let rule): return try await append(edits, places, schema, rule, isTrial, outcome)
        case .appendOthers(let key):
            return try await replace(edits, places, schema, key, changesKnown: false, false, isTrial, outcome)
        case .replace(let key, let deletesMissing):
            return try await replace(edits, places, schema, key, changesKnown: true, deletesMissing, isTrial, outcome)
        }
    }

    /// The columns of the file as fields of the layer.
    private func fitted(_ surveyed: SourceSchema) throws -> SourceSchema {
        var schema = surveyed
        (schema.fields, schema.readings) = ([], [])
        var unknown: [String] = []
        for (field, reading) in zip(surveyed.fields, surveyed.readings) {
            let name = [reading.title, field.name].compactMap { title in
                layer.fields.first { $0.name.lowercased() == title.lowercased() }
                    ?? layer.fields.first { $0.alias.lowercased() == title.lowercased() }
            }.first
            if let name, ![.oid, .globalID, .blob].contains(name.type) {
                schema.fields.append(name)
                schema.readings.append(reading)
            } else {
                unknown.append(reading.title)
            }
        }
        guard unknown.isEmpty || skipsColumns else {
            throw CommandFailure(
                .badData,
                "\(layer.name) has no field for: \(unknown.joined(separator: ", ")). --skip-columns leaves them out; fieldwork service edit adds fields."
            )
        }
        if !unknown.isEmpty { Terminal.error("Left out: \(unknown.joined(separator: ", "))") }
        if layer.isTable { (schema.place, schema.kinds) = (nil, []) }
        return schema
    }

    private func projected(_ edit: FeatureEdit) throws -> FeatureEdit {
        guard case .geometry(let geometry) = edit.geometry, let reference = layer.spatialReference else { return edit }
        var edit = edit
        do {
            edit.geometry = .geometry(try GeometryEngine.projected(geometry, into: reference))
        } catch {
            throw BadRow(reason: error.details)
        }
        return edit
    }

    private func refuse(_ place: String, _ reason: String) throws {
        guard skipsBadRows else {
            throw CommandFailure(
                .badData, "\(place): \(reason) Nothing was changed; --skip-bad-rows leaves such rows out.")
        }
        Terminal.error("Skipped \(place): \(reason)")
    }

    // MARK: Writing

    private func append(
        _ rows: [FeatureEdit], _ places: [String], _ schema: SourceSchema, _ rule: AppendedRows.Rule, _ isTrial: Bool,
        _ start: Outcome
    ) async throws -> Outcome {
        var (adds, outcome) = (rows, start)
        for index in adds.indices { adds[index].objectID = nil }
        var kept = Array(adds.indices)
        if rule == .addAgain {
            for index in adds.indices { adds[index].globalID = nil }
        } else {
            let appended = AppendedRows(service: service, layer: layer, fields: schema.fields)
            appended.identify(&adds)
            let known = try await appended.known(adds, in: store)
            guard known.isEmpty || rule == .addOthers else {
                throw AppendedRows.refusal(known.count, of: adds.count, in: layer)
            }
            outcome.known = known.count
            kept.removeAll { known.contains($0) }
        }
        outcome.added = kept.count
        guard !isTrial, !kept.isEmpty else { return outcome }
        let edits = LayerEdits(layerID: layer.id, adds: kept.map { adds[$0] })
        return try await apply(edits, kept.map { places[$0] }, usesGlobalIDs: rule != .addAgain, outcome)
    }

    private func apply(
        _ edits: LayerEdits, _ places: [String], usesGlobalIDs: Bool, _ outcome: Outcome
    ) async throws -> Outcome {
        var outcome = outcome
        let batch = EditBatch(
            layers: [edits], usesGlobalIDs: usesGlobalIDs && layer.globalIDField != nil,
            rollsBackOnFailure: !skipsBadRows, moment: Date())
        let result = try await store.apply(batch, to: service)
        let failed = zip(places, result.layers.flatMap { $0.adds + $0.updates }).compactMap { place, item in
            item.error.map { (place, $0) }
        }
        for (place, error) in failed where error != .rolledBack {
            try refuse(place, error.description)
            outcome.skipped += 1
            outcome.added -= 1
        }
        if let error = result.layers.flatMap(\.deletes).compactMap(\.error).first(where: { $0 != .rolledBack }) {
            throw CommandFailure(.badData, "Nothing was changed: \(error.description)")
        }
        return outcome
    }

    /// Rows that are there already are changed where they differ, and keep their ids.
    private func replace(
        _ rows: [FeatureEdit], _ places: [String], _ schema: SourceSchema, _ key: String, changesKnown: Bool,
        _ deletesMissing: Bool, _ isTrial: Bool, _ start: Outcome
    ) async throws -> Outcome {
        let isGlobalID = schema.identity.globalID?.lowercased() == key.lowercased()
        guard let field = isGlobalID ? layer.globalIDField : schema.field(titled: key) else {
            throw CommandFailure(.badData, "There is no column \(key) in the file that is a field of \(layer.name).")
        }
        var standing = try await standingFeatures(by: field)
        var seen: Set<AttributeValue> = []
        var outcome = start
        var edits = LayerEdits(layerID: layer.id)
        var (addPlaces, updatePlaces): ([String], [String]) = ([], [])
        for (row, place) in zip(rows, places) {
            let value = isGlobalID ? row.globalID.map { .text(GUID.normalForm($0)) } : row.value(of: field)
            guard let value, value != .null, seen.insert(Self.normal(value)).inserted else {
                let reason =
                    value == nil || value == .null
                    ? "it has no \(key)." : "\(key) \(value?.json.text ?? "") is there twice."
                try refuse(place, reason)
                outcome.skipped += 1
                continue
            }
            guard let record = standing.removeValue(forKey: Self.normal(value)) else {
                var add = row
                add.objectID = nil
                edits.adds.append(add)
                addPlaces.append(place)
                continue
            }
            guard changesKnown else {
                outcome.known += 1
                continue
            }
            if let update = difference(row, record, schema) {
                edits.updates.append(update)
                updatePlaces.append(place)
            } else {
                outcome.unchanged += 1
            }
        }
        (outcome.added, outcome.changed) = (edits.adds.count, edits.updates.count)
        outcome.missing = changesKnown ? standing.count : 0
        if deletesMissing {
            outcome.deleted = standing.count
            let ids = standing.values.map { $0.globalID.map(FeatureIdentifier.globalID) ?? .objectID($0.objectID) }
            edits.deletes = .features(ids)
        }
        guard !isTrial, outcome.added + outcome.changed + outcome.deleted > 0 else { return outcome }
        return try await apply(
            edits, addPlaces + updatePlaces, usesGlobalIDs: schema.identity.globalID != nil, outcome)
    }

    private func standingFeatures(by field: String) async throws -> [AttributeValue: FeatureRecord] {
        var found: [AttributeValue: FeatureRecord] = [:]
        let address = LayerAddress(service: service, layerID: layer.id)
        let isGlobalID = field == layer.globalIDField
        try await store.forEachRecord(of: address, key: layer.objectIDField, pageSize: Self.pageSize) { record in
            let value =
                isGlobalID ? record.globalID.map { AttributeValue.text(GUID.normalForm($0)) } : record.attributes[field]
            guard let value, value != .null else { return }
            guard found.updateValue(record, forKey: Self.normal(value)) == nil else {
                throw CommandFailure(
                    .badData,
                    "Two features of \(layer.name) have \(field) \(value.json.text): no row can be told to be one of them."
                )
            }
        }
        return found
    }

    /// 12 and 12.0 are one key.
    private static func normal(_ value: AttributeValue) -> AttributeValue {
        if case .real(let number) = value, let whole = Int64(exactly: number) { return .integer(whole) }
        return value
    }

    /// The fields in which the row is another than the feature; nil where it is the same.
    private func difference(_ row: FeatureEdit, _ record: FeatureRecord, _ schema: SourceSchema) -> FeatureEdit? {
        let changed = row.attributes.filter {
            Self.normal($0.value) != Self.normal(record.attributes[$0.name] ?? .null)
        }
        var edit = FeatureEdit(objectID: record.objectID, globalID: record.globalID, attributes: changed)
        if !schema.kinds.isEmpty, !Self.isSame(row.geometry, record.geometry) { edit.geometry = row.geometry }
        if case .unchanged = edit.geometry, changed.isEmpty { return nil }
        return edit
    }

    private static func isSame(_ edit: FeatureEdit.GeometryEdit, _ standing: Geometry?) -> Bool {
        switch (edit, standing) {
        case (.unchanged, _), (.null, nil): true
        case (.geometry(let geometry), let standing?):
            WellKnownText.text(of: geometry) == WellKnownText.text(of: standing)
                || GeometryEngine.isGeometry(geometry, equivalentTo: standing)
        default: false
        }
    }
}

extension SourceSchema {
    /// The field that a column of the file became.
    func field(titled title: String) -> String? {
        zip(fields, readings).first { $0.1.title.lowercased() == title.lowercased() }?.0.name
    }
}

extension FeatureEdit {
    fileprivate func value(of field: String) -> AttributeValue? { attributes.first { $0.name == field }?.value }
}

extension LayerUpdate.Outcome {
    /// The counts that are not nothing.
    func words(deletesMissing: Bool) -> String {
        var words = ["\(added) added"]
        if known > 0 { words.append("\(known) there already") }
        if changed > 0 { words.append("\(changed) changed") }
        if deleted > 0 { words.append("\(deleted) deleted") }
        if unchanged > 0 { words.append("\(unchanged) as they were") }
        if skipped > 0 { words.append("\(skipped) skipped") }
        if missing > 0, !deletesMissing { words.append("\(missing) not in the file, left as they are") }
        return words.joined(separator: ", ")
    }

    func json(of service: ServiceName, isTrial: Bool) -> JSONValue {
        [
            "service": .string(service.path), "added": JSONValue(added), "known": JSONValue(known),
            "changed": JSONValue(changed), "deleted": JSONValue(deleted), "unchanged": JSONValue(unchanged),
            "missing": JSONValue(missing), "skipped": JSONValue(skipped), "dryRun": .bool(isTrial),
        ]
    }
}
