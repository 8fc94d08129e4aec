import FieldworkREST

extension Route {
    /// The validation rules of a service's layers.
    static let validationRoutes: [Route] = [
        Route(.validationServer, "", metric: .service, needs: .describe) {
            // Says whether there is such a service.
            _ = try $0.service
            return .json(FeatureService.validationResource, format: try $0.jsonFormat)
        },
        Route(.validationServer, "evaluate", metric: .evaluate, needs: .query) {
            try await $0.features.evaluate($0.service, $0.request)
        },
        Route(.validationServer, "*", metric: .other, needs: .describe) { _ in throw ServiceError.noSuchOperation },
    ]
}
