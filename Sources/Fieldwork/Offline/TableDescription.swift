public import FieldworkGeometry
import Synchronization

/// What a new table of a geodatabase is to be. Object id and global id are added to its fields.
public final class TableDescription: Sendable {
    struct Values: Sendable {
        var fields: [FieldDescription] = []
        var hasAttachments = false
        var hasZ = false
        var hasM = false
    }

    /// The table's name.
    public let name: String
    /// The reference of its geometries; nil for a table without.
    public let spatialReference: SpatialReference?
    /// The kind of its geometries; nil for a table without.
    public let geometryType: Geometry.Type?
    private let state = Mutex(Values())

    /// - Parameters:
    ///   - name: the table's name, which no other table of the geodatabase has.
    ///   - spatialReference: the reference of its geometries; a table with geometries needs one.
    ///   - geometryType: `Point.self`, `Multipoint.self`, `Polyline.self` or `Polygon.self`; nil for a table without.
    public init(name: String, spatialReference: SpatialReference? = nil, geometryType: Geometry.Type? = nil) {
        self.name = name
        self.spatialReference = spatialReference
        self.geometryType = geometryType
    }

    var values: Values { state.withLock { $0 } }

    /// The fields besides the ids.
    public var fieldDescriptions: [FieldDescription] { values.fields }

    /// Adds fields behind those that are there.
    public func addFieldDescriptions(_ descriptions: [FieldDescription]) {
        state.withLock { $0.fields += descriptions }
    }

    /// Whether features may have attachments.
    public var hasAttachments: Bool {
        get { values.hasAttachments }
        set { state.withLock { $0.hasAttachments = newValue } }
    }

    /// Whether geometries have measures.
    public var hasM: Bool {
        get { values.hasM }
        set { state.withLock { $0.hasM = newValue } }
    }

    /// Whether geometries have heights.
    public var hasZ: Bool {
        get { values.hasZ }
        set { state.withLock { $0.hasZ = newValue } }
    }
}

/// What a new field is to be.
public final class FieldDescription: Sendable {
    private struct Values: Sendable {
        var alias = ""
        var length = 0
        var isNullable = true
        var isEditable = true
        var domainName = ""
        var defaultValue: (any Sendable)?
    }

    /// The field's name.
    public let name: String
    /// The field's type.
    public let fieldType: FieldType
    private let state = Mutex(Values())

    /// A field that may be null and edited, without a default.
    public init(name: String, fieldType: FieldType) {
        self.name = name
        self.fieldType = fieldType
    }

    /// The name that people see; the field's name when it is empty.
    public var alias: String {
        get { state.withLock { $0.alias } }
        set { state.withLock { $0.alias = newValue } }
    }

    /// The most characters of a text; 0 for no limit.
    public var length: Int {
        get { state.withLock { $0.length } }
        set { state.withLock { $0.length = newValue } }
    }

    /// Whether the field may be null.
    public var isNullable: Bool {
        get { state.withLock { $0.isNullable } }
        set { state.withLock { $0.isNullable = newValue } }
    }

    /// Whether clients may set the field.
    public var isEditable: Bool {
        get { state.withLock { $0.isEditable } }
        set { state.withLock { $0.isEditable = newValue } }
    }

    /// The name of a domain that a field of the geodatabase has already (`Geodatabase.domains`); empty for none.
    public var domainName: String {
        get { state.withLock { $0.domainName } }
        set { state.withLock { $0.domainName = newValue } }
    }

    /// The value of new rows.
    public var defaultValue: (any Sendable)? {
        get { state.withLock { $0.defaultValue } }
        set { state.withLock { $0.defaultValue = newValue } }
    }
}
