import ArgumentParser
import Fieldwork
import FieldworkGeometry
import Foundation

/// `fieldwork areas`.
struct AreasCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "areas", abstract: "Prepare areas of a web map for offline work, once for all crews.",
        discussion: """
            The services make the files of an area once and keep them; each crew downloads the same files and goes on from there \
            under a replica of its own. Who sees the map sees its areas. What is in them the services give to the people who may \
            read their features, and to nobody else.

            EXAMPLES
              fieldwork sign-in http://127.0.0.1:8080/arcgis
              fieldwork areas create "Trees of Portland" --to http://127.0.0.1:8080/arcgis \\
                  --area -122.65,45.55,-122.60,45.58 --title Concordia
              fieldwork areas list "Trees of Portland" --to http://127.0.0.1:8080/arcgis
              fieldwork areas download Concordia --to http://127.0.0.1:8080/arcgis --out concordia
              fieldwork areas download Concordia --to http://127.0.0.1:8080/arcgis --out look --scheduled-updates
              fieldwork areas update Concordia --to http://127.0.0.1:8080/arcgis
              fieldwork areas delete Concordia --to http://127.0.0.1:8080/arcgis
            """,
        subcommands: [Create.self, List.self, Download.self, Update.self, Delete.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prepare an area of a web map.",
            discussion: """
                The area has the layers of the map that can be taken offline; what can't be is named. Only the owner of the map and \
                administrators prepare areas of it. Layers of which each person sees only the own features can't be prepared. \
                A command that was interrupted leaves nothing.
                """)
        @Argument(help: "The address of the map's item; with --to also its id or its title.") var map: String
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("The area, in degrees.", valueName: "west,south,east,north"))
        var area: String
        @Option(help: "What the area is called.") var title: String
        @Option(help: "A line about it.") var snippet: String?
        @Option(help: "Words by which it is found, between commas.") var tags: String?
        @Option(help: ArgumentHelp("The scale from which on tiles come along, as 1:number.", valueName: "number"))
        var minScale: Double?
        @Option(help: ArgumentHelp("The scale down to which tiles come along, as 1:number.", valueName: "number"))
        var maxScale: Double?
        @OptionGroup var place: MapItemPlace
        @OptionGroup var format: ListFormat

        func validate() throws {
            _ = try DegreeBox(area)
            guard !title.isEmpty else { throw ValidationError("--title is empty.") }
            for (name, scale) in [("--min-scale", minScale), ("--max-scale", maxScale)] {
                guard scale ?? 1 > 0 else { throw ValidationError("\(name) is a number greater than 0.") }
            }
        }

        func run() async throws {
            try await runVerb {
                let item = try await place.named(map, .webMap)
                var order = MapAreaMaker.Order(title: title, area: try DegreeBox(area).envelope)
                order.snippet = snippet ?? ""
                order.tags = (tags ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                (order.minScale, order.maxScale) = (minScale, maxScale)
                let outcome = try await Interruption.cancelling { [order] in
                    try await MapAreaMaker(map: item, progress: AreaProgress.show).create(order)
                }
                try AreaProgress.print(outcome, "Prepared", format)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the areas of a web map: id, title, state, when it was prepared, size of its features.")
        @Argument(help: "The address of the map's item; with --to also its id or its title.") var map: String
        @OptionGroup var place: MapItemPlace
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let task = OfflineMapTask(portalItem: try await place.named(map, .webMap))
                var (rows, list): ([[String]], [JSONValue]) = ([], [])
                for area in try await task.preplannedMapAreas {
                    // One that is being made has no files yet.
                    var problem: String?
                    do {
                        try await area.load()
                    } catch let error as MappingError {
                        problem = error.details
                    }
                    let id = area.portalItem.id?.rawValue ?? ""
                    let state = area.packagingStatus?.rawValue ?? "unknown"
                    let made = area.packagingDate.map { $0.formatted(.iso8601) } ?? ""
                    rows.append([
                        id, area.portalItem.title, state, made.isEmpty ? "-" : made,
                        area.contentSize.map { "\(($0 + 1_023) / 1_024) KB" } ?? "-",
                    ])
                    list.append([
                        "id": .string(id), "title": .string(area.portalItem.title), "state": .string(state),
                        "made": .string(made), "bytes": area.contentSize.map { .integer($0) } ?? .null,
                        "problem": JSONValue(problem),
                    ])
                }
                if list.isEmpty { Terminal.error("The map has no prepared areas.") }
                try format.print(.array(list), rows: rows, titles: ["id", "title", "state", "prepared", "features"])
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prepare an area anew, from what the services have now.",
            discussion: """
                Crews that have the area go on with what they have, and synchronise as before; crews that come get the newer files. \
                Areas with --scheduled-updates take over what has changed when they are updated next: run this command at the times \
                of your schedule, from cron for example. \
                An area that nobody has downloaded for half a year should be prepared anew: its first synchronisation would \
                bring all features once more.
                """)
        @Argument(help: "The address of the area's item; with --to also its id or its title.") var area: String
        @OptionGroup var place: MapItemPlace
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let item = try await place.named(area, .mapArea)
                let map = try await place.map(of: item)
                let outcome = try await Interruption.cancelling {
                    try await MapAreaMaker(map: map, progress: AreaProgress.show)
                        .update(PreplannedMapArea(portalItem: item))
                }
                try AreaProgress.print(outcome, "Prepared anew", format)
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an area with its files. Crews that have it go on with what they have.")
        @Argument(help: "The address of the area's item; with --to also its id or its title.") var area: String
        @OptionGroup var place: MapItemPlace

        func run() async throws {
            try await runVerb {
                let item = try await place.named(area, .mapArea)
                try await MapAreaMaker(map: try await place.map(of: item)).delete(PreplannedMapArea(portalItem: item))
                Terminal.output("Deleted \(item.title)")
            }
        }
    }
}
