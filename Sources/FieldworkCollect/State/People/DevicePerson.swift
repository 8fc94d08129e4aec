import Fieldwork
import Foundation

/// Somebody who has signed in on this device. What the device keeps of their work is in a folder of its own: nobody else's work,
/// and no other's sign-in, can be mixed with it.
struct DevicePerson: Sendable, Codable, Hashable, Identifiable {
    /// The name of the folder.
    let id: String
    /// The name by which the person signs in.
    let name: String
    /// The root of the portal or server that knows the person, without a path behind it.
    let server: URL
    /// The whole name, as the portal told it last.
    var fullName: String

    init(name: String, server: URL) {
        let readable = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(40)
        // A name is the same person in any letters, as portals have it.
        id = "\(readable.lowercased())-\(StableHash.hex("\(name.lowercased()) \(server.absoluteString)"))"
        self.name = name
        self.server = server
        fullName = ""
    }

    /// How pages call the person.
    var shown: String { fullName.isEmpty ? name : fullName }

    /// The server's name with its port, as people know it.
    var host: String { Self.host(of: server) }

    static func host(of url: URL) -> String {
        (url.host() ?? url.absoluteString) + (url.port.map { ":\($0)" } ?? "")
    }
}
