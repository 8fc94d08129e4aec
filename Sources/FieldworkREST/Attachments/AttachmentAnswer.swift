package import FieldworkGeometry
import Foundation

/// What is told of attachments.
package enum AttachmentAnswer {
    /// The attachments of one feature.
    package static func list(_ attachments: [AttachmentInfo]) -> JSONValue {
        ["attachmentInfos": .array(attachments.map { json($0) })]
    }

    /// Reads the attachments of one feature; nil for what is no list of them. What has no id can't be named and is left out.
    package static func read(_ answer: JSONValue, of objectID: Int64) -> [AttachmentInfo]? {
        answer["attachmentInfos"]?.arrayValue?.compactMap { read($0, objectID) }
    }

    private static func read(_ json: JSONValue, _ objectID: Int64) -> AttachmentInfo? {
        guard let id = json["id"]?.integerValue else { return nil }
        return AttachmentInfo(
            id: id, globalID: json["globalId"]?.stringValue.flatMap(GUID.parse),
            parentObjectID: json["parentObjectId"]?.integerValue ?? objectID,
            parentGlobalID: json["parentGlobalId"]?.stringValue.flatMap(GUID.parse),
            name: json["name"]?.stringValue ?? "", contentType: json["contentType"]?.stringValue ?? "",
            size: json["size"]?.integerValue ?? 0, keywords: json["keywords"]?.stringValue ?? "")
    }

    /// The attachments of many features, a group a feature; features follow in the order in which the first of their
    /// attachments comes.
    /// - Parameter url: the address of an attachment; nil to leave addresses out.
    package static func groups(_ page: AttachmentPage, url: ((AttachmentInfo) -> String)?) -> JSONValue {
        var order: [Int64] = []
        var groups: [Int64: [AttachmentInfo]] = [:]
        for info in page.attachments {
            if groups[info.parentObjectID] == nil { order.append(info.parentObjectID) }
            groups[info.parentObjectID, default: []].append(info)
        }
        var answer = JSONObject()
        answer.append("fields", .array(AttachmentFields.definition.fields.map(\.json)))
        answer.append(
            "attachmentGroups",
            .array(
                order.map { id in
                    let infos = groups[id] ?? []
                    return [
                        "parentObjectId": .integer(id), "parentGlobalId": guid(infos.first?.parentGlobalID),
                        "attachmentInfos": .array(infos.map { json($0, url: url?($0)) }),
                    ]
                }))
        if page.hasMore { answer.append("exceededTransferLimit", true) }
        return .object(answer)
    }

    /// - Parameter counts: one more than an answer may hold when there are more.
    package static func counts(_ counts: [AttachmentCount]) -> JSONValue {
        var answer = JSONObject()
        answer.append(
            "attachmentGroups",
            .array(
                counts.prefix(Limits.attachmentsPerAnswer).map {
                    [
                        "parentObjectId": .integer($0.parentObjectID), "parentGlobalId": guid($0.parentGlobalID),
                        "count": JSONValue($0.count),
                    ]
                }))
        if counts.count > Limits.attachmentsPerAnswer { answer.append("exceededTransferLimit", true) }
        return .object(answer)
    }

    package static func json(_ info: AttachmentInfo, url: String? = nil) -> JSONValue {
        var object = JSONObject()
        object.append("id", .integer(info.id))
        object.append("globalId", guid(info.globalID))
        object.append("parentObjectId", .integer(info.parentObjectID))
        object.append("parentGlobalId", guid(info.parentGlobalID))
        object.append("name", .string(info.name))
        object.append("contentType", .string(info.contentType))
        object.append("size", .integer(info.size))
        object.append("keywords", .string(info.keywords))
        if let url { object.append("url", .string(url)) }
        object.append("exifInfo", info.exif.isEmpty ? .null : .array(info.exif.map(group)))
        return .object(object)
    }

    private static func group(_ group: ExifGroup) -> JSONValue {
        [
            "name": .string(group.name),
            "tags": .array(
                group.tags.map {
                    ["name": .string($0.name), "description": .string($0.description), "value": $0.value]
                }),
        ]
    }

    private static func guid(_ id: UUID?) -> JSONValue { id.map { .string(GUID.normalForm($0)) } ?? .null }

    /// The results of edits of attachments, as `applyEdits` tells them.
    package static func results(_ results: AttachmentEditResults) -> JSONValue {
        [
            "addResults": .array(results.adds.map(EditAnswer.json)),
            "updateResults": .array(results.updates.map(EditAnswer.json)),
            "deleteResults": .array(results.deletes.map(EditAnswer.json)),
        ]
    }
}
