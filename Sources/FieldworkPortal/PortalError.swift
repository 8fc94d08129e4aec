/// Why something of people, groups, items or tokens was refused. Nothing was changed.
package struct PortalError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case notFound
        case exists
        case invalid
        case notAllowed
        /// The name or the password is wrong; which of both is not told.
        case wrongPassword
        /// Too many sign-ins failed; it may be tried again after so many seconds.
        case locked(seconds: Int64)
        case invalidToken
        /// The item is protected against deletion.
        case protected
        case overLimit
        /// The server has too much to do.
        case busy
    }

    package var kind: Kind
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    static let itemNotFound = PortalError(.notFound, "Item does not exist or is inaccessible.")
    static let groupNotFound = PortalError(.notFound, "Group does not exist or is inaccessible.")
    static let userNotFound = PortalError(.notFound, "User does not exist or is inaccessible.")
    static let folderNotFound = PortalError(.notFound, "Folder does not exist or is inaccessible.")
    static let notAllowed = PortalError(
        .notAllowed, "You do not have permissions to access this resource or perform this operation.")
}
