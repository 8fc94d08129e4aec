package import FieldworkGeometry
import Foundation

/// What is told of attachments (rest-api §3.10, §4.10).
package enum AttachmentAnswer {
    /// The attachments of one feature.
    package static func list(_ attachments: [AttachmentInfo]) -> JSONValue {
        ["attachmentInfos": .array(attachments.map { json($0) })]
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

    package static func counts(_ counts: [AttachmentCount]) -> JSONValue {
        [
            "attachmentGroups": .array(
                counts.map {
                    [
                        "parentObjectId": .integer($0.parentObjectID), "parentGlobalId": guid($0.parentGlobalID),
                        "count": JSONValue($0.count),
                    ]
                })
        ]
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
