import ArgumentParser
import FieldworkServer
import Foundation

/// Under which names a server answers, and to pages of which sites.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A further name by which clients reach the server. May be given several times.", valueName: "name"))
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "A site whose pages may read, such as https://maps.example, or '*' for all. May be given several times.",
            valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "A site whose pages may read and edit. May be given several times.", valueName: "origin"))
    var allowOriginEdits: [String] = []

    @Option(
        help: ArgumentHelp(
            "The address under which clients reach the server, where it stands behind another.", valueName: "address"))
    var publicAddress: String?

    @Option(
        help: ArgumentHelp(
            "A proxy whose X-Forwarded-For, -Proto and -Host are believed, or a network of them (10.0.0.0/8). May be"
                + " given several times.", valueName: "address"))
    var trustedProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Show /metrics also to other machines, if they have the key of this file; see fieldwork service key.",
            valueName: "file"))
    var metricsKeyFile: String?

    private static let everyone = "*"

    func validate() throws {
        for name in allowHost where HostName(name) == nil {
            throw ValidationError("--allow-host takes a name such as gis.example, not '\(name)'.")
        }
        for origin in allowOrigin where origin != Self.everyone && SiteOrigin(origin) == nil {
            throw ValidationError("--allow-origin takes an origin such as https://maps.example, not '\(origin)'.")
        }
        for origin in allowOriginEdits where SiteOrigin(origin) == nil {
            throw ValidationError(
                "--allow-origin-edits takes an origin such as https://maps.example, not '\(origin)'."
                    + (origin == Self.everyone ? " Not all sites may edit." : ""))
        }
        if let publicAddress, PublicAddress(publicAddress) == nil {
            throw ValidationError(
                "--public-address takes an address such as https://gis.example/field, not '\(publicAddress)'.")
        }
        for proxy in trustedProxy where NetworkRange(proxy) == nil {
            throw ValidationError("--trusted-proxy takes an address such as 10.0.0.7 or 10.0.0.0/8, not '\(proxy)'.")
        }
    }

    func rules() throws -> AccessRules {
        AccessRules(
            hosts: allowHost.compactMap { HostName($0) }, readers: Set(allowOrigin.compactMap { SiteOrigin($0) }),
            isReadByAll: allowOrigin.contains(Self.everyone),
            editors: Set(allowOriginEdits.compactMap { SiteOrigin($0) }),
            publicAddress: publicAddress.flatMap { PublicAddress($0) },
            proxies: trustedProxy.compactMap { NetworkRange($0) }, metricsKey: try Self.key(in: metricsKeyFile))
    }

    /// The key whose hash is in a file.
    static func key(in path: String?) throws -> AdministrationKey? {
        guard let path else { return nil }
        let url = URL(filePath: (path as NSString).expandingTildeInPath)
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read.")
        }
        do {
            return try AdministrationKey(file: url)
        } catch let error as AdministrationKey.MalformedFile {
            throw CommandFailure(
                .badData, "\(error.path) holds no hash of a key. fieldwork service key makes such a file.")
        }
    }
}
