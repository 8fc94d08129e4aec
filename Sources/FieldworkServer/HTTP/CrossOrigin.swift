import HTTPTypes

/// Lets pages of other origins use the service (rest-api §1.5). No credentials are allowed across origins: whoever is
/// signed in says so with a token.
enum CrossOrigin {
    /// Adds what an answer to a page of another origin needs; nothing when the request names no origin.
    static func allow(_ request: HTTPRequest, in headers: inout HTTPFields) {
        guard let origin = request.headerFields[.origin] else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = "ETag, Content-Length"
        headers.append(HTTPField(name: .vary, value: "Origin"))
    }

    /// The fields of the answer to a browser that asks before it sends (`OPTIONS`).
    static func preflight(_ request: HTTPRequest) -> HTTPFields {
        var headers = HTTPFields()
        allow(request, in: &headers)
        headers[.allow] = "GET, HEAD, POST, OPTIONS"
        headers[.accessControlAllowMethods] = "GET, POST, OPTIONS, HEAD"
        headers[.accessControlAllowHeaders] = "Content-Type, X-Esri-Authorization, Authorization, If-None-Match"
        headers[.accessControlMaxAge] = "86400"
        return headers
    }
}
