import Crypto
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Finds the rows of a file that were appended before. Users append a file twice by mistake, or again after more rows came or
/// bad rows were mended; no row may become two features by that.
///
/// A row without a global id gets one that is made of what it says. The store takes no second feature with it, whoever
/// sends the row, and also after a crew has changed the feature. Rows that came in otherwise, as when the layer was
/// published, are known by what they say.
struct AppendedRows {
    let service: ServiceName
    let layer: LayerDefinition
    /// The fields of the layer that the file has.
    let fields: [FieldDefinition]

    /// What to do with rows that are in the layer already.
    enum Rule: Equatable, Sendable {
        /// The file is refused.
        case refuse
        /// Only the other rows are added.
        case addOthers
        /// They are added again, as features of their own.
        case addAgain
    }

    /// The most ids of one question, and the most features of one page.
    private static let idsAtOnce = 1_000
    private static let pageSize = 5_000
    /// In a larger layer rows are known by their ids alone: reading all of it would take minutes.
    private static let featuresMax = 1_000_000

    /// Gives rows that have no global id one of their own; the same row gets the same id again.
    func identify(_ rows: inout [FeatureEdit]) {
        guard layer.globalIDField != nil else { return }
        var counts: [UUID: Int] = [:]
        for index in rows.indices where rows[index].globalID == nil {
            let text = self.text(rows[index])
            // A file may say the same twice, and mean two.
            let number = counts[Self.id(of: text, number: 0), default: 0]
            counts[Self.id(of: text, number: 0)] = number + 1
            rows[index].globalID = Self.id(of: text, number: number + 1)
        }
    }

    /// Which of the rows are in the layer.
    func known(_ rows: [FeatureEdit], in store: any FeatureStore) async throws -> Set<Int> {
        let address = LayerAddress(service: service, layerID: layer.id)
        let byID = try await knownIDs(rows, in: store, address)
        guard byID.count < rows.count, try await store.count(FeatureQuery(), in: address) <= Self.featuresMax else {
            return byID
        }
        return byID.union(try await knownValues(rows, without: byID, in: store, address))
    }

    private func knownIDs(
        _ rows: [FeatureEdit], in store: any FeatureStore, _ address: LayerAddress
    ) async throws -> Set<Int> {
        guard layer.globalIDField != nil else { return [] }
        var places: [UUID: Int] = [:]
        for (index, row) in rows.enumerated() { if let id = row.globalID { places[id] = index } }
        var known: Set<Int> = []
        let ids = Array(places.keys)
        for start in stride(from: 0, to: ids.count, by: Self.idsAtOnce) {
            try Task.checkCancellation()
            let piece = Array(ids[start..<min(start + Self.idsAtOnce, ids.count)])
            let records = try await store.records(
                FeatureQuery(globalIDs: piece, returnsGeometry: false), in: address)
            for record in records { if let index = record.globalID.flatMap({ places[$0] }) { known.insert(index) } }
        }
        return known
    }

    /// A feature counts for one row only: two rows that say the same need two features.
    private func knownValues(
        _ rows: [FeatureEdit], without known: Set<Int>, in store: any FeatureStore, _ address: LayerAddress
    ) async throws -> Set<Int> {
        var open: [UUID: [Int]] = [:]
        let ids = Set(known.compactMap { rows[$0].globalID })
        for (index, row) in rows.enumerated().reversed() where !known.contains(index) {
            open[Self.id(of: text(row), number: 0), default: []].append(index)
        }
        var found: Set<Int> = []
        try await store.forEachRecord(of: address, key: layer.objectIDField, pageSize: Self.pageSize) { record in
            if let id = record.globalID, ids.contains(id) { return }
            let id = Self.id(of: text(record), number: 0)
            if let index = open[id]?.popLast() { found.insert(index) }
        }
        return found
    }

    // MARK: What a row says

    private func text(_ row: FeatureEdit) -> String {
        var geometry: Geometry?
        if case .geometry(let shape) = row.geometry { geometry = shape }
        var values: [String: AttributeValue] = [:]
        for attribute in row.attributes { values[attribute.name.lowercased()] = attribute.value }
        return text({ values[$0.lowercased()] ?? .null }, geometry)
    }

    private func text(_ record: FeatureRecord) -> String {
        text({ record.attributes[$0] ?? .null }, record.geometry)
    }

    /// The order of the columns, empty cells, and how a number is written make no other row of it. A store may turn a
    /// ring round; the extent stays.
    private func text(_ value: (String) -> AttributeValue, _ geometry: Geometry?) -> String {
        var parts = ["\(service.path)/\(layer.id)"]
        for field in fields.sorted(by: { $0.name < $1.name }) {
            let text =
                switch value(field.name) {
                case .null: ""
                case .integer(let number): String(number)
                case .real(let number): Int64(exactly: number).map(String.init) ?? String(number)
                case .text(let text): text
                case .data(let data): data.base64EncodedString()
                }
            if !text.isEmpty { parts += [field.name, text] }
        }
        if let extent = geometry?.extent, !layer.isTable {
            parts += [extent.xMin, extent.yMin, extent.xMax, extent.yMax].map { String($0) }
        }
        return parts.joined(separator: "\u{1F}")
    }

    /// A UUID of version 8: of the maker's own kind.
    private static func id(of text: String, number: Int) -> UUID {
        var bytes = Array(SHA256.hash(data: Data("\(text)\u{1E}\(number)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    // MARK: Words

    /// Why a file is refused.
    static func refusal(_ known: Int, of total: Int, in layer: LayerDefinition) -> CommandFailure {
        let rows = Counted.text(total, "row")
        guard known < total else {
            return CommandFailure(
                .badData,
                "\(layer.name) has the \(rows) of this file already. Nothing was changed; --again adds them once more.")
        }
        return CommandFailure(
            .badData,
            """
            \(layer.name) has \(known) of the \(rows) of this file already. Nothing was changed; --new-rows adds the other \
            \(total - known), --again adds all of them.
            """)
    }
}

extension FeatureStore {
    /// Gives the features of a layer in the order of their object ids.
    func forEachRecord(
        of address: LayerAddress, key: String, pageSize: Int, _ body: (FeatureRecord) throws -> Void
    ) async throws {
        let layer = try await service(address.service).layers.first { $0.id == address.layerID }
        guard let layer else { throw StoreError(.layerNotFound, "There is no layer \(address.layerID).") }
        var last: Int64?
        while true {
            try Task.checkCancellation()
            let condition = try last.map { try SQLParser.parse(where: "\(key) > \($0)").bound(to: layer) }
            let order = [FeatureQuery.OrderTerm(expression: .field(key))]
            let page = try await records(
                FeatureQuery(condition: condition, order: order, limit: pageSize), in: address)
            for record in page { try body(record) }
            guard page.count == pageSize, let newest = page.last?.objectID else { return }
            last = newest
        }
    }
}
