import FieldworkGeometry
import FieldworkREST
import TestSupport
import Testing

@Suite struct DefinitionCodingTests {
    @Test("A stored definition comes back whole")
    func aStoredDefinitionComesBackWhole() throws {
        let text = Samples.service.storageJSON.text
        let read = try ServiceDefinition(storageJSON: try JSONParser.parse(text))
        for (one, other) in zip(read.layers, Samples.service.layers) {
            #expect(one.fields == other.fields)
            #expect(one.types == other.types)
            #expect(one.unknownMembers == other.unknownMembers)
        }
        #expect(read.layers == Samples.service.layers)
        #expect(read == Samples.service)
    }

    @Test("A layer resource reads as the layer")
    func aLayerResourceReadsAsTheLayer() throws {
        let json = Samples.trees.json(context: ResourceContext())
        var read = try LayerDefinition(json: try JSONParser.parse(json.text))
        #expect(read.unknownMembers["hasContingentValuesDefinition"] == false)
        read.unknownMembers = Samples.trees.unknownMembers
        #expect(read.types == Samples.trees.types)
        #expect(read.templates == Samples.trees.templates)
        #expect(read.relationships == Samples.trees.relationships)
        #expect(read.fields.map(\.name) == Samples.trees.fields.map(\.name))
        #expect(read.field(named: "condition")?.domain == Samples.condition)
        #expect(read.editFields == Samples.trees.editFields)
        #expect(read.drawingInfo == Samples.trees.drawingInfo)
        #expect(read.spatialReference == .wgs84)
        #expect(read.globalIDField == "GlobalID")
    }

    @Test("The resource says no more than the service allows")
    func theResourceSaysNoMoreThanTheServiceAllows() {
        let context = ResourceContext(serviceCapabilities: [.query], serviceMaxRecordCount: 5)
        let json = Samples.trees.json(context: context)
        #expect(json["capabilities"] == "Query")
        #expect(json["maxRecordCount"] == 5)
        #expect(json["objectIdField"] == "OBJECTID")
        #expect(json["supportedQueryFormats"] == "JSON, geoJSON, PBF")
        #expect(json["advancedQueryCapabilities"]?["supportsStatistics"] == true)
        #expect(json["type"] == "Feature Layer")
    }

    @Test("A table has no geometry")
    func aTableHasNoGeometry() throws {
        let json = Samples.visits.json(context: ResourceContext())
        #expect(json["type"] == "Table")
        #expect(json["geometryType"] == nil)
        #expect(json["extent"] == nil)
        let read = try LayerDefinition(json: json)
        #expect(read.isTable && read.capabilities == [.query] && read.maxRecordCount == 10)
    }

    @Test("The root lists layers, tables and relationships")
    func theRootListsLayersTablesAndRelationships() {
        let json = Samples.service.json()
        #expect(json["layers"]?.arrayValue?.compactMap { $0["id"] } == [0])
        #expect(json["tables"]?.arrayValue?.compactMap { $0["name"] } == ["Visits"])
        #expect(json["relationships"]?.arrayValue?.count == 1)
        #expect(json["capabilities"] == "Create,Query")
    }

    @Test(
        "JSON that is no layer is refused",
        arguments: ["[]", "{}", #"{"id":0}"#, #"{"id":0,"name":"x","fields":[{"name":"a","type":"wrong"}]}"#])
    func whatIsNoLayerIsRefused(_ text: String) throws {
        let json = try JSONParser.parse(text)
        #expect(throws: ServiceError.self) { try LayerDefinition(json: json) }
    }

    @Test(
        "Recorded layers are read and written without loss",
        .enabled(if: Recorded.exists, "The recorded answers of real services are not here."))
    func recordedLayersAreReadAndWrittenWithoutLoss() throws {
        var count = 0
        for (path, bytes) in Recorded.files("json") {
            guard let json = try? JSONParser.parse(bytes) else { continue }
            for candidate in [json] + (json["layers"]?.arrayValue ?? []) + (json["tables"]?.arrayValue ?? [])
            where candidate["fields"]?.arrayValue != nil && candidate["id"] != nil && candidate["name"] != nil {
                count += 1
                let layer = try LayerDefinition(json: candidate)
                let again = try LayerDefinition(storageJSON: try JSONParser.parse(layer.storageJSON.text))
                #expect(again.fields == layer.fields && again.types == layer.types, "\(path)")
                // As text: JSON does not tell 0.0 from 0 in members that are only passed on.
                #expect(again.storageJSON.text == layer.storageJSON.text, "\(path)")
                #expect(layer.fields.count == candidate["fields"]?.arrayValue?.count, "\(path)")
            }
        }
        #expect(count >= 15)
    }

    @Test("Mutated definitions are read or refused")
    func mutatedDefinitionsAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 3)
        let bytes = Array(Samples.service.storageJSON.text.utf8)
        var read = 0
        for _ in 0..<500 {
            guard let json = try? JSONParser.parse(generator.mutated(bytes)),
                let service = try? ServiceDefinition(storageJSON: json)
            else { continue }
            read += 1
            let again = try ServiceDefinition(storageJSON: try JSONParser.parse(service.storageJSON.text))
            #expect(again.storageJSON.text == service.storageJSON.text)
        }
        #expect(read > 0)
    }

    @Test(
        "A service names the unit that its coordinates have",
        arguments: [
            (4_326, "esriDecimalDegrees"), (3_857, "esriMeters"), (25_832, "esriMeters"), (2_913, "esriFeet"),
            (2_227, "esriFeet"), (2_157, "esriMeters"), (27_700, "esriMeters"), (24_370, "esriUnknownUnits"),
        ])
    func units(wkid: Int, unit: String) throws {
        let number = try #require(WKID(wkid))
        let reference = try #require(SpatialReference(wkid: number))
        let service = ServiceDefinition(name: ServiceName(name: "Units"), spatialReference: reference, layers: [])
        #expect(service.json()["units"]?.stringValue == unit)
    }
}
