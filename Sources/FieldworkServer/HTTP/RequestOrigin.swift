import HTTPTypes

/// Tells from where a browser sends a request.
enum RequestOrigin {
    /// Whether a page of another site made the browser send it. Programs that are no browsers send neither field.
    static func isOtherSite(_ request: HTTPRequest) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.headerFields[name] {
            return site != "same-origin" && site != "none"
        }
        guard let origin = request.headerFields[.origin] else { return false }
        guard let authority = request.authority?.lowercased() else { return true }
        return !["http://\(authority)", "https://\(authority)"].contains(origin.lowercased())
    }
}
