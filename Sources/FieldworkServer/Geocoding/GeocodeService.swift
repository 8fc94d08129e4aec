import FieldworkGeometry
import FieldworkLocator
import FieldworkREST

/// The operations of one locator.
struct GeocodeService: Sendable {
    let locator: Locator
    let name: String
    let cutter: LocatorCutter

    func root(_ request: ServiceRequest) throws -> Answer {
        .json(GeocodeDocument.root(locator), format: try request.format())
    }

    // MARK: Searching

    func findAddressCandidates(_ request: ServiceRequest) async throws -> Answer {
        let question = try GeocodeRequest(request.parameters)
        guard !question.text.isEmpty else {
            throw ServiceError.invalidParameter(
                "'\(GeocodeDocument.singleLine)' must be the address to find, or its parts 'address', 'city' and so on."
            )
        }
        let results = try await answering { try await locator.candidates(for: question.text, question.options) }
        let output = try GeocodeOutput(question.reference)
        let candidates = try results.map { try output.candidate($0, fields: question.fields, locator: name) }
        return .json(
            ["spatialReference": output.referenceJSON, "candidates": .array(candidates)], format: try request.jsonOnly()
        )
    }

    func suggest(_ request: ServiceRequest) async throws -> Answer {
        let parameters = request.parameters
        guard let text = parameters["text"], !text.isEmpty else {
            throw ServiceError.invalidParameter("'text' must be the beginning of what is looked for.")
        }
        var options = try GeocodeRequest.options(parameters)
        options.maximumCount = try GeocodeRequest.count(
            parameters, "maxSuggestions", default: 5, most: Limits.suggestions)
        // The parameter's name differs between the operations of the protocol.
        if options.country.isEmpty { options.country = parameters["countryCode"] ?? "" }
        let chosen = options
        let suggestions = try await answering { try await locator.suggestions(for: text, chosen) }
        let list = suggestions.map { suggestion -> JSONValue in
            ["text": .string(suggestion.text), "magicKey": .string(suggestion.magicKey), "isCollection": false]
        }
        return .json(["suggestions": .array(list)], format: try request.jsonOnly())
    }

    func geocodeAddresses(_ request: ServiceRequest) async throws -> Answer {
        let batch = try GeocodeBatch(request.parameters)
        let found = try await answering { try await locator.best(of: batch.questions) }
        let output = try GeocodeOutput(batch.reference)
        let locations = try zip(batch.ids, found).map { id, results in
            try output.location(results, id: id, fields: batch.fields, locator: name)
        }
        return .json(
            ["spatialReference": output.referenceJSON, "locations": .array(locations)], format: try request.jsonOnly())
    }

    // MARK: The address of a place

    func reverseGeocode(_ request: ServiceRequest) async throws -> Answer {
        let question = try ReverseRequest(request.parameters)
        let found = try await answering {
            try await locator.addresses(atX: question.x, y: question.y, question.options)
        }
        guard let result = found.first else {
            throw ServiceError(
                code: 400, message: "Cannot perform query. Invalid query parameters.",
                details: ["Unable to find address for the specified location."])
        }
        let output = try GeocodeOutput(question.reference)
        return .json(try output.address(result, question), format: try request.jsonOnly())
    }

    // MARK: For work offline

    /// What the locator has in an area and around it, as a locator file.
    func cut(_ request: ServiceRequest) async throws -> Answer {
        guard let area = try GeocodeRequest.extent(request.parameters, "area") else {
            throw ServiceError.invalidParameter("'area' must be xmin,ymin,xmax,ymax or an envelope in JSON.")
        }
        let part = try await cutter.cut(locator.url, area: area)
        var answer = Answer(contentType: ResultKind.geoPackage.contentType, body: .file(part))
        answer.contentLength = part.range.count
        answer.isCompressible = false
        answer.disposition = ContentDisposition.text(name: "\(name).\(LocatorFile.pathExtension)", isShown: false)
        return answer
    }

    /// What the locator refuses is the client's to know.
    private func answering<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as LocatorError where error.code == .invalidRequest {
            throw ServiceError.invalidParameter(error.message)
        }
    }
}

extension ServiceRequest {
    /// The operations have no pages: a browser gets JSON laid out for reading.
    fileprivate func jsonOnly() throws(ServiceError) -> AnswerFormat {
        let wanted = try format()
        return wanted == .html ? .prettyJSON : wanted
    }
}
