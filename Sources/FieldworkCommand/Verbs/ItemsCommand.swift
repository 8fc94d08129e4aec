import ArgumentParser
import FieldworkGeometry
import FieldworkPortal
import Foundation

/// `fieldwork items`.
struct ItemsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "items", abstract: "Manage web maps and other items of the portal.",
        discussion: """
            EXAMPLES
              fieldwork items add trees.webmap.json --title "Trees of Portland" --owner ana
              fieldwork items list
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a web map, or another file, as an item. Nobody but its owner sees it until it is shared.")
        @Argument(help: "A .webmap.json, or another file.") var file: String
        @Option(help: "The title of the item.") var title: String
        @Option(help: ArgumentHelp("Who owns it.", valueName: "name")) var owner: String
        @Option(help: "The type of the item; Web Map for a .webmap.json.") var type: String?
        @Option(help: "Words between commas.") var tags: String?
        @Option(help: "A line about it.") var snippet: String?
        @Option(help: ArgumentHelp("A picture of it, in PNG or JPEG.", valueName: "file")) var thumbnail: String?
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                let change = try change()
                try await place.withPortal { portal in
                    let item = try await portal.addItem(change, owner: owner, for: .everybody, by: .commandLine)
                    Terminal.output("\(item.id)  \(item.title)  (\(item.type))")
                }
            }
        }

        private func change() throws -> ItemChange {
            let url = URL(filePath: (file as NSString).expandingTildeInPath)
            let bytes = try Self.bytes(of: url)
            let isMap = url.lastPathComponent.lowercased().hasSuffix(".webmap.json")
            if isMap {
                guard let map = try? JSONParser.parse(bytes), map["operationalLayers"]?.arrayValue != nil else {
                    throw CommandFailure(.badData, "\(url.path) is no web map: it has no 'operationalLayers'.")
                }
            }
            guard let type = type ?? (isMap ? "Web Map" : nil) else {
                throw CommandFailure(.badData, "Say what \(url.path) is with --type, such as \"CSV\" or \"Image\".")
            }
            var change = ItemChange()
            change.title = title
            change.type = type
            change.name = isMap ? nil : url.lastPathComponent
            change.snippet = snippet
            change.tags = tags?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            if isMap { change.typeKeywords = ["ArcGIS Online", "Explorer Web Map", "Map", "Online Map", "Web Map"] }
            change.data = ItemContent(
                name: ItemContent.data,
                type: url.pathExtension == "json" ? "application/json" : "application/octet-stream",
                fileName: isMap ? "" : url.lastPathComponent, modified: 0, bytes: bytes)
            if let thumbnail {
                let picture = URL(filePath: (thumbnail as NSString).expandingTildeInPath)
                change.thumbnail = ItemContent(
                    name: ItemContent.thumbnail,
                    type: picture.pathExtension.lowercased() == "png" ? "image/png" : "image/jpeg",
                    fileName: picture.lastPathComponent, modified: 0, bytes: try Self.bytes(of: picture))
            }
            return change
        }

        private static func bytes(of url: URL) throws -> [UInt8] {
            guard FileManager.default.isReadableFile(atPath: url.path) else {
                throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read.")
            }
            return [UInt8](try Data(contentsOf: url))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the items with their owners and sharing.")
        @Argument(help: "A search, as in the portal: type:\"Web Map\" AND owner:ana") var search = ""
        @OptionGroup var place: PortalOption
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let services = try await place.servicePaths()
                var (lines, list): ([String], [JSONValue]) = ([], [])
                try await place.withPortal { portal in
                    try await portal.addServiceItems(services)
                    while true {
                        let page = try await portal.search(
                            search, from: list.count, count: 100, order: .title, isDescending: false, for: .everybody)
                        for item in page.items {
                            lines.append(
                                "\(item.id)  \(item.title)  (\(item.type))  \(item.owner)  \(item.sharing.access)")
                            list.append([
                                "id": .string(item.id), "title": .string(item.title), "type": .string(item.type),
                                "owner": .string(item.owner), "access": .string("\(item.sharing.access)"),
                            ])
                        }
                        if page.items.isEmpty || list.count >= page.total { return }
                    }
                }
                try format.print(.array(list), lines)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove an item. The item of a service stays.")
        @Argument(help: "The id of the item, or its title.") var item: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                let services = try await place.serviceKeys()
                try await place.withPortal { portal in
                    let found = try await portal.item(named: item)
                    try await portal.removeItem(found.id, services: services, for: .everybody, by: .commandLine)
                }
            }
        }
    }
}
