import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

/// The demo's portal: two people, a group, two maps for everyone and one for the group. Whoever only wants to try the public
/// maps needs no sign-in: the demo's services may be seen and edited by everyone, as before there were people.
struct DemoPortal {
    var portal: Portal
    var folder: URL

    static let administrator = DemoPerson(name: "ana", fullName: "Ana Ruiz", role: .administrator)
    static let editor = DemoPerson(name: "ben", fullName: "Ben Okri", role: .editor)
    static let group = "Bay crew"

    struct DemoPerson: Sendable {
        var name: String
        var fullName: String
        var role: Role
    }

    /// Notes how far the first start came. One that is interrupted is done again, with new passwords.
    private static let mark = "demo"
    private enum Progress: String {
        case begun, made
    }

    // MARK: People and services

    /// Makes the people at the first start, and tells their passwords, which are kept nowhere. A folder that has people or services
    /// of its own stays as it is: nobody's services are opened or closed by the demo.
    func prepare(_ services: [ServiceName], tell: (String) -> Void) async throws {
        let before = try await portal.mark(Self.mark)
        guard before != Progress.made.rawValue else { return }
        if before == nil {
            guard try await !portal.hasPeople() else { return }
            let foreign = services.filter { name in !DemoServices.all.contains { $0.definition.name == name } }
            guard foreign.isEmpty else {
                tell(
                    "This folder has services of your own (\(foreign.map(\.path).joined(separator: ", "))): the demo adds no people"
                        + " to it. fieldwork users add does.")
                return
            }
            try await portal.setMark(Progress.begun.rawValue, Self.mark)
        }
        var passwords: [(person: DemoPerson, password: String)] = []
        for person in [Self.administrator, Self.editor] {
            passwords.append((person, try await give(person)))
        }
        try await open(services)
        if try await portal.groups(for: .everybody).allSatisfy({ $0.title != Self.group }) {
            _ = try await portal.addGroup(
                title: Self.group, access: "org", for: .everybody, owner: Self.administrator.name, by: .commandLine)
        }
        _ = try await portal.addMembers(
            [Self.editor.name], to: try await portal.group(titled: Self.group).id, for: .everybody, by: .commandLine)
        tell("The public maps need no sign-in. Two people may sign in; their passwords are shown this once:")
        for (person, password) in passwords { tell("  \(person.name) (\(person.role.word))  \(password)") }
        try await portal.setMark(Progress.made.rawValue, Self.mark)
    }

    /// - Returns: the person's password.
    private func give(_ person: DemoPerson) async throws -> String {
        let password = Self.password()
        if try await portal.person(named: person.name) == nil {
            try await portal.addPerson(
                person.name, password: password, role: person.role, fullName: person.fullName, by: .commandLine)
        } else {
            try await portal.setPassword(password, of: person.name, by: .commandLine)
        }
        return password
    }

