import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkPublishing
import Foundation

/// Where the items of maps and their areas are: in a portal, which this user has signed in to.
struct MapItemPlace: ParsableArguments {
    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("The portal of the map, as the person who has signed in to it.", valueName: "portal"))
    var portal: String?

    @OptionGroup var certificates: CertificateOption

    /// The item that an argument names: by its address, or in the portal by its id or its title.
    func named(_ text: String, _ kind: PortalItem.Kind) async throws -> PortalItem {
        try certificates.use()
        try StoredCredentials.use()
        let item: PortalItem
        if text.contains("://") {
            guard let named = URL(string: text).flatMap({ PortalItem(url: $0) }), let id = named.id else {
                throw CommandFailure(.noInput, "\(text) is not the address of an item.")
            }
            item = PortalItem(portal: Self.portal(at: named.portal.url), id: id)
        } else {
            item = try await find(text, kind)
        }
        try await item.load()
        guard item.kind == kind else {
            throw CommandFailure(.badData, "\(item.title) is a \(item.typeName), and no \(kind.rawValue).")
        }
        return item
    }

    private func find(_ text: String, _ kind: PortalItem.Kind) async throws -> PortalItem {
        guard let portal else {
            throw CommandFailure(
                .noInput, "\(text) is no address: give the address of the item, or the portal with --to.")
        }
        let there = Self.portal(at: try ServiceReader(portal).url)
        try await there.load()
        if let id = PortalItem.ID(text), text.count == 32, text.allSatisfy(\.isHexDigit) {
            return PortalItem(portal: there, id: id)
        }
        let phrase = text.filter { $0 != "\"" && $0 != "\\" }
        let found = try await there.findItems(
            queryParameters: PortalQueryParameters(query: "title:\"\(phrase)\" AND type:\"\(kind.rawValue)\""))
        let named = found.results.filter { $0.title.lowercased() == text.lowercased() && $0.kind == kind }
        guard let item = named.first else {
            throw CommandFailure(.noInput, "There is no \(kind.rawValue) \(text) in \(portal) that you may see.")
        }
        guard named.count == 1 else {
            let ids = named.compactMap { $0.id?.rawValue }.joined(separator: ", ")
            throw CommandFailure(.noInput, "There are several of the title \(text): \(ids). Give the id of one.")
        }
        return item
    }

    /// A portal as the person who has signed in to it sees it, or as everyone does.
    private static func portal(at url: URL) -> Portal {
        let isKnown = ArcGISEnvironment.authenticationManager.arcGISCredentialStore.credential(for: url) != nil
        return Portal(url: url, connection: isKnown ? .authenticated : .anonymous)
    }

    /// The web map of an area.
    func map(of area: PortalItem) async throws -> PortalItem {
        guard let map = try await area.relatedItems(by: .mapToArea, direction: .reverse).first else {
            throw CommandFailure(.noInput, "The map of the area \(area.title) is not there, or you may not see it.")
        }
        return map
    }
}

/// What is shown of an area that is being prepared.
enum AreaProgress {
    static func show(_ step: String, _ part: Double) {
        Terminal.error("\(step) \(Int((min(max(part, 0), 1) * 100).rounded())) %")
    }

    static func print(_ outcome: MapAreaMaker.Outcome, _ verb: String, _ format: ListFormat) throws {
        for reason in outcome.reasons { Terminal.error(reason) }
        try format.print(
            [
                "id": .string(outcome.area.rawValue), "title": .string(outcome.title), "bytes": .integer(outcome.size),
                "services": JSONValue(outcome.services), "leftOut": .array(outcome.reasons.map(JSONValue.string)),
            ],
            [
                "\(verb) \(outcome.title) (\(outcome.area.rawValue)), \((outcome.size + 1_023) / 1_024) KB of features from \(Counted.text(outcome.services, "service"))"
            ])
    }
}
