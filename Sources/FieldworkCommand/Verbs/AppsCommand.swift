import ArgumentParser
import FieldworkGeometry
import FieldworkPortal

/// `fieldwork apps`.
struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Manage the applications that people may sign in to.",
        discussion: """
            A registered application has an id, a secret and the addresses that people are sent back to. Applications on a \
            person's device use the id alone, with PKCE. The clients of QGIS, of the vendor's Python API and of Fieldwork are \
            known without registration.

            EXAMPLES
              fieldwork apps add Reports --owner ana --redirect https://reports.example/signed-in
              fieldwork apps add "Tree counter" --owner ana --redirect http://127.0.0.1 --redirect org.example.trees://auth
              fieldwork apps list
              fieldwork apps remove Reports
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register an application. Its secret is shown this once; a hash of it is kept.")
        @Argument(help: "The title of the application.") var title: String
        @Option(help: ArgumentHelp("Who owns it.", valueName: "name")) var owner: String
        @Option(
            help: ArgumentHelp(
                "An address that people are sent back to: https://…, http://127.0.0.1 with any port, or a scheme of the"
                    + " application's own. May be given several times.", valueName: "address"))
        var redirect: [String] = []
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    let made = try await portal.addApp(
                        title: title, redirects: redirect, owner: owner, for: .everybody, by: .commandLine)
                    Terminal.output("id      \(made.app.client.id)\nsecret  \(made.secret)")
                    Terminal.error(
                        "The secret is not kept: note it now. The item of the application is \(made.app.item).")
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the applications with their redirect addresses.")
        @OptionGroup var place: PortalOption
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let apps = try await place.withPortal { try await AppsCommand.all($0).map(\.client) }
                try format.print(
                    .array(
                        apps.map {
                            [
                                "id": .string($0.id), "title": .string($0.title), "owner": .string($0.owner),
                                "redirects": .array($0.redirects.map(JSONValue.string)),
                            ]
                        }),
                    apps.flatMap { app in
                        ["\(app.id)  \(app.title)  \(app.owner)"] + app.redirects.map { "  \($0)" }
                    })
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an application with its item, and end every token that it was given.")
        @Argument(help: "The id of the application, or its title.") var app: String
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { portal in
                    let found = try await AppsCommand.all(portal).filter {
                        $0.client.id == app || $0.client.title == app
                    }
                    guard let one = found.first else {
                        throw CommandFailure(.noInput, "There is no application '\(app)'.")
                    }
                    guard found.count == 1 else {
                        throw CommandFailure(
                            .badData, "There are \(found.count) applications '\(app)'. Name one by its id.")
                    }
                    try await portal.removeItem(one.item, services: [], for: .everybody, by: .commandLine)
                    Terminal.output("\(one.client.title) is no application any more.")
                }
            }
        }
    }

    private static func all(_ portal: Portal) async throws -> [RegisteredApp] {
        var apps: [RegisteredApp] = []
        while true {
            let page = try await portal.apps(from: apps.count, for: .everybody)
            apps += page.apps
            if page.apps.isEmpty || apps.count >= page.total { return apps }
        }
    }
}
