import FieldworkGeometry
import Foundation
import Synchronization

extension Map {
    /// Saves the map as a new item of the person who is signed in. `item` is the new one afterwards. Only addresses are
    /// written of services, no names or tokens of people.
    ///
    /// ```swift
    /// try await map.save(to: portal, title: "Trees of my street", tags: ["trees"])
    /// ```
    /// - Parameters:
    ///   - portal: the portal.
    ///   - title: the title of the item.
    ///   - tags: words by which it is found.
    ///   - folder: a folder of the person; nil for the root.
    ///   - description: what it is, at length.
    ///   - forceSaveToSupportedVersion: has no effect: the document keeps the version that it was read with.
    /// - Throws: `PortalError.notSignedIn`, `ServiceError`.
    public func save(
        to portal: Portal, title: String, tags: [String] = [], folder: PortalFolder? = nil, description: String = "",
        forceSaveToSupportedVersion: Bool = false
    ) async throws {
        try await load()
        if portal.user == nil, portal.connection == .authenticated { try await portal.load() }
        guard let user = portal.user else {
            throw PortalError.notSignedIn(
                details: "Nobody is signed in to \(portal.url.host() ?? "the portal"). Load it with an authenticated "
                    + "connection first.")
        }
        let item = PortalItem(portal: portal, kind: .webMap, title: title, description: description, tags: tags)
        if let area = initialViewpoint?.targetGeometry.extent { item.extent = area }
        try await user.add(item, with: .json(toJSON()), to: folder)
        state.withLock { $0.item = item }
    }

    /// The same as `save(to:title:tags:folder:description:)`, by its older name.
    public func saveAs(
        to portal: Portal, title: String, tags: [String] = [], folder: PortalFolder? = nil, description: String = ""
    ) async throws {
        try await save(to: portal, title: title, tags: tags, folder: folder, description: description)
    }

    /// Saves the map to the item that it comes from. When somebody changed the item since, nothing is sent: their work would
    /// be lost.
    /// - Throws: `PortalError.itemWasChanged`, `CommonError.illegalState` for a map that comes from no item of a portal,
    ///   `ServiceError`.
    public func save() async throws {
        guard let item = item as? PortalItem else {
            throw CommonError.illegalState(
                details: "The map comes from no item of a portal. Save it to a portal first.")
        }
        try await load()
        try await item.updateData(with: .json(toJSON()))
    }
}