    /// Sixteen letters and digits in groups of four, without those that look like others: 78 bits.
    static func password() -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        let groups = (0..<4).map { _ in
            String((0..<4).compactMap { _ in letters.randomElement(using: &generator) })
        }
        return groups.joined(separator: "-")
    }

    /// Everyone sees the demo's services, its addresses and its basemap, and may edit what the services allow.
    private func open(_ services: [ServiceName]) async throws {
        let names: [(path: String, kind: ServiceItemKind)] =
            services.map { ($0.path, .feature) } + [(PortlandAddresses.locatorName, .geocoding)]
            + BasemapFolder(data: folder).names().filter { $0 == DemoBasemap.name }.map { ($0, .vectorTiles) }
        for (path, kind) in names {
            try await portal.addServiceItems([path], as: kind)
            guard let item = try await portal.item(ofService: path, as: kind) else { continue }
            _ = try await portal.share(item.id, everyone: true, for: .everybody, by: .commandLine)
            if kind == .feature { try await portal.setOpenToEdits(true, item.id, for: .everybody, by: .commandLine) }
        }
    }

    // MARK: Maps

    /// Makes the items of the maps at the first start. Later ones only put the addresses right, since the port may be another: of
    /// a map that is there nothing else changes, and one that somebody has removed stays removed.
    func prepareMaps(services: String) async throws {
        guard try await portal.mark(Self.mark) == Progress.made.rawValue else { return }
        for map in Self.maps {
            let mark = "\(Self.mark) \(map.service)"
            guard let id = try await portal.mark(mark) else {
                let item = try await add(map, services)
                try await portal.setMark(item, mark)
                continue
            }
            try await address(map, id, services)
        }
    }

    /// Draws the pictures of the maps that have none yet.
    /// - Parameter local: the address of the services on this machine.
    func prepareThumbnails(local: String) async throws {
        for map in Self.maps {
            guard let id = try await portal.mark("\(Self.mark) \(map.service)") else { continue }
            try await DemoThumbnails(portal: portal, services: local).prepare(service: map.service, map: id)
        }
    }

    private struct PortalMap: Sendable {
        var service: String
        var title: String
        var snippet: String
        var tags: [String]
        var isPublic: Bool
    }

    private static let maps = [
        PortalMap(
            service: DamageAssessmentDemo.name.name, title: "Damage assessment",
            snippet: "Reports after storms, with photos, and the areas that crews search.",
            tags: ["damage", "storms"], isPublic: true),
        PortalMap(
            service: TreesOfPortlandDemo.name.name, title: "Trees of Portland",
            snippet: "60,000 street trees with species, inspections and neighborhoods.",
            tags: ["trees", "Portland"], isPublic: true),
        PortalMap(
            service: SaveTheBayDemo.name.name, title: "Save the Bay",
            snippet: "Sightings of birds and sea life around Galveston Bay, for the crew that counts them.",
            tags: ["wildlife", "Galveston Bay"], isPublic: false),
    ]

    private func add(_ map: PortalMap, _ services: String) async throws -> String {
        // One whose start was interrupted before it was noted is not added again.
        let known = try await portal.search(
            "owner:\(Self.administrator.name) type:\"Web Map\"", count: 100, for: .everybody)
        if let item = known.items.first(where: { $0.title == map.title }) { return item.id }
        var change = ItemChange()
        (change.title, change.type, change.snippet, change.tags) = (map.title, "Web Map", map.snippet, map.tags)
        change.typeKeywords = ["ArcGIS Online", "Explorer Web Map", "Map", "Online Map", "Web Map"]
        let document =
            DemoMaps.names.contains(map.service)
            ? try DemoMaps.document(of: map.service) : SaveTheBayDemo.map(services: services)
        change.data = Self.content(
            DemoMaps.addressed(DemoMaps.withBasemap(document, in: folder, services), service: map.service, to: services)
        )
        let item = try await portal.addItem(change, owner: Self.administrator.name, for: .everybody, by: .commandLine)
        let group = try await portal.group(titled: Self.group).id
        _ = try await portal.share(
            item.id, everyone: map.isPublic, addingGroups: map.isPublic ? [] : [group], for: .everybody,
            by: .commandLine)
        return item.id
    }

    private func address(_ map: PortalMap, _ id: String, _ services: String) async throws {
        let content: ItemContent?
        do {
            content = try await portal.content(ItemContent.data, of: id, for: .everybody)
        } catch let error as PortalError where error.kind == .notFound {
            return
        }
        guard let content, let document = try? JSONParser.parse(content.bytes) else { return }
        let addressed = DemoMaps.addressed(document, service: map.service, to: services)
        guard addressed != document else { return }
        var change = ItemChange()
        change.data = Self.content(addressed)
        try await portal.updateItem(id, change, for: .everybody, by: .commandLine)
    }

    private static func content(_ map: JSONValue) -> ItemContent {
        ItemContent(
            name: ItemContent.data, type: "application/json", fileName: "", modified: 0, bytes: Array(map.text.utf8))
    }
}
