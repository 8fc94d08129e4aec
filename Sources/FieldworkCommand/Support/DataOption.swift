import ArgumentParser
import Foundation

/// Where the services lie.
struct DataOption: ParsableArguments {
    static let usual = "Fieldwork-data"

    @Option(
        help: ArgumentHelp(
            "The folder of the services, a GeoPackage each; \(Self.usual) in the working folder by default.",
            valueName: "dir"))
    var data: String?

    var url: URL {
        URL(filePath: ((data ?? Self.usual) as NSString).expandingTildeInPath, directoryHint: .isDirectory)
    }
}

/// Where a server listens.
struct ListenOptions: ParsableArguments {
    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 8080

    @Option(help: "The address to listen on. Others than 127.0.0.1 are reached from other machines.")
    var host = "127.0.0.1"

    @Flag(help: "Ask nobody to sign in, on an address that other machines reach, where there are no people.")
    var open = false

    @Option(help: "The first part of every address of the protocol.")
    var instance = "arcgis"

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        guard !instance.isEmpty, instance.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D }) else {
            throw ValidationError("The instance is a word of letters.")
        }
    }

    /// The host as the system takes it: `[::1]` is how addresses write it.
    var plainHost: String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(plainHost) }

    /// How a program on this machine addresses the server.
    var ownHost: String {
        switch plainHost {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: plainHost.contains(":") ? "[\(plainHost)]" : plainHost
        }
    }

    /// The root of the services, for a port that the server was given.
    func servicesAddress(port: Int, scheme: String = "http") -> String {
        "\(scheme)://\(ownHost):\(port)/\(instance)/rest/services"
    }

    /// The portal's first page.
    func portalAddress(port: Int) -> String { "http://\(ownHost):\(port)/\(instance)/home" }
}
