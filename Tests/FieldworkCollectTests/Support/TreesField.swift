import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import FieldworkTiles
import Foundation

@testable import FieldworkCollect

/// Street trees with species and inspections on a real server, a web map of them in a file, and the app that opened it.
struct TreesField: Sendable {
    let store: GeoPackageStore
    let app: RunningApp
    let services: RunningServices
    let deviceFolder: URL
    let mapFile: URL

    static let service = ServiceName(name: "Trees")
    static let conditions = ["Good", "Fair", "Poor", "Dead"]
    static let treeIDs = (1...6).map { UUID(uuidString: "00000000-0000-4000-8000-00000000000\($0)") ?? UUID() }

    /// - Parameters:
    ///   - change: changes the text of the web map before the app opens it.
    ///   - canSync: whether areas can be taken offline.
    ///   - hasLocator: whether the server has a locator of a street through the trees.
    static func with<Result: Sendable>(
        map change: @Sendable (String) -> String = { $0 }, canSync: Bool = false, hasLocator: Bool = false,
        _ test: (TreesField) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-trees-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder.appending(path: "server"))
        var definition = definition()
        if canSync {
            definition.capabilities.insert(.sync)
            for index in definition.layers.indices { definition.layers[index].capabilities.insert(.sync) }
        }
        try await store.createService(definition)
        _ = try await store.apply(EditBatch(layers: rows, moment: Date(), origin: .load), to: service)
        if hasLocator { try TreesLocator.make(in: folder.appending(path: "server")) }
        let services = try await RunningServices.start(
            store: store, dataFolder: hasLocator ? folder.appending(path: "server") : nil)
        do {
            let file = folder.appending(path: "TreesOfPortland.webmap.json")
            try Data(change(webMap(services.root)).utf8).write(to: file)
            let device = folder.appending(path: "device")
            let app = try await RunningApp.start(services: services.root, folder: device, webMap: file)
            do {
                let result = try await test(
                    TreesField(
                        store: store, app: app, services: services, deviceFolder: device, mapFile: file))
                await app.stop()
                await services.stop()
                try await store.close()
                return result
            } catch {
                await app.stop()
                throw error
            }
        } catch {
            await services.stop()
            try? await store.close()
            throw error
        }
    }

    /// Stops the app and runs the test with another start of it over the same data.
    func restartedApp(_ test: (RunningApp) async throws -> Void) async throws {
        await app.stop()
        let next = try await RunningApp.start(services: services.root, folder: deviceFolder, webMap: mapFile)
        do {
            try await test(next)
            await next.stop()
        } catch {
            await next.stop()
            throw error
        }
    }

    func rows(of layer: Int) async throws -> [FeatureRecord] {
        try await store.records(FeatureQuery(), in: LayerAddress(service: Self.service, layerID: layer))
    }

    func tree(_ index: Int) async throws -> FeatureRecord? {
        try await rows(of: 0).first { $0.globalID == Self.treeIDs[index] }
    }

    /// The address of a tree, as the app's pages name it.
    static func address(_ index: Int) -> String { "/f/0/\(treeIDs[index].uuidString.lowercased())" }

    static func place(_ index: Int) -> (longitude: Double, latitude: Double) {
        (-122.630 + Double(index) * 0.001, 45.566)
    }

    // MARK: The services

    private static let ids = [
        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
        FieldDefinition(name: "GlobalID", type: .globalID, length: 38, isNullable: false, isEditable: false),
    ]
    private static let condition = DomainDefinition(
        name: "Condition", kind: .codedValues(conditions.map { .init(code: .text($0), name: $0) }))
    private static let diameter = DomainDefinition(
        name: "Diameter", kind: .range(minimum: .real(0), maximum: .real(120)))

    static func definition() -> ServiceDefinition {
        let trees = LayerDefinition(
            id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
            fields: ids + [
                FieldDefinition(name: "Address", type: .string, length: 60),
                FieldDefinition(name: "Condition", type: .string, length: 10, domain: condition),
                FieldDefinition(name: "DBH", alias: "Trunk diameter", type: .double, domain: diameter),
                FieldDefinition(name: "Neighborhood", type: .string, length: 40),
                FieldDefinition(name: "SpeciesCode", type: .string, length: 8),
                FieldDefinition(name: "Notes", type: .string, length: 500),
            ],
            globalIDField: "GlobalID", displayField: "Address",
            templates: [
                FeatureTemplateDefinition(
                    name: "Street tree", drawingTool: "esriFeatureEditToolPoint",
                    attributes: ["Condition": .text("Good")])
            ],
            relationships: [
                RelationshipDefinition(
                    id: 0, name: "Species", relatedTableID: 2, cardinality: .oneToMany, role: .destination,
                    keyField: "SpeciesCode"),
                RelationshipDefinition(
                    id: 1, name: "Inspections", relatedTableID: 3, cardinality: .oneToMany, role: .origin,
                    keyField: "GlobalID", isComposite: true),
            ],
            hasAttachments: true, drawingInfo: try? JSONParser.parse(Array(renderer.utf8)))
        let neighborhoods = LayerDefinition(
            id: 1, name: "Neighborhoods", geometryType: .polygon, spatialReference: .webMercator,
            fields: ids + [FieldDefinition(name: "Name", type: .string, length: 40)], globalIDField: "GlobalID",
            displayField: "Name")
        let species = LayerDefinition(
            id: 2, name: "Species",
            fields: ids + [
                FieldDefinition(name: "Code", type: .string, length: 8, isNullable: false),
                FieldDefinition(name: "CommonName", alias: "Common name", type: .string, length: 60),
                FieldDefinition(name: "ScientificName", alias: "Scientific name", type: .string, length: 60),
            ],
            globalIDField: "GlobalID", displayField: "CommonName",
            relationships: [
                RelationshipDefinition(
                    id: 0, name: "Trees", relatedTableID: 0, cardinality: .oneToMany, role: .origin, keyField: "Code")
            ],
            capabilities: [.query])
        let inspections = LayerDefinition(
            id: 3, name: "Inspections",
            fields: ids + [
                FieldDefinition(name: "TreeID", type: .guid),
                FieldDefinition(name: "Inspected", type: .date),
                FieldDefinition(name: "Condition", type: .string, length: 10, domain: condition),
                FieldDefinition(name: "DBH", alias: "Trunk diameter", type: .double, domain: diameter),
                FieldDefinition(name: "Notes", type: .string, length: 500),
            ],
            globalIDField: "GlobalID", displayField: "Inspected",
            relationships: [
                RelationshipDefinition(
                    id: 1, name: "Tree", relatedTableID: 0, cardinality: .oneToMany, role: .destination,
                    keyField: "TreeID", isComposite: true)
            ],
            hasAttachments: true)
        return ServiceDefinition(name: service, layers: [trees, neighborhoods, species, inspections])
    }

    private static let renderer = """
        {"renderer":{"type":"uniqueValue","field1":"Condition","uniqueValueInfos":[\
        \(zip(conditions, ["Circle", "Diamond", "Triangle", "Square"]).map { name, style in
            """
            {"value":"\(name)","label":"\(name)","symbol":{"type":"esriSMS","style":"esriSMS\(style)",\
            "color":[31,125,75,255],"size":12,"outline":{"type":"esriSLS","style":"esriSLSSolid",\
            "color":[255,255,255,255],"width":1}}}
            """
        }.joined(separator: ","))]}}
        """

    // MARK: The features

    private static let species = [
        ("ACPL", "Norway maple", "Acer platanoides"), ("ACRU", "Red maple", "Acer rubrum"),
        ("PRSE", "Cherry", "Prunus serrulata"),
    ]

    private static var rows: [LayerEdits] {
        let trees = treeIDs.indices.map { index -> FeatureEdit in
            let place = place(index)
            return FeatureEdit(
                globalID: treeIDs[index],
                attributes: [
                    ("Address", .text("\(3250 + 2 * index) NE Ainsworth St")),
                    ("Condition", .text(conditions[index % 4])), ("DBH", .real(10 + Double(index))),
                    ("Neighborhood", .text("Concordia")),
                    ("SpeciesCode", index == 5 ? .null : .text(species[index % 3].0)),
                ],
                geometry: .geometry(
                    Point(
                        x: WebMercator.x(longitude: place.longitude), y: WebMercator.y(latitude: place.latitude),
                        spatialReference: .webMercator)))
        }
        let corners = [(-122.64, 45.56), (-122.64, 45.57), (-122.61, 45.57), (-122.61, 45.56)].map {
            Point(x: WebMercator.x(longitude: $0), y: WebMercator.y(latitude: $1), spatialReference: .webMercator)
        }
        let neighborhood = FeatureEdit(
            attributes: [("Name", .text("Concordia"))], geometry: .geometry(Polygon(points: corners)))
        let kinds = species.map { code, name, scientific in
            FeatureEdit(attributes: [
                ("Code", .text(code)), ("CommonName", .text(name)), ("ScientificName", .text(scientific)),
            ])
        }
        let inspections = (0..<2).map { index in
            FeatureEdit(attributes: [
                ("TreeID", .text("{\(treeIDs[0].uuidString)}")),
                ("Inspected", .integer(1_700_000_000_000 + Int64(index) * 86_400_000)),
                ("Condition", .text(conditions[1 - index])), ("DBH", .real(9.5 + Double(index) / 2)),
            ])
        }
        return [
            LayerEdits(layerID: 0, adds: trees), LayerEdits(layerID: 1, adds: [neighborhood]),
            LayerEdits(layerID: 2, adds: kinds), LayerEdits(layerID: 3, adds: inspections),
        ]
    }
}
