package import Foundation

/// What is known of an attachment besides its bytes.
package struct AttachmentInfo: Sendable, Hashable {
    /// Unique in its layer.
    package var id: Int64
    package var globalID: UUID?
    package var parentObjectID: Int64
    package var parentGlobalID: UUID?
    package var name: String
    /// As it was told by whoever brought it.
    package var contentType: String
    /// In bytes.
    package var size: Int64
    package var keywords: String
    /// What a photo says of itself; empty when it says nothing or nobody asked.
    package var exif: [ExifGroup]
    /// The SHA-256 of the content in hexadecimal; nil when it is not known or nobody asked.
    package var sha256: String?

    package init(
        id: Int64, globalID: UUID?, parentObjectID: Int64, parentGlobalID: UUID?, name: String, contentType: String,
        size: Int64, keywords: String, exif: [ExifGroup] = []
    ) {
        self.id = id
        self.globalID = globalID
        self.parentObjectID = parentObjectID
        self.parentGlobalID = parentGlobalID
        self.name = name
        self.contentType = contentType
        self.size = size
        self.keywords = keywords
        self.exif = exif
    }
}

/// Which attachments of a layer are meant.
package struct AttachmentQuery: Sendable, Hashable {
    /// The features whose attachments are meant.
    package var features: FeatureQuery
    /// About the attachments; bound to `AttachmentFields.definition`.
    package var condition: SQLExpression?
    package var ids: [Int64]?
    package var globalIDs: [UUID]?
    /// Whole types (`image/jpeg`) or the part before the slash (`image`), in lower case.
    package var contentTypes: [String]?
    /// In bytes.
    package var sizes: ClosedRange<Int64>?
    /// One of these is among an attachment's keywords.
    package var keywords: [String]?
    package var order: [FeatureQuery.OrderTerm]
    package var offset: Int
    /// The most attachments to give. The store reads one more to know whether there are more.
    package var limit: Int?
    /// Whether photos are looked into.
    package var returnsExif: Bool

    package init(
        features: FeatureQuery = FeatureQuery(), condition: SQLExpression? = nil, ids: [Int64]? = nil,
        globalIDs: [UUID]? = nil, contentTypes: [String]? = nil, sizes: ClosedRange<Int64>? = nil,
        keywords: [String]? = nil, order: [FeatureQuery.OrderTerm] = [], offset: Int = 0, limit: Int? = nil,
        returnsExif: Bool = false
    ) {
        self.features = features
        self.condition = condition
        self.ids = ids
        self.globalIDs = globalIDs
        self.contentTypes = contentTypes
        self.sizes = sizes
        self.keywords = keywords
        self.order = order
        self.offset = offset
        self.limit = limit
        self.returnsExif = returnsExif
    }
}

/// Attachments in the order that was asked for.
package struct AttachmentPage: Sendable, Hashable {
    package var attachments: [AttachmentInfo]
    /// The limit cut the answer.
    package var hasMore: Bool

    package init(attachments: [AttachmentInfo], hasMore: Bool) {
        self.attachments = attachments
        self.hasMore = hasMore
    }
}

/// How many attachments a feature has.
package struct AttachmentCount: Sendable, Hashable {
    package var parentObjectID: Int64
    package var parentGlobalID: UUID?
    package var count: Int

    package init(parentObjectID: Int64, parentGlobalID: UUID?, count: Int) {
        self.parentObjectID = parentObjectID
        self.parentGlobalID = parentGlobalID
        self.count = count
    }
}

/// The fields of attachments that conditions and orders may name.
package enum AttachmentFields {
    package static let id = "ATTACHMENTID"
    package static let globalID = "GLOBALID"
    package static let name = "ATT_NAME"
    package static let contentType = "CONTENT_TYPE"
    package static let size = "DATA_SIZE"
    package static let keywords = "KEYWORDS"

    /// Attachments as a table of their own.
    package static let definition = LayerDefinition(
        id: 0, name: "Attachments",
        fields: [
            FieldDefinition(name: id, type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: globalID, type: .globalID, length: 38, isEditable: false),
            FieldDefinition(name: name, type: .string, length: Limits.attachmentNameLength),
            FieldDefinition(name: contentType, type: .string, length: Limits.contentTypeLength),
            FieldDefinition(name: size, type: .bigInteger, isEditable: false),
            FieldDefinition(name: keywords, type: .string, length: Limits.attachmentKeywordsLength),
        ], objectIDField: id, globalIDField: globalID)

    /// The field for the name that an attachment's property has in answers.
    package static func field(forProperty property: String) -> String? {
        switch property.lowercased() {
        case "id", "attachmentid": id
        case "globalid": globalID
        case "name", "att_name": name
        case "contenttype", "content_type": contentType
        case "size", "data_size": size
        case "keywords": keywords
        default: nil
        }
    }
}
