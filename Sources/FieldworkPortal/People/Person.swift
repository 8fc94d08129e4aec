package import FieldworkGeometry
import Foundation

/// A member of the organisation.
package struct Person: Sendable, Hashable {
    /// As it was registered. Names are the same without regard to case.
    package var name: String
    package var id: String
    package var fullName: String
    package var email: String
    package var roleID: String
    package var isDisabled: Bool
    /// Milliseconds since 1970.
    package var created: Int64
    package var modified: Int64
    package var lastSignIn: Int64
    /// The other members of the protocol's user that clients may change: description, tags, culture, units.
    package var details: JSONObject

    package static func key(_ name: String) -> String { name.lowercased() }

    /// Letters and digits of ASCII, and `. _ - @`: names stand in addresses and logs, and none looks like another.
    package static func checked(_ name: String) throws(PortalError) -> String {
        let isAllowed = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F, 0x2D, 0x40: true
            default: false
            }
        }
        guard isAllowed, (1...Limits.nameLength).contains(name.utf8.count), name != ".", name != ".." else {
            throw PortalError(
                .invalid,
                "A user name has 1 to \(Limits.nameLength) letters and digits of ASCII, and '.', '_', '-' and '@'.")
        }
        return name
    }
}
