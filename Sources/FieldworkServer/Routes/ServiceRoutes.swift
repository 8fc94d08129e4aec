import FieldworkREST

extension Route {
    /// A feature service as a whole.
    static let serviceRoutes: [Route] = [
        Route(
            .featureServer, "", .read, [.json, .pjson, .html], metric: .service, needs: .describe,
            page: { $0.directory.service(try $0.service.definition) },
            answer: { Answer.json(try await $0.features.root($0.service), format: try $0.request.format()).tagged() }),
        Route(.featureServer, "layers", metric: .service, needs: .describe) {
            Answer.json(try await $0.features.layers($0.service), format: try $0.request.format()).tagged()
        },
        Route(.featureServer, "relationships", metric: .service, needs: .describe) {
            Answer.json(try $0.features.relationships($0.service), format: try $0.request.format()).tagged()
        },
        Route(.featureServer, "queryDomains", metric: .service, needs: .describe) {
            let answer = try DomainQuery.answer($0.request.parameters, service: $0.service.definition)
            return Answer.json(answer, format: try $0.request.format()).tagged()
        },
        Route(.featureServer, "queryContingentValues", metric: .service, needs: .describe) {
            let answer = try ContingentValuesQuery.answer($0.request.parameters, service: $0.service.definition)
            return Answer.json(answer, format: try $0.request.format()).tagged()
        },
        Route(.featureServer, "query", metric: .query, needs: .query) {
            try await $0.features.query($0.service, $0.request)
        },
        Route(.featureServer, "applyEdits", .write, metric: .applyEdits, needs: .edit) {
            try await $0.features.applyEdits(to: $0.service, $0.request)
        },
        Route(.featureServer, "*", metric: .other, needs: .describe) { _ in throw ServiceError.noSuchOperation },
    ]
}

extension ServiceError {
    static let noSuchOperation = ServiceError(
        code: 400, message: "Invalid URL", details: ["The service has no such resource or operation."])
}
