import FieldworkREST

extension Route {
    /// Locators: addresses of places and places of addresses.
    static let geocodeRoutes: [Route] = [
        Route(
            .geocodeServer, "", .read, [.json, .pjson, .html], metric: .geocode, needs: .describe,
            page: { $0.directory.locator(try $0.geocoding) },
            answer: { try $0.geocoding.root($0.request).tagged() }),
        Route(.geocodeServer, "findAddressCandidates", metric: .geocode, needs: .query) {
            try await $0.geocoding.findAddressCandidates($0.request)
        },
        Route(.geocodeServer, "geocodeAddresses", metric: .geocode, needs: .query) {
            try await $0.geocoding.geocodeAddresses($0.request)
        },
        Route(.geocodeServer, "suggest", metric: .geocode, needs: .query) {
            try await $0.geocoding.suggest($0.request)
        },
        Route(.geocodeServer, "reverseGeocode", metric: .geocode, needs: .query) {
            try await $0.geocoding.reverseGeocode($0.request)
        },
        Route(.geocodeServer, "cut", .read, [.file], metric: .geocode, needs: .query) {
            try await $0.geocoding.cut($0.request)
        },
        Route(.geocodeServer, "*", metric: .other, needs: .describe) { _ in throw ServiceError.noSuchOperation },
    ]
}
