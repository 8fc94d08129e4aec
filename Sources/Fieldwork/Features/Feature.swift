public import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// A row of a table. Change the object, then hand it to `table.update`: nothing is kept before that.
///
/// What changes is behind a lock; only the hierarchy keeps the compiler from seeing that.
public class Feature: GeoElement, @unchecked Sendable {
    struct State: Sendable {
        /// Values by the field's own spelling where the table is known; of a row that was read they are made when they are
        /// asked for first.
        var attributes: [String: any Sendable] {
            mutating get {
                makeAttributes()
                return made
            }
            set {
                made = newValue
                unread = nil
            }
        }
        private var made: [String: any Sendable] = [:]
        /// Set while the values are those of `origin` and have not been made of it.
        private var unread: ClientFields?
        var geometry: Geometry?
        /// The state that the object was read in or last handed over in; nil while it is not part of its table.
        var origin: FeatureRecord? {
            get { row }
            set {
                makeAttributes()
                row = newValue
            }
        }
        private var row: FeatureRecord?
        var isComplete = true

        private mutating func makeAttributes() {
            guard let fields = unread else { return }
            made = row.map(fields.attributes) ?? [:]
            unread = nil
        }

        /// The value of one field, without making all.
        func value(of name: String) -> (any Sendable)? {
            guard let fields = unread else { return made[name] }
            return row.flatMap { fields.value(of: name, in: $0) }
        }

        init(attributes: [String: any Sendable], geometry: Geometry?) {
            made = attributes
            self.geometry = geometry
        }

        init(reading record: FeatureRecord, fields: ClientFields, isComplete: Bool) {
            unread = fields
            geometry = record.geometry
            row = record
            self.isComplete = isComplete
        }
    }

    let state: Mutex<State>
    /// The table that the feature is a row of, or was made for.
    public let table: FeatureTable?

    init(table: FeatureTable?, attributes: [String: any Sendable], geometry: Geometry?) {
        self.table = table
        var spelled: [String: any Sendable] = [:]
        for (name, value) in attributes { spelled[table?.definition?.field(named: name)?.name ?? name] = value }
        state = Mutex(State(attributes: spelled, geometry: geometry))
    }

    /// A row as it was read.
    init(table: FeatureTable, reading record: FeatureRecord, fields: ClientFields, isComplete: Bool) {
        self.table = table
        state = Mutex(State(reading: record, fields: fields, isComplete: isComplete))
    }

    /// All attributes that have a value, by field name.
    public var attributes: [String: any Sendable] { state.withLock { $0.attributes } }

    /// The geometry; a change is kept by `table.update`.
    public var geometry: Geometry? {
        get { state.withLock { $0.geometry } }
        set { state.withLock { $0.geometry = newValue } }
    }

    /// The value of an attribute; nil when it has none. Names match without regard to case.
    public func attributeValue(forKey key: String) -> (any Sendable)? {
        let name = spelled(key)
        return state.withLock { $0.value(of: name) }
    }

    /// Sets an attribute; nil clears it. The change is kept by `table.update`.
    public func setAttributeValue(_ value: (any Sendable)?, forKey key: String) {
        let name = spelled(key)
        state.withLock { $0.attributes[name] = value }
    }

    private func spelled(_ key: String) -> String { table?.definition?.field(named: key)?.name ?? key }
}

/// What values of clients a table's rows have; shared by all that one query read.
final class ClientFields: Sendable {
    private let fields: [(name: String, type: FieldworkREST.FieldType)]

    private let types: [String: FieldworkREST.FieldType]

    init(_ layer: LayerDefinition) {
        fields = layer.fields.map { ($0.name, $0.type) }
        types = Dictionary(fields.map { ($0.name, $0.type) }) { first, _ in first }
    }

    func value(of name: String, in record: FeatureRecord) -> (any Sendable)? {
        guard let type = types[name], let value = record.attributes[name] else { return nil }
        return AttributeConversion.clientValue(value, type: type)
    }

    func attributes(of record: FeatureRecord) -> [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        attributes.reserveCapacity(record.attributes.count)
        for field in fields {
            guard let value = record.attributes[field.name] else { continue }
            attributes[field.name] = AttributeConversion.clientValue(value, type: field.type)
        }
        return attributes
    }
}
