public import Foundation

/// What a portal refuses, or what would overwrite the work of others.
public enum PortalError: ArcGISError, LocalizedError, Hashable {
    /// The item was changed in the portal since it was read here. Nothing was sent: read it again, or save under a new title.
    case itemWasChanged(details: String)
    /// The item can't be shared with all that were named.
    case notShared(details: String)
    /// Nobody is signed in to the portal.
    case notSignedIn(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .itemWasChanged(let details), .notShared(let details), .notSignedIn(let details): details
        }
    }
}
