package import FieldworkGeometry

/// The types a field can have, named as the protocol names them.
package enum FieldType: String, Sendable, Hashable, CaseIterable {
    case smallInteger = "esriFieldTypeSmallInteger"
    case integer = "esriFieldTypeInteger"
    case bigInteger = "esriFieldTypeBigInteger"
    case single = "esriFieldTypeSingle"
    case double = "esriFieldTypeDouble"
    case string = "esriFieldTypeString"
    case date = "esriFieldTypeDate"
    case dateOnly = "esriFieldTypeDateOnly"
    case timeOnly = "esriFieldTypeTimeOnly"
    case timestampOffset = "esriFieldTypeTimestampOffset"
    case oid = "esriFieldTypeOID"
    case globalID = "esriFieldTypeGlobalID"
    case guid = "esriFieldTypeGUID"
    case geometry = "esriFieldTypeGeometry"
    case blob = "esriFieldTypeBlob"
    case raster = "esriFieldTypeRaster"
    case xml = "esriFieldTypeXML"

    package var isNumeric: Bool {
        switch self {
        case .smallInteger, .integer, .bigInteger, .single, .double, .oid: true
        default: false
        }
    }

    package var isText: Bool {
        switch self {
        case .string, .guid, .globalID, .xml, .dateOnly, .timeOnly, .timestampOffset: true
        default: false
        }
    }
}

/// One column of a layer or table.
package struct FieldDefinition: Sendable, Hashable {
    package var name: String
    package var alias: String
    package var type: FieldType
    /// Characters for text (0: unlimited).
    package var length: Int
    package var isNullable: Bool
    package var isEditable: Bool
    package var defaultValue: AttributeValue
    package var domain: DomainDefinition?
    /// Members of the field's JSON that this type does not know; written back unchanged.
    package var unknownMembers: JSONObject

    package init(
        name: String, alias: String? = nil, type: FieldType, length: Int = 0, isNullable: Bool = true,
        isEditable: Bool = true, defaultValue: AttributeValue = .null, domain: DomainDefinition? = nil,
        unknownMembers: JSONObject = JSONObject()
    ) {
        self.name = name
        self.alias = alias ?? name
        self.type = type
        self.length = length
        self.isNullable = isNullable
        self.isEditable = isEditable
        self.defaultValue = defaultValue
        self.domain = domain
        self.unknownMembers = unknownMembers
    }
}

/// The values that a field may hold.
package struct DomainDefinition: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case codedValues([CodedValue])
        case range(minimum: AttributeValue, maximum: AttributeValue)
        /// In a type or subtype: the field's own domain applies.
        case inherited
    }

    package struct CodedValue: Sendable, Hashable {
        package var code: AttributeValue
        package var name: String

        package init(code: AttributeValue, name: String) {
            self.code = code
            self.name = name
        }
    }

    package var name: String
    package var kind: Kind
    package var unknownMembers: JSONObject

    package init(name: String, kind: Kind, unknownMembers: JSONObject = JSONObject()) {
        self.name = name
        self.kind = kind
        self.unknownMembers = unknownMembers
    }
}
