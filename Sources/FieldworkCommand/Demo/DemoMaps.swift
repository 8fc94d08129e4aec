import FieldworkCollect
import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkTiles
import Foundation

/// The demo's own web maps: how its services look, what their pop-ups and forms show, which rules hold between layers.
enum DemoMaps {
    /// The services that have a map, which is named after them.
    static let names = [DamageAssessmentDemo.name.name, TreesOfPortlandDemo.name.name]

    /// The map of a service as it comes with the program; its layers are those of a server with all defaults.
    static func document(of name: String) throws -> JSONValue {
        let place = Bundle.module.bundleURL.appending(path: "Maps/\(fileName(of: name))")
        return try JSONParser.parse(Data(contentsOf: place))
    }

    /// Where a map lies in a demo's folder, for `fieldwork collect --map`.
    static func place(of name: String, in folder: URL) -> URL {
        folder.appending(path: "maps", directoryHint: .isDirectory).appending(path: fileName(of: name))
    }

    /// What the app's first page says of the maps.
    static func offered(in folder: URL) -> [CollectConfiguration.OfferedMap] {
        [
            CollectConfiguration.OfferedMap(
                file: place(of: DamageAssessmentDemo.name.name, in: folder),
                serviceName: DamageAssessmentDemo.name.name, title: "Damage assessment",
                about: "Reports after storms, with photos, and the areas that crews search."),
            CollectConfiguration.OfferedMap(
                file: place(of: TreesOfPortlandDemo.name.name, in: folder),
                serviceName: TreesOfPortlandDemo.name.name, title: "Trees of Portland",
                about: "60,000 street trees with species, inspections and neighborhoods."),
        ]
    }

    private static func fileName(of name: String) -> String { "\(name).webmap.json" }

    /// Puts the maps in a demo's folder, their layers at the addresses that the server has now. Of a map that is there
    /// already only these addresses change: somebody may have made it their own.
    static func prepare(in folder: URL, services: String) throws {
        for name in names {
            let place = place(of: name, in: folder)
            let isThere = FileManager.default.fileExists(atPath: place.path)
            let known =
                try isThere
                ? JSONParser.parse(Data(contentsOf: place)) : withBasemap(document(of: name), in: folder, services)
            let map = addressed(known, service: name, to: services)
            if isThere, map == known { continue }
            try write(map, to: place)
        }
    }

    /// A new map lies on the demo's basemap.
    static func withBasemap(_ map: JSONValue, in folder: URL, _ services: String) -> JSONValue {
        guard BasemapFolder(data: folder).names().contains(DemoBasemap.name), var object = map.objectValue else {
            return map
        }
        object["baseMap"] = DemoBasemap.entry(services: services)
        return .object(object)
    }

    private static func write(_ map: JSONValue, to place: URL) throws {
        let folder = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let draft = folder.appending(path: ".\(UUID().uuidString).making")
        defer { try? FileManager.default.removeItem(at: draft) }
        try Data(map.text.utf8).write(to: draft)
        try DurableFile.replace(place, with: draft)
    }

    /// The document with every layer of the service, and the basemap, at another server.
    static func addressed(_ document: JSONValue, service: String, to services: String) -> JSONValue {
        switch document {
        case .array(let elements):
            return .array(elements.map { addressed($0, service: service, to: services) })
        case .object(var object):
            for member in object.members {
                if ["url", "styleUrl"].contains(member.key), let url = member.value.stringValue,
                    let range = url.range(of: "/\(service)/FeatureServer")
                        ?? url.range(of: "/\(DemoBasemap.name)/VectorTileServer")
                {
                    object[member.key] = .string(services + url[range.lowerBound...])
                } else {
                    object[member.key] = addressed(member.value, service: service, to: services)
                }
            }
            return .object(object)
        default: return document
        }
    }
}
