import FieldworkGeometry
package import FieldworkREST
import FieldworkStore

/// What a service's item stands for; the protocol's types of items.
package enum ServiceItemKind: String, Sendable, Hashable, CaseIterable {
    case feature = "Feature Service"
    case geocoding = "Geocoding Service"
    case vectorTiles = "Vector Tile Service"
    /// Tiles of pictures.
    case tiles = "Map Service"

    /// The last part of its address.
    package var face: String {
        switch self {
        case .feature: "FeatureServer"
        case .geocoding: "GeocodeServer"
        case .vectorTiles: "VectorTileServer"
        case .tiles: "MapServer"
        }
    }

    /// Under what the item of a service is kept: services of different types may have one name.
    package func key(_ path: String) -> String {
        self == .feature ? path.lowercased() : "\(path.lowercased())|\(face.lowercased())"
    }

    var typeKeywords: [String] {
        switch self {
        case .feature: ["ArcGIS Server", "Data", "Feature Access", rawValue, "Service", "Hosted Service"]
        case .geocoding: ["ArcGIS Server", "Geocoding", rawValue, "Locator", "Service", "Tool"]
        case .vectorTiles: ["ArcGIS Server", "Data", "Service", "Vector Tile Service", "Hosted Service"]
        case .tiles: ["ArcGIS Server", "Data", "Map Service", "Service", "Tiled", "Hosted Service"]
        }
    }
}

/// Services and the items that stand for them: reading a service is decided by the sharing of its item.
extension Portal {
    /// The facts of the item of a service; the item is made where there is none.
    package func facts(ofService path: String, as kind: ServiceItemKind = .feature) async throws -> ItemFacts {
        try await refresh()
        let key = kind.key(path)
        if let known = memory.service(key) { return known }
        let round = memory.round
        if let found = try await records.read({ try Self.serviceFacts(key, $0) }) {
            memory.remember(found, key, round: round)
            return found
        }
        try await addServiceItems([path], as: kind)
        guard let made = try await records.read({ try Self.serviceFacts(key, $0) }) else {
            throw PortalError.itemNotFound
        }
        return made
    }

    private static func serviceFacts(_ key: String, _ records: Records) throws -> ItemFacts? {
        guard let item = try serviceItem(key, records) else { return nil }
        return try facts(of: item, records)
    }

    static func serviceItem(_ key: String, _ records: Records) throws -> Item? {
        guard let id = try records.row("SELECT id FROM {items} WHERE service = ?", [.text(key)])?.text(0) else {
            return nil
        }
        return try item(id, records)
    }

    /// The item of a service.
    package func item(ofService path: String, as kind: ServiceItemKind = .feature) async throws -> Item? {
        try await records.read { try Self.serviceItem(kind.key(path), $0) }
    }

    /// Makes the items of services that have none. They belong to the first administrator, and are shared with the organisation:
    /// whoever has signed in sees them, and others see them when a person shares them further.
    package func addServiceItems(_ paths: [String], as kind: ServiceItemKind = .feature) async throws {
        guard !paths.isEmpty else { return }
        let moment = now
        let missing = try await records.read { records in
            let known = Set(
                try records.rows("SELECT service FROM {items} WHERE service IS NOT NULL").compactMap { $0.text(0) })
            return paths.filter { !known.contains(kind.key($0)) }
        }
        guard !missing.isEmpty else { return }
        try await change { records in
            guard let owner = try Self.firstAdministrator(records) else { return }
            for path in missing where try Self.serviceItem(kind.key(path), records) == nil {
                let name = path.split(separator: "/").last.map(String.init) ?? path
                var fields = ItemFields()
                fields.typeKeywords = kind.typeKeywords
                let item = Item(
                    id: Secret.id(), owner: owner, folder: "", title: name, type: kind.rawValue, name: path,
                    url: "", service: kind.key(path), sharing: Sharing(organisation: true), isProtected: false,
                    created: moment, modified: moment, views: 0, size: -1, fields: fields)
                try Self.write(item, records)
                try Self.note(
                    "item.add", item.id, path, Author(name: "(server)", address: ""), moment, records)
            }
        }
    }
}

