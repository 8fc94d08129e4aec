import Foundation
import HTTPTypes
import Synchronization

/// Decides who may speak to the app: only pages that it served itself to someone at this machine. A page of another site,
/// another name for this address (DNS rebinding) and another user's process without the key are refused.
final class AccessPolicy: Sendable {
    enum Decision: Sendable, Equatable {
        case allow
        /// The address held the key: hand out the cookie, and go on at an address without it.
        case welcome
        case refuse(Reason)
    }

    enum Reason: String, Sendable, Equatable {
        case wrongHost, wrongOrigin, crossSite, noKey, wrongKey, notReady
    }

    /// Of this device's data folder: it is the same at each start.
    let key: String
    private let port = Mutex<Int?>(nil)

    init(key: String) { self.key = key }

    /// The port is known once the socket is bound.
    func bind(port: Int) {
        self.port.withLock { $0 = port }
    }

    /// - Parameter offered: the key in the address, if there is one.
    func decide(_ request: HTTPRequest, path: String, offered: String? = nil) -> Decision {
        guard let port = port.withLock({ $0 }) else { return .refuse(.notReady) }
        let host = (request.authority ?? "").lowercased()
        // Style sheets are no secret, and the page that explains a refusal needs them.
        let isStyle = request.method == .get && path.hasPrefix("/assets/") && path.hasSuffix(".css")
        guard Self.hosts(port: port).contains(host) || isStyle else { return .refuse(.wrongHost) }
        if let site = request.headerFields[.secFetchSite], site != "same-origin", site != "none" {
            return .refuse(.crossSite)
        }
        let origin = request.headerFields[.origin]
        let changes = request.method != .get && request.method != .head
        if changes, origin?.lowercased() != "http://\(host)" { return .refuse(.wrongOrigin) }
        if let origin, origin.lowercased() != "http://\(host)" { return .refuse(.wrongOrigin) }
        let mode = request.headerFields[.secFetchMode]
        if let offered, request.method == .get, path == "/", mode == nil || mode == "navigate",
            Self.isEqual(offered, key)
        {
            return .welcome
        }
        if hasKey(request, port: port) || isStyle { return .allow }
        return .refuse(offered == nil ? .noKey : .wrongKey)
    }

    /// The browser keeps it for a month: the key is the same at the next start.
    var cookie: String {
        let name = Self.cookieName(port: port.withLock { $0 } ?? 0)
        return "\(name)=\(key); Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict"
    }

    /// Browsers don't tell ports apart when they send cookies, so the name does: two apps of one machine don't take each
    /// other's place.
    static func cookieName(port: Int) -> String { "fieldwork-key-\(port)" }

    private func hasKey(_ request: HTTPRequest, port: Int) -> Bool {
        let name = Self.cookieName(port: port)
        for field in request.headerFields[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else {
                    continue
                }
                if Self.isEqual(parts[1].trimmingCharacters(in: .whitespaces), key) { return true }
            }
        }
        return false
    }

    /// Takes as long for a wrong key as for a right one.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    static func hosts(port: Int) -> Set<String> {
        ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
    }

    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
    }
}
