import ArgumentParser
import FieldworkGeometry
import FieldworkLocator
import FieldworkPublishing
import Foundation

/// Looking after the locators that are there.
extension LocatorCommand {
    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make locators again whose layers have changed.",
            discussion: """
                A locator that was made with --service knows its layer, and how far the layer's change log was then. When the
                log has gone on, the locator is made again; a server that runs answers from the new one with its next request.
                One whose layer keeps no log is always made again. Locators of files are left as they are. --store says where
                the layers are, of locators that were made with it.

                EXAMPLES
                  fieldwork locator update City
                  fieldwork locator update
                """)

        @Argument(help: "The locator's name; all that were made of layers, if none is given.")
        var name: String?

        @OptionGroup var data: DataOption

        @OptionGroup var database: StoreOption

        func run() async throws {
            try await runVerb {
                if let name { try LocatorCommand.check(name) }
                let (folder, wanted) = (data.url, name)
                let place = ServicePlace(folder: folder, database: database.store)
                try await Interruption.cancelling {
                    let names = wanted.map { [$0] } ?? LocatorCommand.names(in: folder)
                    for name in names {
                        let url = LocatorFile.url(name: name, in: folder)
                        guard let layer = try LocatorLayer(ofLocator: url) else {
                            guard wanted == nil else {
                                throw CommandFailure(
                                    .badData, "\(name) was made of files. fieldwork locator make makes it again.")
                            }
                            continue
                        }
                        Terminal.output(try await layer.update(name, in: folder, from: place))
                    }
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the locators beside the services.",
            discussion: """
                Each with its addresses, its size, when it was made and of which layer.

                EXAMPLES
                  fieldwork locator list --data ~/fieldwork
                """)

        @OptionGroup var data: DataOption

        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                var (lines, list): ([String], [JSONValue]) = ([], [])
                for name in LocatorCommand.names(in: data.url) {
                    let url = LocatorFile.url(name: name, in: data.url)
                    do {
                        let locator = try await Locator.open(url, readers: 1)
                        let about = locator.information
                        await locator.close()
                        let bytes = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
                        let layer = LocatorLayer(origin: about.origin)?.layer
                        let addresses = Counted.text(about.addressCount, "address", "addresses")
                        lines.append(
                            "\(name)  \(addresses)  \(bytes / 1_024) KB  made \(about.made)\(layer.map { ", of \($0)" } ?? "")"
                        )
                        list.append([
                            "name": .string(name), "addresses": JSONValue(about.addressCount),
                            "bytes": JSONValue(bytes),
                            "made": .string(about.made), "layer": layer.map(JSONValue.string) ?? .null,
                        ])
                    } catch let error as LocatorError {
                        lines.append("\(name)  can't be used: \(error.message)")
                        list.append(["name": .string(name), "problem": .string(error.message)])
                    }
                }
                try format.print(.array(list), lines)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop serving a locator and delete its file.",
            discussion: """
                A server that runs notices with its next request. The locator's item in the portal stays: a locator of the same
                name is shared with the same people again.

                EXAMPLES
                  fieldwork locator remove Norway
                """)

        @Argument(help: "The locator's name.")
        var name: String

        @OptionGroup var data: DataOption

        func run() async throws {
            try await runVerb {
                try LocatorCommand.check(name)
                let url = LocatorFile.url(name: name, in: data.url)
                guard FileManager.default.fileExists(atPath: url.path) else {
                    throw CommandFailure(.noInput, "There is no locator \(name) in \(data.url.path).")
                }
                try FileManager.default.removeItem(at: url)
                try DurableFile.sync(data.url)
                Terminal.output("Removed \(name)")
            }
        }
    }

    struct Cut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the part of a locator for an area into a file of its own.",
            discussion: """
                For work without a network: the part has the addresses, streets and places of the area and of a kilometre around
                it. Put the file beside a GeoPackage that is opened with fieldwork collect, and its addresses are found there.

                EXAMPLES
                  fieldwork locator cut Norway --area 10.6,59.8,10.9,60.0 --to oslo.locator
                """)

        @Argument(help: "The name of a locator beside the services, or a file.")
        var locator: String

        @Option(help: ArgumentHelp("The area in degrees: west, south, east and north.", valueName: "w,s,e,n"))
        var area: String

        @Option(help: ArgumentHelp("The file to write.", valueName: "file"))
        var to: String

        @Flag(help: "Replace the file when it is there.")
        var overwrite = false

        @OptionGroup var data: DataOption

        private var box: LocatorOptions.Extent? {
            let numbers = area.split(separator: ",").map { Double($0.filter { $0 != " " }) }
            guard numbers.count == 4, let west = numbers[0], let south = numbers[1], let east = numbers[2],
                let north = numbers[3], west < east, south < north
            else { return nil }
            return LocatorOptions.Extent(xMin: west, yMin: south, xMax: east, yMax: north)
        }

        func validate() throws {
            guard box != nil else {
                throw ValidationError("--area is west,south,east,north in degrees: 10.6,59.8,10.9,60.0.")
            }
            guard to.hasSuffix(".\(LocatorFile.pathExtension)") else {
                throw ValidationError("The file has to end in .\(LocatorFile.pathExtension).")
            }
        }

        func run() async throws {
            try await runVerb {
                let source = LocatorCommand.file(locator, in: data)
                let target = URL(filePath: (to as NSString).expandingTildeInPath)
                guard overwrite || !FileManager.default.fileExists(atPath: target.path) else {
                    throw CommandFailure(.cannotCreate, "\(target.path) is there already; --overwrite replaces it.")
                }
                guard let box else { return }
                let count = try await Interruption.cancelling {
                    let shown = ShownProgress()
                    defer { shown.end() }
                    return try LocatorCut.make(of: source, area: box, at: target) { shown.show($0.step, $0.count) }
                }
                let bytes = (try? FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int) ?? 0
                Terminal.output(
                    "Wrote \(Counted.text(count, "address", "addresses")) to \(target.path), \(bytes / 1_024) KB")
            }
        }
    }

    /// The names of the locators beside the services, in their order.
    static func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { !$0.hasPrefix(".") && $0.hasSuffix(".\(LocatorFile.pathExtension)") }
            .map { String($0.dropLast(LocatorFile.pathExtension.count + 1)) }.sorted()
    }
}
