import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import HTTPTypes

extension FeatureService {
    /// `query` of a layer or table.
    func query(_ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest) async throws
        -> Answer
    {
        let query = try QueryRequest(parameters: request.parameters, layer: layer, service: published.definition)
        return try await answer(query, layer, of: published, request)
    }

    /// `queryTopFeatures` of a layer or table.
    func queryTopFeatures(
        _ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        let query = try QueryRequest(
            topFeatures: request.parameters, layer: layer, service: published.definition)
        return try await answer(query, layer, of: published, request)
    }

    private func answer(
        _ query: QueryRequest, _ layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        // Read before the rows: an edit in between makes the answer newer than its tag, never older.
        let tag = try await entityTag(for: request, of: published)
        var answer = try await answer(query, layer, address)
        answer.entityTag = tag
        return answer
    }

    /// The resource of one feature.
    func feature(
        _ objectID: Int64, in layer: LayerDefinition, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        let format = try request.format()
        var query = FeatureQuery(condition: layer.restriction, objectIDs: [objectID], limit: 1)
        query.output.returnsZ = layer.hasZ
        query.output.returnsM = layer.hasM
        query.output.spatialReference = try request.parameters.spatialReference("outSR")
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        let encoder = try JSONFeatureEncoder(layer: layer, query: query)
        let bytes = try await Self.collected(try await store.encodedFeatures(query, in: address, encoder: encoder))
        guard let feature = try JSONParser.parse(bytes)["features"]?.arrayValue?.first else {
            throw ServiceError.notFound("Feature \(objectID) not found.")
        }
        return .json(["feature": feature], format: format == .html ? .json : format)
    }

    func answer(_ query: QueryRequest, _ layer: LayerDefinition, _ address: LayerAddress) async throws -> Answer {
        let format: AnswerFormat = query.format == .pjson ? .prettyJSON : .json
        let isPBF = query.format == .pbf
        switch query.content {
        case .features(let features):
            if query.isWholeOrEmpty, try await exceeds(features, address) {
                return try Self.exceeded(features, query.format, layer)
            }
            return try await self.features(features, query.format, layer, address)
        case .count(let counted):
            let count = try await store.count(counted, in: address)
            return isPBF ? .pbf(PBFHead.count(count)) : .json(QueryAnswer.count(count), format: format)
        case .objectIDs(let wanted):
            if isPBF { return try await objectIDsInPBF(wanted, layer, address) }
            var listed = wanted
            listed.outFields = [layer.objectIDField]
            listed.returnsGeometry = false
            let pieces = try await store.encodedFeatures(
                listed, in: address, encoder: ObjectIDsEncoder(layer: layer))
            return Answer(contentType: Answer.jsonType, body: .stream(pieces))
        case .statistics(let statistics):
            return try await self.statistics(statistics, query.format, address)
        case .extent(let bounded):
            let (extent, count) = try await store.extent(bounded, in: address)
            let reference = bounded.output.spatialReference ?? (query.format == .geojson ? .wgs84 : nil)
            let projected = try Self.projected(
                extent, into: reference, datumTransformation: bounded.output.datumTransformation)
            if isPBF { return .pbf(PBFHead.extent(projected, count: count)) }
            let isExplicit = bounded.output.spatialReference != nil || layer.spatialReference == .wgs84
            let answer = QueryAnswer.extent(
                projected, count: count, format: query.format, isReferenceExplicit: isExplicit)
            return .json(answer, format: format)
        }
    }

    /// In protocol buffers the length of the ids stands before them: they have to be there, so there is an end to them. In
    /// JSON they go out piece by piece.
    private func objectIDsInPBF(
        _ query: FeatureQuery, _ layer: LayerDefinition, _ address: LayerAddress
    ) async throws -> Answer {
        var listed = query
        listed.limit = Limits.idsInProtocolBuffer + 1
        let ids = try await store.objectIDs(listed, in: address)
        guard ids.count <= Limits.idsInProtocolBuffer else {
            throw ServiceError.invalidQuery(
                "'returnIdsOnly' with 'f=pbf' gives at most \(Limits.idsInProtocolBuffer) ids; 'f=json' gives all.")
        }
        return .pbf(PBFHead.objectIDs(ids, layer: layer))
    }

    /// Whether there are more features than the limit lets through. Counts no further than that.
    private func exceeds(_ query: FeatureQuery, _ address: LayerAddress) async throws -> Bool {
        guard let limit = query.limit else { return false }
        var counted = query
        counted.limit = limit + 1
        return try await store.count(counted, in: address) > limit
    }

