import FieldworkGeometry
import FieldworkREST
import Testing

@Suite("Definition documents")
struct DefinitionDocumentTests {
    /// The samples' layer names fields of editor tracking that it doesn't have.
    private static let service: ServiceDefinition = {
        var service = Samples.service
        service.layers[0].editFields = nil
        return service
    }()

    @Test("A problem that was there before is none of the change")
    func oldProblems() throws {
        var document = try #require(Samples.service.document.objectValue)
        document["description"] = "New words"
        #expect(throws: DefinitionProblems.self) {
            try ServiceDefinition(document: .object(document), name: Samples.service.name)
        }
        let read = try ServiceDefinition(
            document: .object(document), name: Samples.service.name, replacing: Samples.service)
        #expect(read.description == "New words")
        document["maxRecordCount"] = 0
        #expect(
            throws: DefinitionProblems([
                DefinitionProblem(path: "maxRecordCount", message: "A whole number from 1 to 100000 is expected.")
            ])
        ) {
            try ServiceDefinition(document: .object(document), name: Samples.service.name, replacing: Samples.service)
        }
    }

    @Test("A document that is written reads as the definition")
    func roundTrip() throws {
        let text = Self.service.document.text
        let read = try ServiceDefinition(document: try JSONParser.parse(text), name: Self.service.name)
        #expect(read.layers == Self.service.layers)
        #expect(read == Self.service)
        #expect(read.revision == Self.service.revision)
        var other = read
        other.layers[0].fields[1].alias += "!"
        #expect(other.revision != read.revision)
    }

    @Test("Attribute rules are read as they were written, with members that are not known")
    func attributeRules() throws {
        var service = Self.service
        service.layers[0].attributeRules = [
            AttributeRuleDefinition(
                name: "Label", kind: .calculation, fieldName: "species", script: "Upper($feature.species)",
                triggeringFields: ["species"], order: 3, excludesClients: true, subtypeCode: .integer(2),
                unknownMembers: JSONObject(["tags": "a,b"])),
            AttributeRuleDefinition(
                name: "Keep", kind: .constraint, script: "false", events: [.delete], isEnabled: false,
                errorNumber: 9, errorMessage: "No."),
        ]
        let read = try ServiceDefinition(
            document: try JSONParser.parse(service.document.text), name: Self.service.name)
        #expect(read.layers[0].attributeRules == service.layers[0].attributeRules)
        #expect(read == service)
        // Another server may write them in a form of its own: they are kept, and nobody runs them.
        let foreign: JSONValue = ["id": 0, "name": "A", "attributeRules": [["id": 7]]]
        let layer = try LayerDefinition(json: foreign)
        #expect(layer.attributeRules.isEmpty && layer.storageJSON["attributeRules"] == [["id": 7]])
    }

    @Test(
        "A problem of an attribute rule is told with its place",
        arguments: [
            (#"{"name":"A"}"#, ""),
            (#"{"name":"A","type":"esriARTConstraint","scriptExpression":"1"}"#, ".triggeringEvents"),
            (
                #"{"name":"A","type":"esriARTCalculation","scriptExpression":"1","triggeringEvents":["esriARTEInsert"],"fieldName":"no"}"#,
                ".fieldName"
            ),
            (
                #"{"name":"A","type":"esriARTCalculation","scriptExpression":"1","triggeringEvents":["esriARTEDelete"],"fieldName":"species"}"#,
                ".triggeringEvents"
            ),
            (
                #"{"name":"A","type":"esriARTConstraint","scriptExpression":"1","triggeringEvents":["esriARTEUpdate"],"triggeringFields":["no"]}"#,
                ".triggeringFields[0]"
            ),
        ])
    func ruleProblems(_ rule: String, _ place: String) throws {
        var service = try #require(Self.service.document.objectValue)
        var layer = try #require(service["layers"]?.arrayValue?.first?.objectValue)
        layer["attributeRules"] = .array([try JSONParser.parse(rule)])
        service["layers"] = .array([.object(layer)])
        #expect(Self.problems(of: .object(service)).contains("layers[0].attributeRules[0]\(place)"))
    }

    @Test("What resources tell of the server is no part of the definition")
    func resources() throws {
        var document = try #require(Self.service.json().objectValue)
        document["layers"] = .array(Self.service.layers.filter { !$0.isTable }.map { $0.json() })
        document["tables"] = .array(Self.service.layers.filter(\.isTable).map { $0.json() })
        let read = try ServiceDefinition(document: .object(document), name: Self.service.name)
        #expect(read.unknownMembers["currentVersion"] == nil)
        #expect(read.layers[0].unknownMembers["supportsStatistics"] == nil)
        #expect(read.layers[0].fields == Self.service.layers[0].fields)
    }

    @Test(
        "Each problem is told with its place",
        arguments: [
            (#"[]"#, "$"), (#"{"layers":{}}"#, "layers"), (#"{"capabilities":"Query,Fly"}"#, "capabilities"),
            (#"{"maxRecordCount":0}"#, "maxRecordCount"), (#"{"maxRecordCount":"5"}"#, "maxRecordCount"),
            (#"{"spatialReference":{"wkid":1}}"#, "spatialReference"),
            (#"{"conflictRule":"mine"}"#, "conflictRule"),
            (#"{"layers":[{"name":"A"}]}"#, "layers[0].id"), (#"{"tables":[{"id":0,"fields":[]}]}"#, "tables[0].name"),
            (#"{"tables":[{"id":0,"name":"A","fields":[]}]}"#, "tables[0].fields"),
            (#"{"layers":[{"id":0,"name":"A"}]}"#, "layers[0].geometryType"),
            (#"{"layers":[{"id":0,"name":"A","geometryType":"esriGeometryPoint"}]}"#, "layers[0].spatialReference"),
        ])
    func problems(_ text: String, _ place: String) throws {
        #expect(try Self.problems(of: JSONParser.parse(text)).contains(place))
    }

    @Test(
        "A change that breaks a layer is told with its place",
        arguments: [
            (#"{"displayField":"none"}"#, "displayField"), (#"{"minScale":1000,"maxScale":5000}"#, "maxScale"),
            (#"{"definitionExpression":"none = 1"}"#, "definitionExpression"),
            (#"{"definitionExpression":"1 ="}"#, "definitionExpression"),
            (#"{"drawingInfo":{"renderer":{"type":"uniqueValue","field1":"none"}}}"#, "drawingInfo.renderer.field1"),
            (#"{"drawingInfo":{"labelingInfo":{}}}"#, "drawingInfo.labelingInfo"),
            (#"{"timeInfo":{"startTimeField":"none"}}"#, "timeInfo.startTimeField"),
            (#"{"editFieldsInfo":{"creatorField":"OBJECTID"}}"#, "editFieldsInfo.creatorField"),
            (
                #"{"templates":[{"name":"T","prototype":{"attributes":{"none":1}}}]}"#,
                "templates[0].prototype.attributes.none"
            ),
            (
                #"{"relationships":[{"id":0,"relatedTableId":77,"cardinality":"esriRelCardinalityOneToMany","keyField":"none"}]}"#,
                "relationships[0].relatedTableId"
            ),
            (#"{"types":[{"id":null,"name":"T"}]}"#, "types[0].id"), (#"{"hasAttachments":1}"#, "hasAttachments"),
        ] as [(String, String)])
    func layerProblems(_ change: String, _ place: String) throws {
        var document = try #require(Self.service.document.objectValue)
        var layers = try #require(document["layers"]?.arrayValue)
        var layer = try #require(layers[0].objectValue)
        for member in try #require(try JSONParser.parse(change).objectValue).members {
            layer[member.key] = member.value
        }
        layers[0] = .object(layer)
        document["layers"] = .array(layers)
        let problems = Self.problems(of: .object(document))
        #expect(problems.contains("layers[0].\(place)"), "\(problems)")
    }

    @Test("Domains fit their fields, codes are there once")
    func domains() throws {
        let text = """
            {"tables":[{"id":0,"name":"T","objectIdField":"id","fields":[{"name":"id","type":"esriFieldTypeOID"},
            {"name":"a","type":"esriFieldTypeInteger","domain":{"type":"codedValue","name":"D","codedValues":
            [{"code":1,"name":"one"},{"code":1,"name":"again"},{"code":"x","name":""}]}},
            {"name":"A","type":"esriFieldTypeDouble","domain":{"type":"range","name":"R","range":[5,1]},"defaultValue":"y"}]}]}
            """
        #expect(
            try Self.problems(of: JSONParser.parse(text)) == [
                "tables[0].fields[1].domain.codedValues[1].code", "tables[0].fields[1].domain.codedValues[2].code",
                "tables[0].fields[1].domain.codedValues[2].name", "tables[0].fields[2].name",
                "tables[0].fields[2].domain.range", "tables[0].fields[2].defaultValue",
            ])
    }

    private static func problems(of document: JSONValue) -> [String] {
        do {
            _ = try ServiceDefinition(document: document, name: ServiceName(name: "A"))
            return []
        } catch {
            return error.problems.map(\.path)
        }
    }
}
