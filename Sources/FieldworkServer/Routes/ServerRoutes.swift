import FieldworkREST

extension Route {
    /// The server itself: outside of its services.
    static let serverRoutes: [Route] = [
        Route(.server, "", .read, [.html], metric: .page, needs: .nothing) { $0.directory.home() },
        Route(.server, "health", .read, [.json], metric: .health, needs: .nothing) { await $0.server.health() },
        Route(.server, "ready", .read, [.json], metric: .health, needs: .nothing) { await $0.server.ready($0.request) },
        Route(.server, "metrics", .read, [.text], metric: .metrics, needs: .operate) {
            await $0.server.metricsText($0.request)
        },
        Route(.server, "fieldwork.css", .read, [.file], metric: .page, needs: .nothing) { _ in
            Answer.text(ServicesDirectory.stylesheet, type: "text/css;charset=utf-8").tagged()
        },
        Route(.instance, "", .read, [.html], metric: .page, needs: .nothing) { $0.directory.home() },
        Route(.rest, "", .read, [.html], metric: .page, needs: .nothing) { $0.directory.home() },
        Route(.rest, "info", metric: .info, needs: .nothing) {
            try await ServerInfo.answer($0)
        },
    ]

    /// The folders and the services in them.
    static let catalogueRoutes: [Route] = [
        Route(.rest, "services", .read, [.json, .pjson, .html], metric: .catalog, needs: .describe) {
            try await $0.server.folder(nil, $0.request)
        },
        Route(.rest, "services/{folder}", .read, [.json, .pjson, .html], metric: .catalog, needs: .describe) {
            try await $0.server.folder($0.name, $0.request)
        },
        Route(.rest, "services/*", metric: .catalog, needs: .describe) { _ in
            throw ServiceError.notFound("Folder not found.")
        },
    ]
}
