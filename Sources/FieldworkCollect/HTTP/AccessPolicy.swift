import Crypto
import Foundation
import HTTPTypes
import Synchronization

/// Decides who may speak to the app: only pages that it served itself to someone at this machine. A page of another site,
/// another name for this address (DNS rebinding) and a stranger's process without the cookie are turned away.
final class AccessPolicy: Sendable {
    enum Decision: Sendable, Equatable {
        case allow
        /// The front door: let in and hand out the cookie.
        case welcome
        case refuse(Reason)
    }

    enum Reason: String, Sendable, Equatable {
        case wrongHost, wrongOrigin, crossSite, noKey, notReady
    }

    static let cookieName = "fieldwork-key"

    /// A new one at every start, so that a cookie of yesterday opens nothing.
    let key: String
    private let port = Mutex<Int?>(nil)

    init() {
        key = SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        }
    }

    /// The port is known once the socket is bound.
    func bind(port: Int) {
        self.port.withLock { $0 = port }
    }

    func decide(_ request: HTTPRequest, path: String) -> Decision {
        guard let port = port.withLock({ $0 }) else { return .refuse(.notReady) }
        let host = (request.authority ?? "").lowercased()
        guard Self.hosts(port: port).contains(host) else { return .refuse(.wrongHost) }
        if let site = request.headerFields[.secFetchSite], site != "same-origin", site != "none" {
            return .refuse(.crossSite)
        }
        let origin = request.headerFields[.origin]
        let changes = request.method != .get && request.method != .head
        if changes, origin?.lowercased() != "http://\(host)" { return .refuse(.wrongOrigin) }
        if let origin, origin.lowercased() != "http://\(host)" { return .refuse(.wrongOrigin) }
        if hasKey(request) { return .allow }
        let mode = request.headerFields[.secFetchMode]
        if request.method == .get, path == "/", mode == nil || mode == "navigate" { return .welcome }
        return .refuse(.noKey)
    }

    var cookie: String { "\(Self.cookieName)=\(key); Path=/; HttpOnly; SameSite=Strict" }

    private func hasKey(_ request: HTTPRequest) -> Bool {
        for field in request.headerFields[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == Self.cookieName else {
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
