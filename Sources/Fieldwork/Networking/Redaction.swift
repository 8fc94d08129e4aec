import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// What of a request may be read by others. It names what may be shown; everything else is a secret.
enum Redaction {
    static let mark = "***"

    /// The protocol's parameters whose values tell nothing but what was asked for. Conditions and geometries are the user's data.
    private static let shown: Set<String> = [
        "f", "outfields", "returngeometry", "returncountonly", "returnidsonly", "returnextentonly",
        "returndistinctvalues", "orderbyfields", "resultoffset", "resultrecordcount", "resulttype", "returnz",
        "returnm", "outsr", "insr", "geometrytype", "spatialrel", "maxallowableoffset", "useglobalids",
        "rollbackonfailure", "returneditmoment", "relationshipid", "attachmentid", "async", "returnattachments",
    ]

    /// An address without the user and the fragment, with the protocol's parameters, and with the names of others.
    static func address(_ url: URL, _ parameters: [(name: String, value: String)] = []) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return mark }
        let own = (components.queryItems ?? []).map { (name: $0.name, value: $0.value) }
        components.user = nil
        components.password = nil
        components.fragment = nil
        components.query = nil
        guard let bare = components.string else { return mark }
        let items = (own + parameters.map { (name: $0.name, value: Optional($0.value)) }).map(item)
        return items.isEmpty ? bare : "\(bare)?\(items.joined(separator: "&"))"
    }

    private static func item(name: String, value: String?) -> String {
        // Some signed addresses have nothing but the signature there.
        guard let value, isPlain(name, upTo: Limits.loggedNameLength) else { return mark }
        let isShown = shown.contains(name.lowercased()) && isPlain(value, upTo: Limits.loggedValueLength)
        return "\(name)=\(isShown ? value : mark)"
    }

    /// Whether a text is letters, digits and what lists of fields consist of.
    private static func isPlain(_ text: String, upTo length: Int) -> Bool {
        text.utf8.count <= length
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "_-.,* ".unicodeScalars.contains($0))
            }
    }

    /// Why there was no answer. Errors that are not known are told by their kind alone: their text may repeat the request.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as NIOConnectionError: "no connection to \(error.host):\(error.port)"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case is NIOTooManyBytesError: "it is longer than \(Limits.answerBytes) bytes"
        default: "\(type(of: error))"
        }
    }
}
