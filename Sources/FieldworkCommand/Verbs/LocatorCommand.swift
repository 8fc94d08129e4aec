import ArgumentParser
import FieldworkLocator
import FieldworkPublishing
import Foundation

/// `fieldwork locator`: search for addresses.
struct LocatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locator", abstract: "Make locators, which find addresses and places, and look how good they are.",
        discussion: """
            A locator is one file, NAME.locator, beside the services. A server shows it as …/rest/services/NAME/GeocodeServer,
            also while it runs; an app takes the file along.

            EXAMPLES
              fieldwork locator make norway.osm.pbf --name Norway
              fieldwork locator make addresses.csv --name City --field number=HNR --field street=STRASSE --country DE
              fieldwork locator make openaddresses.geojson streets.gpkg --name County
              fieldwork locator make --service Trees/Addresses --name Trees
              fieldwork locator update Trees
              fieldwork locator cut Norway --area 10.6,59.8,10.9,60.0 --to oslo.locator
              fieldwork locator test Norway
            """,
        subcommands: [Make.self, Update.self, Add.self, List.self, Remove.self, Cut.self, Test.self])

    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a locator of files of addresses, streets and places, or of a layer.",
            discussion: """
                Reads OpenStreetMap extracts (.osm.pbf), tables (.csv), GeoJSON (.geojson, also a feature a line, as OpenAddresses
                has it), the latter two also packed (.gz), and through ogr2ogr, where it is installed, GeoPackages, shapefiles and
                others. Points with a number are addresses, lines are streets, points and areas with a name are places.

                Columns are known by their usual names; --field says what others are: number, street, unit, address,
                neighborhood, city, subregion, region, postal, country, name, otherNames, type, population, leftFrom, leftTo, rightFrom,
                rightTo, x, y. A column address has the number and the street in one.

                --service takes the features of a layer instead: of a service in the folder (Service, Service/0, Service/Name),
                in a database (--store), or at an address. Coded values go by their names. The locator remembers its layer: fieldwork locator update makes
                it again when the layer has changed.

                A locator of that name is replaced when the new one is whole: a server that runs answers from the new one with
                its next request. An interruption leaves it as it was; the same command goes on with what was read of the files.

                EXAMPLES
                  fieldwork locator make san-francisco.osm.pbf --name SanFrancisco
                  fieldwork locator make city.csv --name City --field x=LON --field y=LAT --city Freiburg --country DE
                  fieldwork locator make --service City/Buildings --name City --field number=NR --field street=STR
                """)

        @Argument(help: "The files to make it of.")
        var files: [String] = []

        @Option(
            help: ArgumentHelp(
                "The layer to make it of, in place of files: Service/Layer in the folder of services, or an address.",
                valueName: "layer"))
        var service: String?

        @Option(help: "The name of the locator: letters, digits, _ and -.")
        var name: String

        @Option(
            help: ArgumentHelp(
                "What a column is, such as number=HNR. May be given several times.", valueName: "role=column"))
        var field: [String] = []

        @Option(help: "The town of rows that don't say it.")
        var city = ""

        @Option(help: "The state or province of rows that don't say it.")
        var region = ""

        @Option(help: "The country of rows that don't say it, as its code: US, DE.")
        var country = ""

        @OptionGroup var data: DataOption

        @OptionGroup var database: StoreOption

        func validate() throws {
            guard files.isEmpty == (service != nil) else {
                throw ValidationError("Name the files to make the locator of, or a layer with --service.")
            }
            guard service != nil || database.store == nil else { throw ValidationError("--store goes with --service.") }
            try LocatorCommand.check(name)
            _ = try roles()
        }

        private func roles() throws -> [FieldMap.Role: String] {
            var roles: [FieldMap.Role: String] = [:]
            for pair in field {
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, let role = FieldMap.Role(rawValue: parts[0]) else {
                    let known = FieldMap.Role.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("--field is ROLE=COLUMN with one of these roles: \(known).")
                }
                roles[role] = parts[1]
            }
            return roles
        }

        func run() async throws {
            try await runVerb {
                let zone = AddressZone(city: city, region: region, country: country)
                if let service {
                    let layer = LocatorLayer(layer: service, roles: try roles(), zone: zone)
                    let place = ServicePlace(folder: data.url, database: database.store)
                    let (name, folder) = (name, data.url)
                    Terminal.output(
                        try await Interruption.cancelling { try await layer.make(name, in: folder, from: place) })
                    return
                }
                let sources = LocatorSources(chosen: try roles(), zone: zone)
                let inputs = files.map { URL(filePath: ($0 as NSString).expandingTildeInPath) }
                let (name, folder) = (name, data.url)
                try await Interruption.cancelling {
                    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                    let maker = LocatorMaker(name: name, target: LocatorFile.url(name: name, in: folder))
                    let made = try await maker.make(fingerprint: sources.fingerprint(of: inputs)) { builder in
                        for input in inputs { try await sources.read(input, into: builder) }
                    }
                    Terminal.output(made)
                }
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put a locator file beside the services.",
            discussion: """
                The file is looked at before, and is there whole or not at all.

                EXAMPLES
                  fieldwork locator add ~/Downloads/Norway.locator
                  fieldwork locator add area.locator --name Area
                """)

        @Argument(help: "The locator file.")
        var file: String

        @Option(help: "The name that it gets; by default the file's.")
        var name: String?

        @OptionGroup var data: DataOption

        func run() async throws {
            try await runVerb {
                let source = URL(filePath: (file as NSString).expandingTildeInPath)
                let name = name ?? source.deletingPathExtension().lastPathComponent
                try LocatorCommand.check(name)
                let locator = try await Locator.open(source, readers: 1)
                let count = locator.information.addressCount
                await locator.close()
                try FileManager.default.createDirectory(at: data.url, withIntermediateDirectories: true)
                let target = LocatorFile.url(name: name, in: data.url)
                let copy = data.url.appending(path: ".\(name)-\(UUID().uuidString)", directoryHint: .notDirectory)
                defer { try? FileManager.default.removeItem(at: copy) }
                try FileManager.default.copyItem(at: source, to: copy)
                try DurableFile.place(copy, at: target)
                Terminal.output("Added \(name): \(Counted.text(count, "address", "addresses"))")
            }
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Look whether a locator finds each of its addresses.",
            discussion: """
                Searches for every address by its label, and for the address of its place. Prints how many were found, how fast,
                and examples of those that were not.

                EXAMPLES
                  fieldwork locator test Norway
                  fieldwork locator test ./Norway.locator --most 10000
                """)

        @Argument(help: "The name of a locator beside the services, or a file.")
        var locator: String

        @Option(help: "How many addresses are looked for at most.")
        var most = 100_000

        @OptionGroup var data: DataOption

        func run() async throws {
            try await runVerb {
                let url = LocatorCommand.file(locator, in: data)
                let most = most
                try await Interruption.cancelling { try await LocatorTrial.run(url, most: most) }
            }
        }
    }

    static func check(_ name: String) throws {
        guard LocatorFile.isName(name) else {
            throw ValidationError("A locator's name begins with a letter and has letters, digits, _ and -.")
        }
    }

    /// The file of a locator that is named by its file or by its name beside the services.
    static func file(_ locator: String, in data: DataOption) -> URL {
        locator.hasSuffix(".\(LocatorFile.pathExtension)")
            ? URL(filePath: (locator as NSString).expandingTildeInPath) : LocatorFile.url(name: locator, in: data.url)
    }
}
