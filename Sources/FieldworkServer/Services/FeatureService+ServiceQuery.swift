import FieldworkGeometry
import FieldworkREST
import FieldworkStore

extension FeatureService {
    /// `query` of a service: the answers of its layers and tables in one.
    func query(_ published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        let service = published.definition
        let query = try ServiceQueryRequest(parameters: request.parameters, service: service)
        for element in query.elements {
            try Permissions(service: service, layer: element.layer).require(.query)
        }
        let tag = try await entityTag(for: request, of: published)
        let layers = LayeredAnswer(query.elements) { element in
            try await self.answer(
                element.request, element.layer, LayerAddress(service: service.name, layerID: element.layer.id)
            ).body
        }
        let pieces = EncodedFeatures { try await layers.next() }
        var whole = Answer(contentType: Answer.jsonType, body: .stream(pieces))
        if query.isPretty { whole = try await Self.laidOut(pieces) }
        whole.entityTag = tag
        return whole
    }
}

/// The answers of layers as one, a piece at a time: `{"layers":[{"id":0,…},{"id":1,…}]}`. A layer is asked when the one
/// before it has been sent.
private actor LayeredAnswer {
    private var waiting: ArraySlice<ServiceQueryRequest.Element>
    private let answer: @Sendable (ServiceQueryRequest.Element) async throws -> Answer.Body
    private var current: EncodedFeatures?
    private var hasBegun = false
    private var isAtEnd = false

    init(
        _ elements: [ServiceQueryRequest.Element],
        _ answer: @escaping @Sendable (ServiceQueryRequest.Element) async throws -> Answer.Body
    ) {
        waiting = elements[...]
        self.answer = answer
    }

    func next() async throws -> [UInt8]? {
        if let current {
            var iterator = current.makeAsyncIterator()
            if let piece = try await iterator.next() { return piece }
            self.current = nil
        }
        if isAtEnd { return nil }
        guard let element = waiting.popFirst() else {
            isAtEnd = true
            return Array((hasBegun ? "]}" : #"{"layers":[]}"#).utf8)
        }
        var bytes = Array((hasBegun ? "," : #"{"layers":["#).utf8)
        hasBegun = true
        bytes += Array(#"{"id":\#(element.layer.id),"#.utf8)
        // Each answer is an object of its own, whose brace stands already.
        let body = try await answer(element)
        switch body {
        case .bytes(let own): bytes += own.dropFirst()
        case .begun(let one, let two, let rest):
            bytes += one.dropFirst() + two
            current = rest
        case .stream(let pieces):
            var iterator = pieces.makeAsyncIterator()
            if let first = try await iterator.next() { bytes += first.dropFirst() }
            current = pieces
        case .file: bytes += try await body.collected().dropFirst()
        }
        return bytes
    }
}