extension Portal {
    /// Makes the item of a feature service that somebody makes: nobody else sees it until it is shared. One that the same person has
    /// made for the service already, by a request that was interrupted, is taken again.
    package func addServiceItem(
        _ path: String, _ change: ItemChange, id chosenID: String? = nil, owner: String, folder: String = "",
        view: ServiceView? = nil, for principal: Principal, by author: Author
    ) async throws -> Item {
        try principal.require(.publishFeatures)
        guard chosenID.map(Secret.isID) != false else {
            throw PortalError(.invalid, "The id of an item is 32 digits of 0 to 9 and a to f.")
        }
        let (moment, kind) = (now, ServiceItemKind.feature)
        return try await self.change { records in
            let person = try Self.existing(owner, records)
            if let known = try Self.serviceItem(kind.key(path), records) {
                guard known.owner == person.name else {
                    throw PortalError(.exists, "Service name '\(path)' is not available.")
                }
                return known
            }
            var change = change
            change.title = path.split(separator: "/").last.map(String.init) ?? path
            change.typeKeywords = kind.typeKeywords + (view == nil ? [] : ["View Service"])
            var item = Item(
                id: chosenID ?? Secret.id(), owner: person.name,
                folder: try Self.folder(folder, of: owner, records)?.id ?? "", title: "", type: kind.rawValue,
                name: path, url: "", service: kind.key(path), sharing: Sharing(), isProtected: false, created: moment,
                modified: moment, views: 0, size: -1, fields: ItemFields())
            try Self.write(item, isNew: true, records)
            try Self.apply(change, to: &item, moment, records)
            try Self.write(item, records)
            try Self.note("item.add", item.id, path, author, moment, records)
            if var view {
                // Devices may have what an earlier view of this name showed.
                if try Self.wasView(path, records) { view.changed = moment }
                try Self.write(view, author, moment, records)
            }
            return item
        }
    }
}

/// A feature service that everyone sees without signing in.
package struct OpenService: Sendable, Hashable {
    package var path: String
    /// Whether everyone may edit its features too.
    package var isOpenToEdits: Bool
}

/// What the command line asks.
extension Portal {
    /// The feature services that are open to whoever has not signed in, by their paths.
    package func openServices() async throws -> [OpenService] {
        try await records.read { records in
            try records.rows(
                """
                SELECT i.name, o.item FROM {items} AS i LEFT JOIN {open_items} AS o ON o.item = i.id
                WHERE i.service IS NOT NULL AND i.everyone = 1 AND i.type = ? ORDER BY i.name
                """, [.text(ServiceItemKind.feature.rawValue)]
            ).map { OpenService(path: $0.text(0) ?? "", isOpenToEdits: !$0.isNull(1)) }
        }
    }

    /// What decides who may do what with an item.
    package func facts(ofItem id: String) async throws -> ItemFacts {
        try await records.read { records in
            guard let item = try Self.item(id, records) else { throw PortalError.itemNotFound }
            return try Self.facts(of: item, records)
        }
    }

    /// An item by its id, the path of its service (with the type, as in `Town/GeocodeServer`, where several have the name), or
    /// its title.
    package func item(named name: String) async throws -> Item {
        try await records.read { records in
            if let item = try Self.item(name.lowercased(), records) { return item }
            for kind in ServiceItemKind.allCases {
                if let item = try Self.serviceItem(kind.key(name), records) { return item }
            }
            if let mark = name.lastIndex(of: "/") {
                let key = name[..<mark].lowercased() + "|" + name[mark...].dropFirst().lowercased()
                if let item = try Self.serviceItem(key, records) { return item }
            }
            let ids = try records.rows("SELECT id FROM {items} WHERE title = ?", [.text(name)]).compactMap {
                $0.text(0)
            }
            guard let id = ids.first, let item = try Self.item(id, records) else {
                throw PortalError(.notFound, "There is no service and no item '\(name)'.")
            }
            guard ids.count == 1 else {
                throw PortalError(.invalid, "There are \(ids.count) items '\(name)'. Name one by its id.")
            }
            return item
        }
    }
}
