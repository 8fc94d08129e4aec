import FieldworkREST

extension Route {
    /// Definitions are changed, and layers emptied, by requests that carry the administration key.
    static let administrationRoutes: [Route] =
        [
            Route(.administration, "", metric: .administration, needs: .administer) {
                .json(try $0.server.administration.root($0), format: try $0.administrationFormat)
            },
            Route(.administration, "{layer}", metric: .administration, needs: .administer) {
                .json(
                    try await $0.server.administration.layer($0), format: try $0.administrationFormat)
            },
            Route(.administration, "refresh", .write, metric: .administration, needs: .administer) {
                .json(try $0.server.administration.refresh($0), format: try $0.administrationFormat)
            },
            Route(.administration, "{layer}/refresh", .write, metric: .administration, needs: .administer) {
                .json(try $0.server.administration.refresh($0), format: try $0.administrationFormat)
            },
            Route(.administration, "{layer}/truncate", .write, metric: .administration, needs: .administer) {
                .json(try await $0.server.administration.truncate($0), format: try $0.administrationFormat)
            },
            Route(.administration, "*", metric: .administration, needs: .administer) { _ in
                throw ServiceError(
                    code: 400, message: "Invalid URL", details: ["There is no such administrative operation."])
            },
            Route(.rest, "admin/services/*", metric: .administration, needs: .administer) { _ in
                throw ServiceError.notFound("Service not found.")
            },
        ]
        + DefinitionEdit.Operation.allCases.flatMap { operation in
            ["", "{layer}/"].map { prefix in
                Route(.administration, prefix + operation.rawValue, .write, metric: .administration, needs: .administer)
                {
                    .json(
                        try await $0.server.administration.edit(operation, $0), format: try $0.administrationFormat)
                }
            }
        }
}

extension RouteContext {
    /// The administrative operations have no pages.
    fileprivate var administrationFormat: AnswerFormat {
        get throws {
            let format = try request.format()
            return format == .html ? .json : format
        }
    }
}
