import ArgumentParser
import FieldworkPortal
import Foundation

/// A link by which a person chooses a password, in place of one that somebody else has typed.
struct LinkOption: ParsableArguments {
    @Option(
        name: .customLong("link"),
        help: ArgumentHelp(
            "Ask for no password: print a link, good once, by which the person chooses one. The address is that of the server, with its"
                + " instance: http://127.0.0.1:6080/arcgis.", valueName: "address"))
    var server: String?

    var isWanted: Bool { server != nil }

    func validate() throws {
        guard let server else { return }
        guard let url = URL(string: server), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            url.host()?.isEmpty == false, url.query() == nil, url.fragment() == nil
        else { throw ValidationError("--link is the address of a server: https://maps.example/arcgis") }
    }

    /// Prints the link, where one is wanted.
    func print(for name: String, _ portal: Portal) async throws {
        guard var address = server else { return }
        while address.hasSuffix("/") { address.removeLast() }
        let issued = try await portal.invite(name, by: .commandLine)
        Terminal.output("\(address)/home/welcome?code=\(issued.token)")
        Terminal.error("The link is good once, for three days. Whoever has it chooses the password.")
    }
}
