import FieldworkGeometry
import FieldworkREST
import Testing

@Suite struct QueryRequestTests {
    private func features(_ fields: KeyValuePairs<String, String>) throws -> FeatureQuery {
        guard case .features(let query) = try Samples.query(fields).content else {
            Issue.record("The request asks for no features.")
            return FeatureQuery()
        }
        return query
    }

    @Test("A plain query asks for one page")
    func aPlainQueryAsksForThePage() throws {
        let query = try features(["where": "1=1", "outFields": "*", "f": "PJSON"])
        #expect(query.condition == nil && query.outFields == nil && query.returnsGeometry)
        #expect(query.limit == 100 && query.offset == 0)
        #expect(try Samples.query(["where": "1=1", "f": "PJSON"]).format == .pjson)
    }

    @Test("Fields have the layer's order and spelling")
    func fieldsComeInTheLayersOrderAndSpelling() throws {
        #expect(try features(["where": "1=1", "outFields": "height, SPECIES"]).outFields == ["Species", "Height"])
        #expect(try features(["where": "1=1", "outFields": "height,*"]).outFields == nil)
        #expect(throws: ServiceError.self) { try features(["where": "1=1", "outFields": "Colour"]) }
    }

    @Test("A page is never larger than the service's maximum")
    func aPageIsNeverLargerThanTheService() throws {
        #expect(try features(["where": "1=1", "resultRecordCount": "7", "resultOffset": "14"]).limit == 7)
        #expect(try features(["where": "1=1", "resultRecordCount": "7000"]).limit == 100)
        #expect(try features(["where": "1=1", "resultOffset": "14"]).offset == 14)
        #expect(throws: ServiceError.self) { try features(["where": "1=1", "resultOffset": "-1"]) }
    }

    @Test("The kind of answer follows the flags of the query")
    func theKindOfAnswerFollowsTheFlags() throws {
        if case .count = try Samples.query(["returnCountOnly": "true", "where": "1=1"]).content {
        } else {
            Issue.record("count")
        }
        if case .objectIDs(let query) = try Samples.query(["returnIdsOnly": "true", "where": "Stems>1"]).content {
            #expect(query.condition?.text == "Stems > 1")
        } else {
            Issue.record("ids")
        }
        let both = ["returnExtentOnly": "true", "returnCountOnly": "true", "where": "1=1"] as KeyValuePairs
        if case .extent = try Samples.query(both).content {} else { Issue.record("extent") }
    }

    @Test("A geometry is projected into the layer's spatial reference")
    func aGeometryIsBroughtToTheLayersReference() throws {
        let query = try features([
            "geometry": "-13636637.6,5661700.1,-13636637.5,5661700.2", "inSR": "102100", "where": "1=1",
            "geometryType": "esriGeometryEnvelope", "spatialRel": "esriSpatialRelEnvelopeIntersects",
        ])
        let extent = try #require(query.spatialFilter?.geometry.extent)
        #expect(abs(extent.xMin + 122.5) < 0.001 && abs(extent.yMin - 45.25) < 1.0)
        #expect(query.spatialFilter?.geometry.spatialReference == .wgs84)
        #expect(query.spatialFilter?.relation == .envelopeIntersects)
    }

    @Test("A distance widens the geometry")
    func aDistanceWidensTheGeometry() throws {
        let query = try features([
            "geometry": "-122.5,45.25", "geometryType": "esriGeometryPoint", "distance": "1", "where": "1=1",
            "units": "esriSRUnit_Kilometer",
        ])
        let extent = try #require(query.spatialFilter?.geometry.extent)
        // One kilometre is 0.009 degrees of latitude to either side.
        #expect(abs(extent.height - 0.018) < 0.0005)
    }

    @Test(
        "A distance beyond the earth is refused",
        arguments: [
            ("1.8e308", nil), ("361", nil), ("-1e300", "esriSRUnit_Meter"), ("20041", "esriSRUnit_Kilometer"),
            ("nan", "esriSRUnit_Foot"),
        ] as [(String, String?)])
    func aDistanceBeyondTheEarthIsRefused(_ distance: String, _ unit: String?) {
        var parameters: KeyValuePairs = [
            "geometry": "-122.5,45.25", "geometryType": "esriGeometryPoint", "where": "1=1", "distance": distance,
        ]
        if let unit {
            parameters = [
                "geometry": "-122.5,45.25", "geometryType": "esriGeometryPoint", "where": "1=1", "distance": distance,
                "units": unit,
            ]
        }
        let error = #expect(throws: ServiceError.self) { try Samples.query(parameters) }
        #expect(error?.code == 400)
    }

