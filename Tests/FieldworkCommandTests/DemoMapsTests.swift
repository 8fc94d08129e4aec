import FieldworkCollect
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand

@Suite("Demo maps", .fewAtATime)
struct DemoMapsTests {
    private static let root = "http://127.0.0.1:8080/arcgis/rest/services"

    private static func entries(_ map: JSONValue) -> [JSONValue] {
        (map["operationalLayers"]?.arrayValue ?? []) + (map["tables"]?.arrayValue ?? [])
    }

    /// The service's layer that an entry of a map shows.
    private static func layer(_ entry: JSONValue, of demo: any DemoService) throws -> LayerDefinition {
        let url = try #require(entry["url"]?.stringValue)
        let service = "\(root)/\(demo.definition.name.name)/FeatureServer/"
        #expect(url.hasPrefix(service), "\(url)")
        return try #require(demo.definition.layers.first { "\(service)\($0.id)" == url })
    }

    private static func demo(_ name: String) throws -> any DemoService {
        try #require(DemoServices.all.first { $0.definition.name.name == name })
    }

    /// The form's elements that hold a value, those in groups too.
    private static func fields(_ elements: JSONValue?) -> [JSONValue] {
        (elements?.arrayValue ?? []).flatMap { element in
            element["type"] == "group" ? fields(element["formElements"]) : element["type"] == "field" ? [element] : []
        }
    }

    @Test("Every field, relationship and layer that a map names is in its service", arguments: DemoMaps.names)
    func names(_ name: String) throws {
        let demo = try Self.demo(name)
        let map = try DemoMaps.document(of: name)
        #expect(Self.entries(map).count == demo.definition.layers.count)
        for entry in Self.entries(map) {
            let layer = try Self.layer(entry, of: demo)
            for info in entry["popupInfo"]?["fieldInfos"]?.arrayValue ?? [] {
                let name = try #require(info["fieldName"]?.stringValue)
                #expect(layer.field(named: name) != nil, "\(layer.name) has no \(name)")
            }
            for element in entry["popupInfo"]?["popupElements"]?.arrayValue ?? []
            where element["type"] == "relationship" {
                let id = try #require(element["relationshipId"]?.integerValue)
                #expect(layer.relationships.contains { Int64($0.id) == id }, "\(layer.name) has no relationship \(id)")
            }
            for element in Self.fields(entry["formInfo"]?["formElements"]) {
                let name = try #require(element["fieldName"]?.stringValue)
                let field = try #require(layer.field(named: name), "\(layer.name) has no \(name)")
                #expect(field.isEditable, "\(name) of \(layer.name)")
                if let length = element["inputType"]?["maxLength"]?.integerValue {
                    #expect(Int64(field.length) >= length, "\(name) of \(layer.name)")
                }
            }
        }
    }

    @Test("A map allows no more than its service, and what can be edited has a pop-up and a form")
    func rights() throws {
        for name in DemoMaps.names {
            let demo = try Self.demo(name)
            let entries = Self.entries(try DemoMaps.document(of: name))
            #expect(!entries.isEmpty)
            for entry in entries {
                let layer = try Self.layer(entry, of: demo)
                let isEditable = entry["layerDefinition"]?["capabilities"]?.stringValue != "Query"
                #expect(isEditable == layer.capabilities.contains(.editing), "\(layer.name)")
                if isEditable {
                    #expect(entry["popupInfo"]?["title"]?.stringValue?.isEmpty == false)
                    let fields = Self.fields(entry["formInfo"]?["formElements"])
                    #expect(!fields.isEmpty)
                }
            }
        }
    }

    @Test("The app is offered each of the demo's maps in place of the service that it shows")
    func offered() {
        let folder = URL(filePath: "/demo", directoryHint: .isDirectory)
        let offered = DemoMaps.offered(in: folder)
        #expect(offered.map(\.serviceName) == DemoMaps.names)
        #expect(offered.map(\.file) == DemoMaps.names.map { DemoMaps.place(of: $0, in: folder) })
    }

