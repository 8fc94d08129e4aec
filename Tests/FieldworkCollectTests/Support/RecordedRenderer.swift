import FieldworkGeometry
import Foundation
import Testing

@testable import FieldworkCollect

/// A renderer that is found in documents of others, or one of a kind that they hold none of.
struct RecordedRenderer: Sendable, CustomTestStringConvertible {
    let name: String
    let renderer: JSONValue
    var testDescription: String { name }

    static var areInstalled: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// What a renderer's symbols are for.
    var type: (name: String, kind: GeometryKind) {
        let infos = ["uniqueValueInfos", "classBreakInfos"].flatMap { renderer[$0]?.arrayValue ?? [] }
        let symbols = [renderer["symbol"], renderer["defaultSymbol"]] + infos.map { $0["symbol"] }
        switch symbols.compactMap({ $0?["type"]?.stringValue }).first {
        case "esriSLS": return ("esriGeometryPolyline", .line)
        case "esriSFS", "esriPFS": return ("esriGeometryPolygon", .polygon)
        default: return ("esriGeometryPoint", .point)
        }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "../shared/data").standardized

    /// Renderers that are found in documents of others, whatever stands around them.
    static let recorded: [RecordedRenderer] = ["geoservices", "webmap"].flatMap { part -> [RecordedRenderer] in
        let root = folder.appending(path: part)
        guard let files = FileManager.default.enumerator(atPath: root.path) else { return [] }
        return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".json") }.sorted().flatMap { path in
            guard let data = try? Data(contentsOf: root.appending(path: path)),
                let json = try? JSONParser.parse(data)
            else { return [RecordedRenderer]() }
            return renderers(in: json).enumerated().map { RecordedRenderer(name: "\(path) \($0)", renderer: $1) }
        }
    }

    private static func renderers(in json: JSONValue) -> [JSONValue] {
        switch json {
        case .array(let items): return items.flatMap(renderers)
        case .object(let object):
            let own = object["renderer"].flatMap { $0["type"]?.stringValue == nil ? nil : $0 }
            return (own.map { [$0] } ?? []) + object.members.flatMap { renderers(in: $0.value) }
        default: return []
        }
    }

    private static func marker(_ red: Int, _ style: String = "esriSMSCircle", size: Double = 9) -> JSONValue {
        [
            "type": "esriSMS", "style": .string(style), "color": [JSONValue(red), 0, 0, 255], "size": .number(size),
            "outline": ["type": "esriSLS", "style": "esriSLSSolid", "color": [0, 0, 0, 255], "width": 1],
        ]
    }

    /// What recorded documents hold none of.
    static let made: [RecordedRenderer] = [
        RecordedRenderer(
            name: "groups of two fields",
            renderer: [
                "type": "uniqueValue", "field1": "Kind", "field2": "State", "fieldDelimiter": "|",
                "defaultSymbol": marker(9),
                "uniqueValueGroups": [
                    [
                        "heading": "Trees",
                        "classes": [
                            ["label": "Old", "values": [["1", "old"], ["2", "old"]], "symbol": marker(1)],
                            ["label": "New", "values": [["1", "new"]], "symbol": marker(2, "esriSMSDiamond")],
                        ],
                    ]
                ],
            ]),
        RecordedRenderer(
            name: "classes of numbers, turned and sized",
            renderer: [
                "type": "classBreaks", "field": "Height", "minValue": 0,
                "classBreakInfos": [
                    ["classMaxValue": 10, "label": "low", "symbol": marker(1)],
                    ["classMaxValue": 20, "label": "high", "symbol": marker(2)],
                ],
                "visualVariables": [
                    [
                        "type": "sizeInfo", "field": "Height", "minDataValue": 0, "maxDataValue": 20, "minSize": 4,
                        "maxSize": 24,
                    ]
                ],
            ]),
        RecordedRenderer(
            name: "shares of another field",
            renderer: [
                "type": "classBreaks", "field": "Height", "normalizationType": "esriNormalizeByField",
                "normalizationField": "Kind", "minValue": 0, "defaultSymbol": marker(7),
                "classBreakInfos": [
                    ["classMaxValue": 2, "label": "small", "symbol": marker(1)],
                    ["classMaxValue": 9, "label": "large", "symbol": marker(2)],
                ],
            ]),
    ]
}
