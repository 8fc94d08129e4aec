import ArgumentParser
import FieldworkPortal
import FieldworkServer
import Foundation

/// A provider of sign-ins, by OpenID Connect.
struct ProviderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Let people sign in by this provider of OpenID Connect: its address, as its tokens name it.",
            valueName: "address"))
    var openidIssuer: String?

    @Option(help: ArgumentHelp("How the provider knows this server.", valueName: "id"))
    var openidClientId: String?

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the secret that the provider has given this server; none where it has given none.",
            valueName: "file"))
    var openidClientSecretFile: String?

    @Option(help: ArgumentHelp("What the sign-in page calls the provider; its host by default.", valueName: "name"))
    var openidName: String?

    @Option(
        help: ArgumentHelp(
            "Give people who come for the first time this role: viewer, editor, user, publisher or one of the organisation's."
                + " Without it only people are let in whom fieldwork users link has linked.", valueName: "role"))
    var openidNewcomers: String?

    @Option(
        help: ArgumentHelp(
            "Certificates in PEM of authorities that are trusted for the provider besides those of the system.",
            valueName: "file"))
    var openidCaCertificate: String?

    func validate() throws {
        guard (openidIssuer == nil) == (openidClientId == nil) else {
            throw ValidationError("--openid-issuer and --openid-client-id go together.")
        }
        let others = [openidClientSecretFile, openidName, openidNewcomers, openidCaCertificate]
        guard openidIssuer != nil || others.allSatisfy({ $0 == nil }) else {
            throw ValidationError("The options of a provider go with --openid-issuer.")
        }
    }

    /// - Parameter portal: knows the role, and the people to whom a provider adds others.
    func settings(_ portal: Portal?) async throws -> ProviderSettings? {
        guard let openidIssuer, let openidClientId else { return nil }
        guard let portal, try await portal.hasPeople() else {
            throw CommandFailure(
                .unavailable,
                "Nobody signs in to a server without people. fieldwork users add NAME --role administrator adds the first one."
            )
        }
        var newcomers: Role?
        if let openidNewcomers { newcomers = try await portal.role(openidNewcomers) }
        let authorities = openidCaCertificate.map { URL(filePath: ($0 as NSString).expandingTildeInPath) }
        if let authorities { try Self.requireReadable(authorities) }
        do {
            return try ProviderSettings(
                issuer: openidIssuer, clientID: openidClientId, clientSecret: try secret(), label: openidName,
                newcomers: newcomers, authorities: authorities)
        } catch let error as PortalError {
            throw CommandFailure(.badData, "--openid-issuer: \(error.message)")
        }
    }

    private func secret() throws -> String? {
        guard let openidClientSecretFile else { return nil }
        let file = URL(filePath: (openidClientSecretFile as NSString).expandingTildeInPath)
        try Self.requireReadable(file)
        let text = String(decoding: try Data(contentsOf: file).prefix(64 << 10), as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isNewline).first, !line.isEmpty else {
            throw CommandFailure(.badData, "\(file.path) has no secret in its first line.")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int ?? 0
        if mode & 0o007 != 0 {
            Terminal.error("Warning: every user of this machine may read the secret in \(file.path).")
        }
        return String(line)
    }

    private static func requireReadable(_ file: URL) throws {
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw CommandFailure(.noInput, "\(file.path) is not there, or can't be read.")
        }
    }
}