    @Test("The rules of the map of trees name fields and relationships that are there")
    func rules() throws {
        let map = try DemoMaps.document(of: "TreesOfPortland")
        let demo = TreesOfPortlandDemo()
        func layer(_ id: JSONValue?) throws -> LayerDefinition {
            try Self.layer(try #require(Self.entries(map).first { $0["id"] == id }), of: demo)
        }
        let rules = try #require(map["fieldworkRules"]?.arrayValue)
        #expect(
            rules.compactMap { $0["type"]?.stringValue } == [
                "fillFromContainingFeature", "fillAddress", "followNewestRecord",
            ])
        for rule in rules {
            let target = try layer(rule["layerId"])
            if let field = rule["field"]?.stringValue {
                #expect(target.field(named: field)?.type == .string)
                continue
            }
            var source: LayerDefinition?
            if let id = rule["relationshipId"]?.integerValue {
                let relationship = try #require(target.relationships.first { Int64($0.id) == id })
                source = demo.definition.layers.first { $0.id == relationship.relatedTableID }
                #expect(source?.field(named: rule["newestBy"]?.stringValue ?? "") != nil)
            } else {
                source = try layer(rule["sourceLayerId"])
            }
            for member in try #require(rule["fields"]?.objectValue).members {
                #expect(target.field(named: member.key) != nil, "\(member.key)")
                #expect(source?.field(named: member.value.stringValue ?? "") != nil, "\(member.value)")
            }
        }
    }

    @Test("The first view shows trees, and the bookmarks are the neighbourhoods of their names")
    func places() async throws {
        let city = await DemoCity.made.value
        let map = try DemoMaps.document(of: "TreesOfPortland")
        let target = try #require(map["initialState"]?["viewpoint"]?["targetGeometry"])
        let view = try #require(try GeoServicesJSON.geometry(from: target) as? Envelope)
        let trees = city.trees.filter { edit in
            guard case .geometry(let geometry) = edit.geometry, let point = geometry as? Point else { return false }
            return (view.xMin...view.xMax).contains(point.x) && (view.yMin...view.yMax).contains(point.y)
        }
        #expect((100...2_000).contains(trees.count))
        let bookmarks = try #require(map["bookmarks"]?.arrayValue)
        #expect(bookmarks.count == 3)
        for bookmark in bookmarks {
            let hood = try #require(
                city.neighborhoods.first { edit in
                    edit.attributes.first { $0.name == "Name" }?.value.textValue == bookmark["name"]?.stringValue
                })
            guard case .geometry(let geometry) = hood.geometry else { continue }
            let extent = try #require(bookmark["extent"])
            #expect(try GeoServicesJSON.geometry(from: extent)?.extent == geometry.extent)
        }
    }

    @Test("A folder's maps name the server that serves now, and what somebody changed in them stays")
    func prepared() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-maps-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = "http://127.0.0.1:9000/arcgis/rest/services"
        try DemoMaps.prepare(in: folder, services: first)
        let place = DemoMaps.place(of: "TreesOfPortland", in: folder)
        var map = try #require(try JSONParser.parse(Data(contentsOf: place)).objectValue)
        let urls = Self.entries(.object(map)).compactMap { $0["url"]?.stringValue }
        #expect(Set(urls) == Set((0...3).map { "\(first)/TreesOfPortland/FeatureServer/\($0)" }))

        map["bookmarks"] = [["name": "Mine"]]
        try Data(JSONValue.object(map).text.utf8).write(to: place)
        let second = "http://[::1]:7/other/rest/services"
        try DemoMaps.prepare(in: folder, services: second)
        let changed = try JSONParser.parse(Data(contentsOf: place))
        #expect(changed["bookmarks"] == [["name": "Mine"]])
        #expect(Self.entries(changed).count == urls.count)
        #expect(Self.entries(changed).allSatisfy { $0["url"]?.stringValue?.hasPrefix(second) == true })
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path).count == 2)
    }
}