    @Test(
        "Queries that can't be answered are refused",
        arguments: [
            ("f", "xml"), ("where", "a = "), ("where", "Colour = 1"), ("where", "1=1; DROP TABLE x"),
            ("outStatistics", "[{}]"), ("having", "count(*) > 1"), ("time", "1,2"), ("spatialRel", "near"),
            ("outSR", "999999999"), ("maxAllowableOffset", "-1"), ("geometry", "{\"x\":\"NaN\",\"y\":1"),
            ("orderByFields", "Species; x"), ("objectIds", "1;2"), ("returnGeometry", "perhaps"),
            ("quantizationParameters", "{\"tolerance\":-1}"), ("historicMoment", "then"),
            ("uniqueIds", "1"), ("text", "Oak"), ("returnUniqueIdsOnly", "true"), ("returnCentroid", "true"),
            ("maxRecordCountFactor", "5.5"), ("resultType", "most"), ("datumTransformation", "1, 2"),
            ("datumTransformation", #"{"geoTransforms":[{"wkid":1},{"wkid":1},{"wkid":1},{"wkid":1},{"wkid":1}]}"#),
            ("sqlFormat", "native"),
            ("quantizationParameters", #"{"extent":{"xmin":1,"ymin":1,"xmax":1,"ymax":1}}"#),
            ("quantizationParameters", #"{"tolerance":"wide","extent":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}"#),
        ])
    func whatCantBeAnsweredIsRefused(_ name: String, _ value: String) {
        let error = #expect(throws: ServiceError.self) { try Samples.query(["where": "1=1", name: value]) }
        #expect(error?.code == 400)
        #expect(error?.details.isEmpty == false)
    }

    @Test("Flags with their default values are accepted")
    func flagsThatAskForNothingSpecialAreTaken() throws {
        #expect(throws: Never.self) {
            try Samples.query([
                "returnCentroid": "false", "returnUniqueIdsOnly": "false", "sqlFormat": "none", "text": "",
                "rangeValues": "[]", "gdbVersion": "sde.DEFAULT", "outStatistics": "null",
            ])
        }
    }

    @Test(
        "The cells of a grid are as large as the query asks",
        arguments: [
            (#""tolerance":0.5,"#, "0", 0.5), ("", "0.25", 0.25), ("", "0", 0.0004),
            (#""mode":"view","tolerance":2,"#, "1", 2),
            (#""mode":"edit","tolerance":5,"#, "0", 1e-9),
        ])
    func theCellsOfAGridAreAsLargeAsAsked(_ members: String, _ offset: String, _ tolerance: Double) throws {
        let query = try features([
            "maxAllowableOffset": offset,
            "quantizationParameters": "{\(members)\"extent\":{\"xmin\":0,\"ymin\":0,\"xmax\":4,\"ymax\":2}}",
        ])
        #expect(query.output.quantization?.tolerance == tolerance)
        #expect(query.output.quantization?.originY == 2)
    }

    @Test("The layer may say how many features a tile holds")
    func theLayerMaySayHowManyFeaturesATileHolds() throws {
        var layer = Samples.trees
        layer.unknownMembers["tileMaxRecordCount"] = 7
        func limit(_ fields: KeyValuePairs<String, String>) throws -> Int? {
            let request = try QueryRequest(
                parameters: Samples.parameters(fields), layer: layer, service: Samples.service)
            guard case .features(let query) = request.content else { return nil }
            return query.limit
        }
        #expect(try limit([:]) == 100)
        #expect(try limit(["resultType": "tile"]) == 7)
        #expect(try limit(["resultType": "tile", "maxRecordCountFactor": "3"]) == 21)
        #expect(try limit(["resultType": "standard", "maxRecordCountFactor": "5"]) == Limits.recordCount)
        #expect(try limit(["resultType": "standard", "returnGeometry": "false"]) == 32_000)
        #expect(layer.json(context: ResourceContext(serviceMaxRecordCount: 100))["tileMaxRecordCount"] == 7)
    }

    @Test("A query that the client writes is read as it was")
    func aQueryOfTheClientIsReadAsItWas() throws {
        let expression = try SQLParser.parse(where: "Stems > 1 AND (Species LIKE 'O%' OR Height IS NULL)")
        let query = FeatureQuery(
            condition: expression, objectIDs: [3, 1],
            spatialFilter: SpatialFilter(
                geometry: Envelope(xMin: -123, yMin: 45, xMax: -122, yMax: 46, spatialReference: .wgs84),
                relation: .contains),
            outFields: ["OBJECTID", "Species"], order: [.init(expression: .field("Species"), isDescending: true)],
            offset: 20, limit: 10,
            output: GeometryOutput(spatialReference: .webMercator, maxAllowableOffset: 2.5, precision: 3))
        let request = try QueryRequest(
            parameters: RequestParameters(query.parameters(asking: .features, format: .pbf)), layer: Samples.trees,
            service: Samples.service)
        guard case .features(let read) = request.content else {
            Issue.record("The request asks for no features.")
            return
        }
        #expect(request.format == .pbf)
        #expect(read == query)
    }

    @Test("Counts, ids and extents that the client asks for are read as they were")
    func theOtherQuestionsOfTheClientAreReadAsTheyWere() throws {
        let query = FeatureQuery(condition: .isNull(.field("Height"), negated: false))
        func content(_ question: FeatureQuery.Question) throws -> QueryRequest.Content {
            try QueryRequest(
                parameters: RequestParameters(query.parameters(asking: question)), layer: Samples.trees,
                service: Samples.service
            ).content
        }
        guard case .count(let count) = try content(.count), case .objectIDs(let ids) = try content(.objectIDs),
            case .extent(let extent) = try content(.extent)
        else {
            Issue.record("A question became another one.")
            return
        }
        #expect([count, ids, extent].allSatisfy { $0.condition == query.condition })
    }
}
