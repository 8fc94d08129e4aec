import FieldworkGeometry
import FieldworkREST
import Foundation

/// The operations of one feature service, typed.
struct FeatureServiceClient: Sendable {
    /// `…/FeatureServer`.
    let root: URL
    let client: any ServiceClient

    // MARK: Definition

    /// The service with all its layers and tables.
    func definition() async throws -> ServiceDefinition {
        let json = try await json(ServiceRequest(root, [("f", "json")]))
        guard json["layers"] != nil || json["tables"] != nil else {
            // Some servers tell of a failure in a form of their own.
            let own = (json["message"] ?? json["statusMessage"])?.stringValue.map { " It says: \($0)" } ?? ""
            throw ServiceError.unknown(details: "\(Redaction.address(root)) is no feature service.\(own)")
        }
        let name = ServiceName(name: root.deletingLastPathComponent().lastPathComponent)
        var service = try reading { () throws(FieldworkREST.ServiceError) in
            try ServiceDefinition(name: name, json: json)
        }
        let ids = ["layers", "tables"].flatMap { json[$0]?.arrayValue ?? [] }
            .filter { $0["type"]?.stringValue != "Group Layer" }
            .compactMap { $0["id"]?.integerValue.flatMap { Int(exactly: $0) } }
        service.layers = try await layers(ids)
        return service
    }

    private func layers(_ ids: [Int]) async throws -> [LayerDefinition] {
        try await concurrently(ids, atOnce: Limits.parallelRequests) { try await layer($0) }
    }

    private func layer(_ id: Int) async throws -> LayerDefinition {
        let json = try await json(ServiceRequest(root.appending(path: String(id)), [("f", "json")]))
        return try reading { () throws(FieldworkREST.ServiceError) in try LayerDefinition(json: json) }
    }

    // MARK: Queries

    /// One page, in the shorter format where the service offers it. That one rounds coordinates (to 0.1 mm or less).
    func page(
        _ parameters: [(name: String, value: String)], in layer: LayerDefinition, isExact: Bool
    ) async throws -> FeaturePage {
        let url = root.appending(path: "\(layer.id)/query")
        guard !isExact, QueryAbilities(layer).givesPBF else {
            let json = try await json(ServiceRequest(url, parameters + [("f", "json")]))
            return try FeaturePage(
                reading { () throws(FieldworkREST.ServiceError) in try FeatureSetReader.read(json: json) }, layer: layer
            )
        }
        let answer = try await client.answer(to: ServiceRequest(url, parameters + [("f", "pbf")]))
        // Errors come as JSON whatever was asked for.
        if answer.bytes.first == UInt8(ascii: "{") { _ = try json(of: answer) }
        do {
            return try FeaturePage(try PBFFeatureSetReader.read(answer.bytes), layer: layer)
        } catch let error as ProtocolBufferError {
            throw ServiceError.unknown(details: "The answer to a query can't be read: \(error).")
        }
    }

    /// One page with all fields and exact coordinates.
    func rows(
        _ parameters: [(name: String, value: String)], in layer: LayerDefinition
    ) async throws -> FeatureRows {
        let url = root.appending(path: "\(layer.id)/query")
        let json = try await json(ServiceRequest(url, parameters + [("f", "json")]))
        return try reading { () throws(FieldworkREST.ServiceError) in try FeatureRows(json: json, layer: layer) }
    }

    func count(_ query: LayerQuery, in layer: LayerDefinition) async throws -> Int {
        let json = try await json(self.query(layer, query.filterParameters + [("returnCountOnly", "true")]))
        guard let count = QueryAnswer.readCount(json) else {
            throw ServiceError.unknown(details: "The answer to a count has no count.")
        }
        return count
    }

    /// The object ids of the features of a query, in their order.
    func objectIDs(_ query: LayerQuery, in layer: LayerDefinition) async throws -> [Int64] {
        let json = try await json(self.query(layer, query.filterParameters + [("returnIdsOnly", "true")]))
        guard let answer = QueryAnswer.readObjectIDs(json) else {
            throw ServiceError.unknown(details: "The answer to a query for ids has none.")
        }
        return answer.ids.sorted()
    }

    /// The extent of the features of a query; nil when there are none.
    func extent(_ query: LayerQuery, in layer: LayerDefinition) async throws -> Envelope? {
        var parameters = query.filterParameters + [("returnExtentOnly", "true")]
        if let reference = query.outSpatialReference ?? layer.spatialReference {
            parameters.append(("outSR", GeoServicesJSON.json(for: reference).text))
        }
        let json = try await json(self.query(layer, parameters))
        guard let extent = json["extent"], !extent.isNull, extent["xmin"]?.doubleValue != nil else { return nil }
        return try GeoServicesJSON.geometry(from: extent) as? Envelope
    }

    private func query(_ layer: LayerDefinition, _ parameters: [(name: String, value: String)]) -> ServiceRequest {
        ServiceRequest(root.appending(path: "\(layer.id)/query"), parameters + [("f", "json")])
    }

    // MARK: Edits

    /// Sends the edits of several layers as one request; the answer has one element a layer. Throws `PassedTurn` when the
    /// service has had this turn or a later one.
    func applyEdits(
        _ edits: JSONValue, usesGlobalIDs: Bool, turn: EditTurn?, also parameters: [(name: String, value: String)] = []
    ) async throws -> [JSONValue] {
        let request = ServiceRequest(
            root.appending(path: "applyEdits"),
            [
                ("edits", edits.text), ("useGlobalIds", String(usesGlobalIDs)), ("rollbackOnFailure", "false"),
                ("returnEditMoment", "true"), ("f", "json"),
            ] + parameters + (turn?.parameters ?? []), isRead: false)
        let answer = try await client.answer(to: request)
        guard let layers = try json(of: answer, refusal: turn.map { _ in Self.refusal }).arrayValue else {
            throw ServiceError.unknown(details: "The answer to edits is not a list of layers.")
        }
        return layers
    }

    private static func refusal(_ error: FieldworkREST.ServiceError) -> any Error {
        error.code == EditTurn.passedCode ? PassedTurn(details: error.message) : ServiceError(error)
    }

    // MARK: Both

    /// The JSON of an answer. Throws the service's error when it is one.
    func json(_ request: ServiceRequest) async throws -> JSONValue {
        try json(of: try await client.answer(to: request))
    }

    private func json(
        of answer: ServiceAnswer, refusal: ((FieldworkREST.ServiceError) -> any Error)? = nil
    ) throws -> JSONValue {
        let json: JSONValue
        do {
            json = try JSONParser.parse(answer.bytes)
        } catch {
            throw ServiceError.unknown(details: "The answer of \(Redaction.address(root)) is not JSON.")
        }
        if json.objectValue != nil, let error = FieldworkREST.ServiceError(answer: json) {
            throw refusal?(error) ?? ServiceError(error)
        }
        return json
    }

    func reading<Result>(_ body: () throws(FieldworkREST.ServiceError) -> Result) throws -> Result {
        do { return try body() } catch { throw ServiceError(error) }
    }
}
