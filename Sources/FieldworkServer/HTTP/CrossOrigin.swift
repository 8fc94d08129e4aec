import HTTPTypes

/// Lets the pages of other sites that the rules allow read answers. No credentials are allowed across
/// origins: whoever is signed in says so with a token.
enum CrossOrigin {
    /// Adds what an answer to a page of another site needs.
    static func allow(_ visit: Visit?, in headers: inout HTTPFields) {
        guard let origin = visit?.allowedOrigin else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = "ETag, Content-Length"
    }

    /// The fields of the answer to a browser that asks before it sends (`OPTIONS`).
    static func preflight(_ visit: Visit) -> HTTPFields {
        var headers = HTTPFields()
        headers[.allow] = allowed
        headers[.vary] = "Origin"
        guard visit.allowedOrigin != nil else { return headers }
        allow(visit, in: &headers)
        headers[.accessControlAllowMethods] = "GET, POST, OPTIONS, HEAD"
        headers[.accessControlAllowHeaders] = "Content-Type, X-Esri-Authorization, Authorization, If-None-Match"
        headers[.accessControlMaxAge] = "86400"
        return headers
    }

    static let allowed = "GET, HEAD, POST, OPTIONS"
}
