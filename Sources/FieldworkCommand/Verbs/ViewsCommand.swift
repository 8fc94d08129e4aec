import ArgumentParser
import FieldworkPortal
import FieldworkPublishing
import FieldworkREST
import FieldworkStore

/// `fieldwork views`.
struct ViewsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views", abstract: "Make and change views: services that show a part of another one.",
        discussion: """
            A view has no features of its own. It shows layers of a service with fewer fields, only the features that a \
            condition chooses, and fewer capabilities; what is edited through it is edited in the service. Share the view with \
            those who are to see it (fieldwork share), and the service with those who may see all of it.

            An edit may make a feature leave the view: it is saved, and the view shows the feature no more.

            EXAMPLES
              fieldwork views add Trees --name PublicTrees --hide owner,notes --where "status = 'open'" --capabilities Query
              fieldwork views add Reports --name MyReports --layer Reports --fields kind,photo,reported
              fieldwork share PublicTrees --everyone
              fieldwork views change PublicTrees --where "status <> 'secret'"
              fieldwork views show PublicTrees
              fieldwork views remove PublicTrees
            """,
        subcommands: [Add.self, Change.self, List.self, Show.self, Remove.self])

    /// What a view shows, as options.
    struct Shown: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "A layer or table of the view, by its name or id; all of them without this option. May be given several times."
                    + " --fields, --hide and --where are about the layers that are named.",
                valueName: "layer"))
        var layer: [String] = []
        @Option(
            help: ArgumentHelp(
                "The fields that are shown, beside the ids and the geometry: separated by commas. 'all' shows all.",
                valueName: "names"))
        var fields: String?
        @Option(
            help: ArgumentHelp(
                "The fields that are hidden; the service's later ones are hidden too.", valueName: "names"))
        var hide: String?
        @Option(
            name: .customLong("where"),
            help: ArgumentHelp(
                "The features that are shown, as a condition on any field of the layer; '1=1' for all.",
                valueName: "condition"))
        var condition: String?
        @Option(
            help: ArgumentHelp(
                "What the view allows, of what its service allows: Query, Create, Update, Delete, Editing, Sync, Extract. Separated"
                    + " by commas.", valueName: "names"))
        var capabilities: String?

        func validate() throws {
            if fields != nil, hide != nil { throw ValidationError("Say --fields or --hide, not both.") }
        }

        /// The layers that are meant.
        func layers(of source: ServiceDefinition) throws -> [LayerDefinition] {
            guard !layer.isEmpty else { return source.layers }
            return try layer.map { name in
                guard let found = source.layers.first(where: { String($0.id) == name || $0.name == name }) else {
                    throw CommandFailure(.noInput, "\(source.name.path) has no layer '\(name)'.")
                }
                return found
            }
        }

        func apply(to part: inout ViewLayer, _ layer: LayerDefinition) throws {
            if let fields {
                part.fields = fields.lowercased() == "all" ? nil : try Self.names(fields, layer)
            } else if let hide {
                let hidden = Set(try Self.names(hide, layer))
                part.fields = layer.fields.map(\.name).filter { !hidden.contains($0) }
            }
            guard let condition else { return }
            part.filter = condition.isEmpty ? nil : condition
            do throws(ServiceError) {
                // A condition without effect is none.
                if try part.condition(in: layer) == nil { part.filter = nil }
            } catch {
                throw CommandFailure(.badData, "\(layer.name): \(error.details.first ?? error.message)")
            }
        }

        func set() throws -> Set<Capability>? {
            guard let capabilities else { return nil }
            let words = Self.words(capabilities)
            for word in words where Set<Capability>(text: word).isEmpty {
                throw CommandFailure(.badData, "There is no capability '\(word)'.")
            }
            return Set(text: words.joined(separator: ","))
        }

        private static func words(_ text: String) -> [String] {
            text.split(separator: ",").map { String($0.trimmingPrefix { $0 == " " }) }.map { word in
                String(word.reversed().drop { $0 == " " }.reversed())
            }
        }

        private static func names(_ text: String, _ layer: LayerDefinition) throws -> [String] {
            try words(text).map { name in
                guard let field = layer.field(named: name) else {
                    throw CommandFailure(.badData, "The layer \(layer.name) has no field '\(name)'.")
                }
                return field.name
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a view of a service. Its owner alone sees it at first.")
        @Argument(help: "The path of the service.") var service: String
        @Option(help: ArgumentHelp("The name of the view, which must be free.", valueName: "name")) var name: String
        @Option(help: ArgumentHelp("Who owns the view; the owner of the service without it.", valueName: "person"))
        var owner: String?
        @Option(help: ArgumentHelp("What the view is for.", valueName: "text")) var description: String = ""
        @OptionGroup var shown: Shown
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                let (source, names) = try await place.withServices { store in
                    let names = try await store.serviceNames()
                    guard let found = names.first(where: { $0.path.lowercased() == service.lowercased() }) else {
                        throw CommandFailure(.noInput, "There is no service '\(service)'.")
                    }
                    return (try await store.service(found), names)
                }
                guard (try? GeoPackageStore.place(of: ServiceName(name: name), in: place.data.url)) != nil else {
                    throw CommandFailure(.badData, "'\(name)' can't be the name of a service.")
                }
                guard !names.contains(where: { $0.path.lowercased() == name.lowercased() }) else {
                    throw CommandFailure(.cannotCreate, "There is a service '\(name)'.")
                }
                var view = ServiceView(name: ServiceName(name: name), source: source.name, description: description)
                view.capabilities = try shown.set()
                view.layers = try shown.layers(of: source).map { layer in
                    var part = ViewLayer(id: layer.id)
                    try shown.apply(to: &part, layer)
                    return part
                }
                try ViewsCommand.requireLayers(view, source)
                try await place.withPortal { [view] portal in
                    try await portal.addServiceItems([source.name.path])
                    guard try await portal.view(name) == nil else {
                        throw CommandFailure(.cannotCreate, "There is a view '\(name)'.")
                    }
                    let ownerOfService = try await portal.item(ofService: source.name.path)?.owner
                    guard let person = owner ?? ownerOfService else {
                        throw CommandFailure(
                            .noInput, "A view belongs to a person, and there is none yet: fieldwork users add.")
                    }
                    var change = ItemChange()
                    if !description.isEmpty { change.description = description }
                    let item = try await portal.addServiceItem(
                        name, change, owner: person, view: view, for: .everybody, by: .commandLine)
                    Terminal.output("\(name) shows \(Counted.text(view.layers.count, "layer")) of \(source.name.path)")
                    Terminal.error(
                        "\(person) alone sees it until it is shared: fieldwork share \(name). The item is \(item.id).")
                }
            }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Change what a view shows. Devices that have taken it offline get their features anew with the next sync."
        )
        @Argument(help: "The name of the view.") var view: String
        @OptionGroup var shown: Shown
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                let capabilities = try shown.set()
                try await place.withPortal { portal in
                    guard let known = try await portal.view(view), let name = known.source else {
                        throw CommandFailure(.noInput, "There is no view '\(view)' with layers.")
                    }
                    let source = try await place.withServices { try await $0.service(name) }
                    let layers = try shown.layers(of: source)
                    let changed = try await portal.changeView(view, by: .commandLine) { view in
                        if let capabilities { view.capabilities = capabilities }
                        for layer in layers {
                            guard let index = view.layers.firstIndex(where: { $0.id == layer.id }) else {
                                // All layers are meant where none is named, and the view has some of them.
                                if shown.layer.isEmpty { continue }
                                var part = ViewLayer(id: layer.id)
                                try shown.apply(to: &part, layer)
                                view.layers.append(part)
                                continue
                            }
                            try shown.apply(to: &view.layers[index], layer)
                        }
                        try ViewsCommand.requireLayers(view, source)
                    }
                    Terminal.output("\(changed.name.path) is changed")
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the views with their services.")
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    for view in try await portal.views().values.sorted(by: { $0.name.path < $1.name.path }) {
                        Terminal.output("\(view.name.path)  \(view.source?.path ?? "(no layers yet)")")
                    }
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Say what a view shows.")
        @Argument(help: "The name of the view.") var view: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    guard let view = try await portal.view(view) else {
                        throw CommandFailure(.noInput, "There is no view '\(view)'.")
                    }
                    Terminal.output("service       \(view.source?.path ?? "(no layers yet)")")
                    Terminal.output("capabilities  \(view.capabilities?.text ?? "those of the service")")
                    for layer in view.layers {
                        Terminal.output("layer         \(layer.id)")
                        Terminal.output("  fields      \(layer.fields?.joined(separator: ", ") ?? "all")")
                        Terminal.output("  where       \(layer.filter ?? "1=1")")
                    }
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a view with its item. The service and its features stay.")
        @Argument(help: "The name of the view.") var view: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    guard let known = try await portal.view(view) else {
                        throw CommandFailure(.noInput, "There is no view '\(view)'.")
                    }
                    guard let item = try await portal.item(ofService: known.name.path) else {
                        throw CommandFailure(.noInput, "The view '\(view)' has no item.")
                    }
                    try await portal.removeItem(item.id, services: [], for: .everybody, by: .commandLine)
                    Terminal.output("\(known.name.path) is removed")
                }
            }
        }
    }

    /// A view that hides what decides who may see a feature would have to show nothing: that is told when it is made.
    private static func requireLayers(_ view: ServiceView, _ source: ServiceDefinition) throws {
        let shown = Set(view.definition(of: source).layers.map(\.id))
        guard let missing = view.layers.first(where: { !shown.contains($0.id) }) else { return }
        let name = source.layer(id: missing.id)?.name ?? "\(missing.id)"
        throw CommandFailure(
            .badData,
            "The layer \(name) can't be shown so: each person sees only some of its features, which its creator's field decides."
        )
    }
}
