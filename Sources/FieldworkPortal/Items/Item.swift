package import FieldworkGeometry

/// Something that a person may find, open and share: a web map, a service, a file.
package struct Item: Sendable, Hashable {
    package var id: String
    /// In the letters that the person registered with.
    package var owner: String
    /// The id of the owner's folder; empty outside of folders.
    package var folder: String
    package var title: String
    /// The protocol's word, such as `Web Map`.
    package var type: String
    /// The name of the file or of the service.
    package var name: String
    /// Where it leads; of a service of this server it is empty, and made of the address that the server is asked under.
    package var url: String
    /// The path of the service that the item stands for.
    package var service: String?
    package var sharing: Sharing
    package var isProtected: Bool
    /// Milliseconds since 1970.
    package var created: Int64
    package var modified: Int64
    package var views: Int64
    /// Bytes of the data; -1 where there is none.
    package var size: Int64
    package var fields: ItemFields
}

/// What an item says of itself.
package struct ItemFields: Sendable, Hashable {
    package var snippet: String?
    package var description: String?
    package var tags: [String] = []
    package var typeKeywords: [String] = []
    /// The name under which the thumbnail is asked for.
    package var thumbnail: String?
    /// Other members of the protocol, as clients write them: extent, accessInformation, licenseInfo, properties and so on.
    package var others = JSONObject()

    package init() {}

    /// Members of the protocol that are kept as they are sent.
    package static let kept = [
        "extent", "spatialReference", "accessInformation", "licenseInfo", "culture", "properties", "categories",
        "documentation", "largeThumbnail", "appCategories", "industries", "languages", "screenshots", "banner", "guid",
    ]

    init(_ json: JSONObject) {
        snippet = json["snippet"]?.stringValue
        description = json["description"]?.stringValue
        tags = (json["tags"]?.arrayValue ?? []).compactMap(\.stringValue)
        typeKeywords = (json["typeKeywords"]?.arrayValue ?? []).compactMap(\.stringValue)
        thumbnail = json["thumbnail"]?.stringValue
        others = json["others"]?.objectValue ?? JSONObject()
    }

    var json: JSONObject {
        JSONObject([
            "snippet": JSONValue(snippet), "description": JSONValue(description), "tags": .texts(tags),
            "typeKeywords": .texts(typeKeywords), "thumbnail": JSONValue(thumbnail), "others": .object(others),
        ])
    }

    func check() throws(PortalError) {
        guard tags.count <= Limits.tags, typeKeywords.count <= Limits.tags else {
            throw PortalError(.overLimit, "An item has at most \(Limits.tags) tags and as many type keywords.")
        }
        guard json.text.utf8.count <= Limits.textBytes else {
            throw PortalError(.overLimit, "An item's texts have at most \(Limits.textBytes) bytes together.")
        }
    }
}

/// The data of an item, its thumbnail, or one of its resources.
package struct ItemContent: Sendable, Hashable {
    /// Empty for the data, `thumbnail` for the thumbnail, `resources/` before the path of a resource.
    package var name: String
    package var type: String
    package var fileName: String
    package var modified: Int64
    package var bytes: [UInt8]

    package init(name: String, type: String, fileName: String, modified: Int64, bytes: [UInt8]) {
        self.name = name
        self.type = type
        self.fileName = fileName
        self.modified = modified
        self.bytes = bytes
    }

    package static let data = ""
    package static let thumbnail = "thumbnail"
    package static let resources = "resources/"
    static let parts = "parts/"

    /// A part of data that is not whole yet. The names are in the order of the parts.
    package static func part(_ number: Int) -> String {
        let digits = String(number)
        return parts + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}

/// What a client wants to change of an item; nil leaves it.
package struct ItemChange: Sendable {
    package var title: String?
    package var type: String?
    package var url: String?
    package var snippet: String?
    package var description: String?
    package var tags: [String]?
    package var typeKeywords: [String]?
    package var others = JSONObject()
    /// Replaces the data.
    package var data: ItemContent?
    package var thumbnail: ItemContent?
    package var name: String?

    package init() {}
}
