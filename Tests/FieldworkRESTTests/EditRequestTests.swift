import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@Suite struct EditRequestTests {
    private let id = UUID()

    private func request(_ fields: KeyValuePairs<String, String>) throws -> ApplyEditsRequest {
        try ApplyEditsRequest(edits: Samples.parameters(fields), layer: Samples.trees, moment: Samples.moment)
    }

    @Test("Edits of a layer are read")
    func editsOfALayerAreRead() throws {
        let request = try request([
            "adds": #"[{"attributes":{"species":"Oak","Stems":2},"geometry":{"x":-122.5,"y":45.25}}]"#,
            "updates": #"[{"attributes":{"objectid":7,"Height":null},"geometry":null},{"attributes":{"OBJECTID":8}}]"#,
            "deletes": "3, 4", "rollbackOnFailure": "false",
        ])
        let edits = request.batch.layers[0]
        #expect(edits.adds[0].attributes.map(\.name) == ["species", "Stems"])
        guard case .geometry(let geometry) = edits.adds[0].geometry else {
            Issue.record("no geometry")
            return
        }
        #expect(geometry == Samples.point)
        #expect(edits.updates.map(\.objectID) == [7, 8])
        if case .null = edits.updates[0].geometry {} else { Issue.record("null takes the geometry away") }
        if case .unchanged = edits.updates[1].geometry {} else { Issue.record("a missing geometry stays") }
        if case .features(let ids) = edits.deletes { #expect(ids == [.objectID(3), .objectID(4)]) }
        #expect(!request.batch.rollsBackOnFailure && !request.batch.usesGlobalIDs)
    }

    @Test("A geometry is projected into the layer's spatial reference")
    func aGeometryIsBroughtToTheLayersReference() throws {
        let request = try request([
            "adds": #"[{"geometry":{"x":-13636637.6,"y":5661700.1,"spatialReference":{"wkid":102100}}}]"#
        ])
        guard case .geometry(let geometry) = request.batch.layers[0].adds[0].geometry, let point = geometry as? Point
        else {
            Issue.record("no point")
            return
        }
        #expect(abs(point.x + 122.5) < 0.001)
        #expect(point.spatialReference == .wgs84)
    }

    @Test(
        "An error in one feature fails that feature alone",
        arguments: [
            #""text""#, #"{"attributes":[1]}"#, #"{"attributes":{"Species":{"a":1}}}"#,
            #"{"geometry":{"x":"a","y":1}}"#,
            #"{"geometry":{"rings":[[[0,0],[1,1]]]}}"#,
            #"{"geometry":{"x":1,"y":1,"spatialReference":{"wkid":99999999}}}"#,
            #"{"geometry":7}"#, #"{"geometry":{"x":"NaN","y":"Infinity"}}"#,
        ])
    func whatIsWrongWithOneFeatureIsItsOwnFailure(_ feature: String) throws {
        let request = try request(["adds": #"[\#(feature),{"attributes":{"Species":"Oak"}}]"#])
        let adds = request.batch.layers[0].adds
        #expect(adds.count == 2)
        #expect(adds[0].rejection?.description.isEmpty == false)
        #expect(adds[1].rejection == nil)
    }

    @Test(
        "An error in the request refuses all of its edits",
        arguments: [
            ("adds", "[{"), ("adds", "{}"), ("adds", "[{\"geometry\":{\"x\":1e999,\"y\":1}}]"), ("updates", "7"),
            ("deletes", "a,b"), ("rollbackOnFailure", "maybe"),
            ("attachments", "{\"adds\":7}"), ("editsUploadId", "x"), ("async", "true"),
        ])
    func whatIsWrongWithTheRequestChangesNothing(_ name: String, _ value: String) {
        let error = #expect(throws: ServiceError.self) { try request([name: value]) }
        #expect(error?.code == 400)
    }

    @Test("Global ids identify features when the request asks for it")
    func globalIDsIdentifyWhenAskedFor() throws {
        let text = GUID.normalForm(id).lowercased()
        let adds = #"[{"attributes":{"globalid":"\#(text)"}}]"#
        let with = try request(["adds": adds, "useGlobalIds": "true", "deletes": #"["\#(text)"]"#])
        #expect(with.batch.layers[0].adds[0].globalID == id)
        if case .features(let ids) = with.batch.layers[0].deletes { #expect(ids == [.globalID(id)]) }
        #expect(try request(["adds": adds]).batch.layers[0].adds[0].globalID == nil)
    }

    @Test("Deleting without a choice is refused")
    func deletingWithoutAChoiceIsRefused() {
        #expect(throws: ServiceError.self) {
            try ApplyEditsRequest(deleting: RequestParameters(), layer: Samples.trees, moment: Samples.moment)
        }
    }

    @Test("Deleting by condition is bound to the layer")
    func deletingByConditionIsBoundToTheLayer() throws {
        let request = try ApplyEditsRequest(
            deleting: Samples.parameters(["where": "stems > 3"]), layer: Samples.trees, moment: Samples.moment)
        guard case .matching(let query) = request.batch.layers[0].deletes else {
            Issue.record("no condition")
            return
        }
        #expect(query.condition?.text == "Stems > 3")
    }

    @Test("A service names each of its layers once")
    func aServiceNamesEachOfItsLayersOnce() throws {
        func read(_ edits: String) throws -> ApplyEditsRequest {
            try ApplyEditsRequest(
                edits: Samples.parameters(["edits": edits]), service: Samples.service, moment: Samples.moment)
        }
        #expect(try read(#"[{"id":1,"adds":[{"attributes":{}}]},{"id":0,"deletes":[5]}]"#).batch.layers.count == 2)
        #expect(throws: ServiceError.self) { try read(#"[{"id":9}]"#) }
        #expect(throws: ServiceError.self) { try read(#"[{"id":0},{"id":0}]"#) }
        #expect(throws: ServiceError.self) { try read("{}") }
    }

    @Test("A delete by a geometry that says nothing is refused", arguments: ["{}", "null", "[]"])
    func aDeleteByAGeometryThatSaysNothingIsRefused(_ geometry: String) {
        #expect(throws: ServiceError.self) {
            try ApplyEditsRequest(
                deleting: Samples.parameters(["geometry": geometry]), layer: Samples.trees, moment: Samples.moment)
        }
    }

    @Test("Without a rollback the results are given, whatever the request asks for", arguments: [true, false])
    func withoutARollbackTheResultsAreToldWhateverIsAsked(rollsBack: Bool) throws {
        let request = try request([
            "adds": #"[{"attributes":{"Species":"Oak"}}]"#, "rollbackOnFailure": rollsBack ? "true" : "false",
            "returnEditResults": "false",
        ])
        #expect(request.returnsResults == !rollsBack)
    }

    @Test("A layer that is named twice is refused")
    func aLayerThatIsNamedTwiceIsRefused() {
        #expect(throws: ServiceError.self) {
            try ApplyEditsRequest(
                edits: Samples.parameters(["edits": #"[{"id":0,"deletes":[1]},{"id":0,"deletes":[2]}]"#]),
                service: Samples.service, moment: Samples.moment)
        }
    }

    @Test("Mutated edits are read or refused")
    func mutatedEditsAreReadOrRefused() {
        var generator = SeededGenerator(seed: 5)
        let edits = Array(
            #"[{"id":0,"adds":[{"attributes":{"Species":"Oak","Stems":2},"geometry":{"x":1,"y":2}}],"updates":[{"attributes":{"OBJECTID":3}}],"deletes":[1,2]}]"#
                .utf8)
        var read = 0
        for _ in 0..<2_000 {
            let text = String(decoding: generator.mutated(edits), as: UTF8.self)
            let request = try? ApplyEditsRequest(
                edits: Samples.parameters(["edits": text]), service: Samples.service, moment: Samples.moment)
            if let request {
                read += 1
                #expect(request.batch.layers.allSatisfy { $0.layerID < 2 })
            }
        }
        #expect(read > 0)
    }
}

@Suite struct EditUploadTests {
    private let id = UUID()

    private var batch: EditBatch {
        let add = FeatureEdit(
            globalID: id,
            attributes: [("Species", .text("Oak \"&+%")), ("Height", .real(1.5)), ("Planted", .integer(7))],
            geometry: .geometry(Samples.point))
        let update = FeatureEdit(globalID: id, attributes: [("Notes", .null)], geometry: .null)
        return EditBatch(
            layers: [
                LayerEdits(layerID: 0, adds: [add], updates: [update], deletes: .features([.globalID(id)])),
                LayerEdits(layerID: 1, adds: [FeatureEdit(attributes: [("Tree", .text("x"))])]),
            ], usesGlobalIDs: true, moment: Samples.moment)
    }

    private func same(_ one: FeatureEdit, _ other: FeatureEdit) -> Bool {
        func text(_ geometry: FeatureEdit.GeometryEdit) -> String {
            switch geometry {
            case .unchanged: "unchanged"
            case .null: "null"
            case .geometry(let geometry): GeoServicesJSON.json(for: geometry).text
            }
        }
        return one.globalID == other.globalID && one.rejection == other.rejection
            && one.attributes.map(\.name) == other.attributes.map(\.name)
            && one.attributes.map(\.value) == other.attributes.map(\.value)
            && text(one.geometry) == text(other.geometry)
    }

    @Test("A batch is read as it was sent")
    func aBatchIsReadAsItWasSent() throws {
        let parameters = RequestParameters(try EditUpload.serviceParameters(batch, layers: Samples.service.layers))
        let read = try ApplyEditsRequest(edits: parameters, service: Samples.service, moment: Samples.moment)
        #expect(read.batch.usesGlobalIDs && read.batch.rollsBackOnFailure && read.returnsResults)
        #expect(read.batch.layers.map(\.layerID) == [0, 1])
        for (one, other) in zip(read.batch.layers, batch.layers) {
            #expect(zip(one.adds, other.adds).allSatisfy(same) && one.adds.count == other.adds.count)
            #expect(zip(one.updates, other.updates).allSatisfy(same) && one.updates.count == other.updates.count)
        }
        guard case .features(let ids) = read.batch.layers[0].deletes else {
            Issue.record("no ids")
            return
        }
        #expect(ids == [.globalID(id)])
    }

    @Test("One layer is read as it was sent")
    func oneLayerIsReadAsItWasSent() throws {
        let parameters = RequestParameters(
            try EditUpload.layerParameters(batch.layers[0], of: batch, layer: Samples.trees))
        let read = try ApplyEditsRequest(edits: parameters, layer: Samples.trees, moment: Samples.moment)
        let (adds, sent) = (read.batch.layers[0].adds, batch.layers[0].adds)
        #expect(adds.count == sent.count && zip(adds, sent).allSatisfy(same))
    }

    @Test("Edits that the protocol can't express are not sent")
    func whatCantBeSaidIsNotSent() {
        var matching = batch
        matching.layers[0].deletes = .matching(FeatureQuery())
        #expect(throws: ServiceError.self) {
            try EditUpload.serviceParameters(matching, layers: Samples.service.layers)
        }
        var anonymous = batch
        anonymous.layers[0].updates = [FeatureEdit(attributes: [("Notes", .null)])]
        #expect(throws: ServiceError.self) {
            try EditUpload.serviceParameters(anonymous, layers: Samples.service.layers)
        }
        var mixed = batch
        mixed.layers[0].deletes = .features([.objectID(1)])
        #expect(throws: ServiceError.self) { try EditUpload.serviceParameters(mixed, layers: Samples.service.layers) }
        #expect(throws: ServiceError.self) { try EditUpload.serviceParameters(batch, layers: []) }
    }
}

@Suite struct EditAnswerTests {
    private let id = UUID()
    private var batch: EditBatch {
        EditBatch(
            layers: [
                LayerEdits(layerID: 0, adds: [FeatureEdit(), FeatureEdit()], deletes: .features([.objectID(9)]))
            ], rollsBackOnFailure: false, moment: Samples.moment)
    }
    private var result: EditBatchResult {
        EditBatchResult(
            layers: [
                LayerEditResults(
                    layerID: 0,
                    adds: [
                        EditResult(objectID: 5, globalID: id),
                        EditResult(
                            objectID: nil, globalID: nil, error: EditError(code: 1000, description: "No \"x\".")),
                    ], deletes: [EditResult(objectID: 9, globalID: nil)])
            ], generation: nil, moment: Samples.moment)
    }

    private func request(_ parameters: [(name: String, value: String)]) throws -> ApplyEditsRequest {
        try ApplyEditsRequest(
            edits: RequestParameters(parameters), service: Samples.service, moment: Samples.moment)
    }

    @Test("The answer of a service is read as it was given")
    func theAnswerOfAServiceIsReadAsItWasGiven() throws {
        let request = try request(try EditUpload.serviceParameters(batch, layers: Samples.service.layers))
        let answer = try JSONParser.parse(EditAnswer.json(result, to: request, of: Samples.service).text)
        let read = try EditAnswerReader.read(service: answer, to: batch, moment: .distantPast)
        #expect(read == result)
        #expect(read.hasErrors)
    }

    @Test("The answer of a layer is read as it was given")
    func theAnswerOfALayerIsReadAsItWasGiven() throws {
        let request = try ApplyEditsRequest(
            edits: RequestParameters(try EditUpload.layerParameters(batch.layers[0], of: batch, layer: Samples.trees)),
            layer: Samples.trees, moment: Samples.moment)
        let answer = EditAnswer.json(result, to: request, .applyEdits)
        #expect(answer["addResults"]?.arrayValue?.count == 2 && answer["updateResults"] == [])
        let read = try EditAnswerReader.read(layer: answer, to: batch.layers[0], moment: .distantPast)
        #expect(read == result)
    }

    @Test(
        "An answer that leaves an item open is refused",
        arguments: [
            "[]", "{}", #"[{"id":0,"addResults":[{"objectId":1,"success":true}],"deleteResults":[]}]"#,
            #"[{"id":0,"addResults":[{"objectId":1},{"objectId":2}],"deleteResults":[{"objectId":9,"success":true}]}]"#,
            #"[{"id":1,"addResults":[]}]"#,
        ])
    func anAnswerThatLeavesAnItemOpenIsRefused(_ text: String) throws {
        let answer = try JSONParser.parse(text)
        let error = #expect(throws: ServiceError.self) {
            try EditAnswerReader.read(service: answer, to: batch, moment: Samples.moment)
        }
        #expect(error?.code == 500)
    }

    @Test("The error of a service is passed on")
    func theServicesOwnErrorIsPassedOn() throws {
        let answer = ServiceError(code: 498, message: "Invalid token.", details: ["x"]).json
        let error = #expect(throws: ServiceError.self) {
            try EditAnswerReader.read(service: answer, to: batch, moment: Samples.moment)
        }
        #expect(error == ServiceError(code: 498, message: "Invalid token.", details: ["x"]))
    }

    @Test("An answer without results says whether all edits succeeded")
    func withoutResultsTheAnswerSaysWhetherAllWentWell() throws {
        let quiet = try request([("edits", #"[{"id":0}]"#), ("returnEditResults", "false")])
        let fine = EditBatchResult(layers: [], generation: 1, moment: Samples.moment)
        #expect(EditAnswer.json(fine, to: quiet, of: Samples.service) == ["success": true])
    }

    /// Each is a mistake in drawing: were it read as "no geometry", an update would take away the one that is stored.
    @Test(
        "JSON with a part that is none is no geometry",
        arguments: [
            #"{"paths":[[[0,0]]]}"#, #"{"paths":[[]]}"#, #"{"paths":[[[0,0],[1,1]],[[5,5]]]}"#,
            #"{"rings":[[[0,0],[1,1]]]}"#,
            #"{"curvePaths":[[[0,0]]]}"#, #"{"curveRings":[[[0,0],[1,1]]]}"#,
        ])
    func aPartThatIsNoneIsNoGeometry(_ geometry: String) throws {
        for type in [LayerGeometryType.polyline, .polygon] {
            let layer = LayerDefinition(
                id: 0, name: "Any", geometryType: type, spatialReference: .wgs84,
                fields: [FieldDefinition(name: "OBJECTID", type: .oid)])
            let request = try ApplyEditsRequest(
                updating: Samples.parameters([
                    "features": #"[{"attributes":{"OBJECTID":1},"geometry":\#(geometry)}]"#
                ]), layer: layer, moment: Date(timeIntervalSince1970: 0))
            let update = try #require(request.batch.layers.first?.updates.first)
            #expect(update.rejection?.code == 1000)
            guard case .unchanged = update.geometry else {
                Issue.record("The geometry would be changed.")
                continue
            }
        }
    }
}