    /// The answer without features that says that there would be too many.
    private static func exceeded(
        _ query: FeatureQuery, _ format: QueryRequest.Format, _ layer: LayerDefinition
    ) throws -> Answer {
        func bytes(_ encoder: some FeatureEncoder) -> [UInt8] {
            var encoder = encoder
            encoder.begin()
            encoder.end(exceededTransferLimit: true)
            return encoder.bytes
        }
        switch format {
        case .json, .pjson:
            let json = bytes(try JSONFeatureEncoder(layer: layer, query: query))
            if format == .pjson { return .json(try JSONParser.parse(json), format: .prettyJSON) }
            return Answer(contentType: Answer.jsonType, body: .bytes(json))
        case .geojson:
            return Answer(
                contentType: Answer.geoJSONType,
                body: .bytes(bytes(try GeoJSONFeatureEncoder(layer: layer, query: query))))
        case .pbf: return .pbf(bytes(try PBFFeatureEncoder(layer: layer, query: query)))
        }
    }

    private func features(
        _ query: FeatureQuery, _ format: QueryRequest.Format, _ layer: LayerDefinition, _ address: LayerAddress
    ) async throws -> Answer {
        switch format {
        case .json:
            let encoder = try JSONFeatureEncoder(layer: layer, query: query)
            let pieces = try await store.encodedFeatures(query, in: address, encoder: encoder)
            return Answer(contentType: Answer.jsonType, body: .stream(pieces))
        case .pjson:
            // For people: laid out as a whole, since nobody reads more than a page of it.
            let encoder = try JSONFeatureEncoder(layer: layer, query: query)
            return try await Self.laidOut(try await store.encodedFeatures(query, in: address, encoder: encoder))
        case .geojson:
            let encoder = try GeoJSONFeatureEncoder(layer: layer, query: query)
            let pieces = try await store.encodedFeatures(query, in: address, encoder: encoder)
            return Answer(contentType: Answer.geoJSONType, body: .stream(pieces))
        case .pbf:
            let encoder = try PBFFeatureEncoder(layer: layer, query: query)
            let pieces = try await store.encodedFeatures(query, in: address, encoder: encoder)
            return Answer(contentType: Answer.pbfType, body: .stream(pieces))
        }
    }

    private func statistics(
        _ query: StatisticsQuery, _ format: QueryRequest.Format, _ address: LayerAddress
    ) async throws -> Answer {
        switch format {
        case .json, .pjson:
            let encoder = JSONFeatureEncoder(statistics: query)
            let pieces = try await store.encodedStatistics(query, in: address, encoder: encoder)
            guard format == .pjson else { return Answer(contentType: Answer.jsonType, body: .stream(pieces)) }
            return try await Self.laidOut(pieces)
        case .geojson:
            let encoder = GeoJSONFeatureEncoder(statistics: query)
            let pieces = try await store.encodedStatistics(query, in: address, encoder: encoder)
            return Answer(contentType: Answer.geoJSONType, body: .stream(pieces))
        case .pbf:
            let encoder = PBFFeatureEncoder(statistics: query)
            let pieces = try await store.encodedStatistics(query, in: address, encoder: encoder)
            return Answer(contentType: Answer.pbfType, body: .stream(pieces))
        }
    }

    static func collected(_ pieces: EncodedFeatures) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in pieces {
            try WorkAllowance.current?.charge(piece.count)
            bytes.append(contentsOf: piece)
        }
        return bytes
    }

    /// An answer that is laid out for people, as a whole: as a tree it takes many times its bytes.
    static func laidOut(_ pieces: EncodedFeatures) async throws -> Answer {
        let bytes = try await collected(pieces)
        try WorkAllowance.current?.charge(bytes.count * Limits.treeBytesPerByte)
        return .json(try JSONParser.parse(bytes), format: .prettyJSON)
    }

    private static func projected(
        _ extent: Envelope?, into reference: SpatialReference?, datumTransformation: DatumTransformation?
    ) throws -> Envelope? {
        guard let extent, let reference else { return extent }
        do {
            return try GeometryEngine.projected(extent, into: reference, datumTransformation: datumTransformation)
        } catch {
            throw ServiceError.invalidQuery("'outSR': \(error.details)")
        }
    }

    /// An answer to GET is a function of the address, the definition and the generation, unless it asks for the time.
    func entityTag(for request: ServiceRequest, of published: PublishedService) async throws -> String? {
        guard request.method != .post, request.keepsAnswers, !request.asksForCurrentTime,
            !published.definition.layers.contains(where: \.dependsOnCurrentTime)
        else { return nil }
        return EntityTag.ofState(
            target: request.editor.map { "\(request.address)\n\($0)" } ?? request.address,
            generation: try await store.generation(of: published.definition.name),
            definitionVersion: published.version)
    }
}

extension ServiceRequest {
    /// Whether a condition may depend on when it is asked.
    var asksForCurrentTime: Bool {
        [
            "where", "definitionExpression", "outStatistics", "groupByFieldsForStatistics", "having", "orderByFields",
            "topFilter", "layerDefs", "dynamicLayers",
        ].contains { parameters[$0]?.lowercased().contains("current_") == true }
    }
}
