import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Services that others run, as they answered once, behind a real port and through the SDK.
@Suite(
    "Recorded services", .fewAtATime,
    .enabled(if: !RecordedService.all.isEmpty, "the shared data is not beside the package"))
struct RecordedServiceTests {
    /// A device before a recorded service.
    private static func with(
        _ service: RecordedService,
        _ test: (ServiceGeodatabase, ServiceFeatureTable, LoopbackServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.with({ service.answer($0) }) { server in
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-replay-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let geodatabase = ServiceGeodatabase(
                url: try server.url("/arcgis/rest/services/Recorded/FeatureServer"),
                environment: ServiceEnvironment(directory: folder, client: HTTPServiceClient(pause: { _ in })))
            try await geodatabase.load()
            try await test(geodatabase, #require(geodatabase.table(withLayerID: service.layerID)), server)
        }
    }

    private static func identified(_ service: RecordedService, by field: String) -> Bool {
        service.features.allSatisfy { feature in
            feature["attributes"]?.objectValue?.members.contains {
                $0.key.lowercased() == field.lowercased() && $0.value.integerValue != nil
            } == true
        }
    }

    @Test("The recorded services are found")
    func coverage() {
        #expect(RecordedService.all.count >= 20)
        #expect(RecordedService.all.count { !$0.features.isEmpty } >= 10)
        #expect(RecordedService.inBothFormats.count == 12)
        #expect(RecordedService.inPages != nil)
    }

    @Test(
        "Their layers load, their features decode with every value, and pop-ups and symbols are made of them",
        arguments: RecordedService.all)
    func replay(_ service: RecordedService) async throws {
        try await Self.with(service) { geodatabase, table, _ in
            #expect(geodatabase.serviceInfo?.layerInfos.count == 1)
            #expect(table.tableName == service.layer["name"]?.stringValue)
            #expect(table.fields.count == (service.layer["fields"]?.arrayValue ?? []).count)
            let layer = FeatureLayer(featureTable: table)
            try await layer.load()
            let drawing = service.layer["drawingInfo"]?["renderer"]
            #expect((layer.renderer == nil) == (drawing == nil))
            // Some pages were recorded without the field that tells features apart: these can't be edited, and are refused.
            guard Self.identified(service, by: table.objectIDField) else {
                await #expect(throws: Fieldwork.ServiceError.self) {
                    try await table.queryFeatures(using: QueryParameters())
                }
                return
            }
            let features = Array(try await table.queryFeatures(using: QueryParameters()).features())
            let recorded = service.features
            try #require(features.count == recorded.count)
            // One service gave two features with one id.
            let byID = Dictionary(grouping: recorded) { Self.id($0, table.objectIDField) }
            for feature in features {
                let same = try #require(byID[(feature as? ArcGISFeature)?.objectID])
                if same.count == 1 { try Self.compare(feature, same[0], table) }
                let popup = Popup(geoElement: feature)
                try await popup.evaluateExpressions()
                #expect(!popup.evaluatedElements.isEmpty)
                if let renderer = layer.renderer, renderer is SimpleRenderer {
                    #expect(renderer.symbol(for: feature) != nil)
                }
                _ = layer.renderer?.symbol(for: feature)
            }
            // What was recorded for the count is told as it was.
            let count = service.count?["count"]?.integerValue ?? Int64(recorded.count)
            #expect(try await Int64(table.queryFeatureCount(using: QueryParameters())) == count)
        }
    }

    private static func id(_ json: JSONValue, _ field: String) -> Int64? {
        json["attributes"]?.objectValue?.member(ignoringCase: field)?.integerValue
    }

    private static func compare(_ feature: Feature, _ json: JSONValue, _ table: ServiceFeatureTable) throws {
        for member in json["attributes"]?.objectValue?.members ?? [] {
            guard let field = table.field(named: member.key), field.type != .geometry else { continue }
            let value = feature.attributeValue(forKey: field.name)
            #expect((value == nil) == member.value.isNull, "\(field.name): \(member.value.text)")
            if let text = member.value.stringValue, field.type == .text { #expect(value as? String == text) }
        }
        let geometry = json["geometry"]
        if geometry?.isNull ?? true { #expect(feature.geometry == nil) }
        if let x = geometry?["x"]?.doubleValue { #expect((feature.geometry as? Point)?.x == x) }
        // A ring of less than four positions has no area and is none.
        if let rings = geometry?["rings"]?.arrayValue, rings.allSatisfy({ ($0.arrayValue?.count ?? 0) >= 4 }) {
            #expect((feature.geometry as? Polygon)?.parts.count == rings.count)
        }
    }

    // MARK: Formats

    @Test(
        "PBF is asked for where the service offers it, and gives the features that its JSON gives",
        arguments: RecordedService.inBothFormats)
    func bothFormats(_ service: RecordedService) async throws {
        var withoutPBF = try #require(service.layer.objectValue)
        withoutPBF["supportedQueryFormats"] = "JSON, AMF"
        let old = RecordedService(name: service.name, layer: .object(withoutPBF), pages: service.pages)
        var answers: [[Feature]] = []
        for (service, format) in [(service, "pbf"), (old, "json")] {
            try await Self.with(service) { _, table, server in
                answers.append(Array(try await table.queryFeatures(using: QueryParameters()).features()))
                #expect(server.requests.last?.parameters["f"] == format)
            }
        }
        let (packed, read) = (answers[0], answers[1])
        #expect(!packed.isEmpty && packed.count == read.count)
        for (one, other) in zip(packed, read) {
            #expect(one.attributes.keys.sorted() == other.attributes.keys.sorted())
            for (name, value) in one.attributes {
                #expect("\(value)" == other.attributes[name].map { "\($0)" }, "\(name)")
            }
            guard let first = one.geometry, let second = other.geometry else {
                #expect(one.geometry == nil && other.geometry == nil)
                continue
            }
            // PBF rounds coordinates to its grid.
            #expect(first.hasZ == second.hasZ && first.hasM == second.hasM)
            #expect(abs(first.extent.xMin - second.extent.xMin) < 0.001)
            #expect(abs(first.extent.yMax - second.extent.yMax) < 0.001)
        }
    }

    @Test("Pages that are asked for at the same time are put in the order that was asked for")
    func recordedPages() async throws {
        let service = try #require(RecordedService.inPages)
        let sets = try service.packedPages.map { try PBFFeatureSetReader.read(Array($0)) }
        let total = sets.map(\.features.count).reduce(0, +)
        var counted = service
        counted.count = ["count": JSONValue(total)]
        let field = try #require(sets[0].objectIDField)
        let expected = sets.flatMap(\.features).compactMap { $0.attributes[field]?.integerValue }
        try await Self.with(counted) { _, table, server in
            let parameters = QueryParameters()
            // An order of its own: these pages were recorded by their offsets.
            let name = try #require(table.fields.first { $0.name != field }?.name)
            parameters.addOrderByField(OrderBy(fieldName: name, sortOrder: .ascending))
            let features = try await table.queryFeatures(using: parameters).features()
            #expect(features.compactMap { ($0 as? ArcGISFeature)?.objectID } == expected)
            let offsets = server.requests.compactMap { $0.parameters["resultOffset"] }.compactMap { Int($0) }.sorted()
            let size = sets[0].features.count
            #expect(offsets == (1..<sets.count).map { $0 * size })
        }
    }

    // MARK: Errors

    private static let errorNames = [
        "ArcGISServerTokenRequired", "ArcGISOnlineError", "ArcGISOnlineErrorNoCode", "ArcGISOnlineErrorNoMessageCode",
        "ArcGISOnlineAuthError", "BillingError", "TaskError",
    ]

    @Test("Recorded errors are thrown with the protocol's code and the service's own message", arguments: errorNames)
    func errors(_ name: String) async throws {
        let url = try #require(SharedData.url("geoservices/arcgis-rest-js/responses/errors-\(name).json"))
        let text = try String(contentsOf: url, encoding: .utf8)
        let own = try JSONParser.parse(text)["error"]
        try await LoopbackServer.with({ _ in .json(text) }) { server in
            let client = FeatureServiceClient(
                root: try server.url("/rest/services/T/FeatureServer"), client: HTTPServiceClient(pause: { _ in }))
            do {
                _ = try await client.definition()
                Issue.record("An error was taken for a service.")
            } catch Fieldwork.ServiceError.serverFailure(let details, let sent) {
                if let message = own?["message"]?.stringValue { #expect(details.contains(message)) }
                if let code = own?["code"]?.integerValue { #expect(details.contains("\(code)") && sent == Int(code)) }
            } catch Fieldwork.ServiceError.unknown {
                // Some are no error of the protocol, and no service either.
                #expect(own == nil)
            }
        }
    }
}
