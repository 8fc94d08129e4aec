import FieldworkGeometry
import FieldworkREST
import Foundation
import FoundationXML
import Testing

/// Drawings of trees, and the pixels of images of them.
enum MapImages {
    /// A red square of 12 pixels at 96 to the inch.
    static let square: JSONValue = [
        "type": "esriSMS", "style": "esriSMSSquare", "color": [255, 0, 0, 255], "size": 9,
    ]

    static func drawn(_ symbol: JSONValue, labels: Bool = false) -> ServiceDefinition {
        var definition = TreesService.definition
        var info = JSONObject()
        info["renderer"] = ["type": "simple", "symbol": symbol]
        if labels {
            info["labelingInfo"] = [
                [
                    "labelExpression": "[Name]", "labelPlacement": "esriServerPointLabelPlacementAboveCenter",
                    "symbol": ["type": "esriTS", "color": [0, 0, 255, 255], "font": ["size": 12]],
                ]
            ]
        }
        definition.layers[0].drawingInfo = .object(info)
        return definition
    }

    /// The pixels of an image, as GDAL reads it, row by row.
    /// - Parameter bands: 4 of red, green, blue and opacity.
    static func pixels(_ image: [UInt8], bands: Int = 4) async throws -> [[UInt8]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-image-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, raw) = (folder.appending(path: "a.png"), folder.appending(path: "a.bin"))
        try Data(image).write(to: source)
        let output = try await Tool.run(
            "gdal_translate", ["-q", "-of", "ENVI", "-co", "INTERLEAVE=BIP", source.path, raw.path])
        try #require(output.status == 0, "\(output.standardError)")
        let bytes = Array(try Data(contentsOf: raw))
        return stride(from: 0, to: bytes.count - bands + 1, by: bands).map { Array(bytes[$0..<$0 + bands]) }
    }

    static let red: [UInt8] = [255, 0, 0, 255]
    static let clear: [UInt8] = [0, 0, 0, 0]
    static let white: [UInt8] = [255, 255, 255, 255]
}

/// Documents of XML, read by the system's reader.
enum XMLText {
    static func isWellFormed(_ bytes: [UInt8]) -> Bool { XMLParser(data: Data(bytes)).parse() }
}
