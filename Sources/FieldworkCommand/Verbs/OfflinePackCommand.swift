import ArgumentParser
import Fieldwork
import Foundation

/// `fieldwork offline pack`.
struct OfflinePackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack", abstract: "Write a map package into one file.",
        discussion: """
            The file is a zip file whose files are stored as they are: to be copied to other devices, which read it where it lies, or \
            make the folder of it again to edit it (`fieldwork offline unpack`). It appears when it is complete.

            A package that is synchronised is one device of its services and is not copied: take the map with --no-updates, or prepare \
            an area for many devices (`fieldwork areas`).

            EXAMPLES
              fieldwork offline create city.webmap.json --area -122.65,45.55,-122.60,45.58 --no-updates --out city
              fieldwork offline pack city --out city.zip
            """)

    @Argument(help: "The folder of the package.")
    var package: String

    @Option(help: "The file to make.")
    var out: String

    func run() async throws {
        try await runVerb {
            let target = try NewPlace(out).url
            let taken = try await PackageArgument(package).taken()
            defer { taken.end() }
            try await Interruption.cancelling {
                try await PackingProgress.show("Packing") { try await taken.package.pack(to: target, progress: $0) }
            }
            Terminal.output("Wrote \(target.path)")
        }
    }
}

/// `fieldwork offline unpack`.
struct OfflineUnpackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpack", abstract: "Make the folder of a map package that was packed into one file.",
        discussion: """
            The folder appears when all is in it and is what its checksums say.

            EXAMPLES
              fieldwork offline unpack city.zip --out city
            """)

    @Argument(help: "The file.")
    var file: String

    @Option(help: "The folder to make.")
    var out: String

    func run() async throws {
        try await runVerb {
            let target = try NewPlace(out).url
            let source = URL(filePath: (file as NSString).expandingTildeInPath)
            guard FileManager.default.isReadableFile(atPath: source.path) else {
                throw CommandFailure(.noInput, "\(source.path) is not there, or can't be read.")
            }
            try await Interruption.cancelling {
                try await PackingProgress.show("Unpacking") {
                    try await MobileMapPackage.unpack(fileURL: source, outputDirectoryURL: target, progress: $0)
                }
            }
            Terminal.output("Wrote \(target.path)")
        }
    }
}

/// Where something new is made: nothing is there yet, but the folder that it goes into is.
private struct NewPlace {
    let url: URL

    init(_ path: String) throws {
        url = URL(filePath: (path as NSString).expandingTildeInPath)
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw CommandFailure(.cannotCreate, "\(url.path) is there already.")
        }
        let folder = url.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path) else {
            throw CommandFailure(.cannotCreate, "\(folder.path) is not there: make the folder first.")
        }
    }
}

/// Shows how much of a file is written, in hundredths.
private enum PackingProgress {
    static func show(_ title: String, _ work: (@escaping (Double) -> Void) async throws -> Void) async throws {
        let bar = ShownProgress()
        defer { bar.end() }
        try await work { bar.show("\(title), percent", Int($0 * 100)) }
    }
}
