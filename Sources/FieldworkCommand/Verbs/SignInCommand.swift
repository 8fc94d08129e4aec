import ArgumentParser
import Fieldwork
import Foundation

/// `fieldwork sign-in`.
struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in to a portal or server, for the verbs that read services.",
        discussion: """
            The password is asked for on the terminal, or read from standard input where that is no terminal; it is never \
            an argument. With --browser the portal's own page is opened instead, and the command never sees the password.
            The sign-in is kept in a sealed file that only you can read, and renews itself. query, export, offline, sync, \
            services, history, conflicts and replicas use it. `fieldwork sign-out` ends it.

            EXAMPLES
              fieldwork sign-in https://maps.example.org/arcgis --user ana
              fieldwork sign-in https://maps.example.org/arcgis --user ana < password-file
              fieldwork sign-in https://maps.example.org/arcgis --browser
              fieldwork sign-in https://maps.office/arcgis --user ana --ca-certificate office.pem
            """)

    @Argument(help: "The address of the portal or server, or of a service of it.")
    var portal: String

    @Option(help: ArgumentHelp("The name to sign in with.", valueName: "name"))
    var user: String?

    @Flag(help: "Sign in on the portal's page in a browser.")
    var browser = false

    @Option(help: ArgumentHelp("The id under which the portal knows this program, for --browser.", valueName: "id"))
    var clientID = "fieldwork"

    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        if browser, user != nil { throw ValidationError("--user is asked for on the portal's page: leave it out.") }
    }

    func run() async throws {
        try await runVerb {
            try certificates.use()
            guard let url = URL(string: portal), ["http", "https"].contains(url.scheme), url.host() != nil else {
                throw CommandFailure(.noInput, "\(portal) is not the address of a portal or server.")
            }
            let store = try StoredCredentials.open()
            let credential = try await Interruption.cancelling { [self] in
                try await browser ? signInByBrowser(url) : signIn(url)
            }
            store.add(credential)
            guard store.credential(for: credential.url ?? url) === credential else {
                throw CommandFailure(.inputOutput, "The sign-in could not be kept.")
            }
            let name = credential.username.isEmpty ? "" : " as \(credential.username)"
            Terminal.output("Signed in to \((credential.url ?? url).absoluteString)\(name)")
        }
    }

    private func signIn(_ url: URL) async throws -> ArcGISCredential {
        guard let name = user ?? Prompt.line("Name: "), !name.isEmpty else {
            throw CommandFailure(.noInput, "There is no name to sign in with: --user gives it.")
        }
        guard let password = Prompt.secret("Password of \(name): "), !password.isEmpty else {
            throw CommandFailure(.noInput, "There is no password on standard input.")
        }
        return try await TokenCredential.credential(for: url, username: name, password: password)
    }

    private func signInByBrowser(_ url: URL) async throws -> ArcGISCredential {
        let redirect = try ServiceReader("http://127.0.0.1/signed-in").url
        let configuration = OAuthUserConfiguration(portalURL: url, clientID: clientID, redirectURL: redirect)
        return try await OAuthUserCredential.credential(for: configuration) { page in
            Terminal.error(
                "Sign in on this page; the command goes on by itself afterwards:\n  \(page.url.absoluteString)")
            Browser.open(page.url)
            return nil
        }
    }
}

/// `fieldwork sign-out`.
struct SignOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "End the sign-in to a portal or server.",
        discussion: """
            The sign-in ends on this device and at the portal, which forgets its token. Offline files and unsent edits stay.

            EXAMPLES
              fieldwork sign-out https://maps.example.org/arcgis
              fieldwork sign-out --all
            """)

    @Argument(help: "The address of the portal or server.")
    var portal: String?

    @Flag(help: "End all sign-ins.")
    var all = false

    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        guard all != (portal != nil) else { throw ValidationError("Name a portal, or say --all.") }
    }

    func run() async throws {
        try await runVerb {
            try certificates.use()
            let store = try StoredCredentials.open()
            let manager = ArcGISEnvironment.authenticationManager
            manager.arcGISCredentialStore = store
            let url = try portal.map { try ServiceReader($0).url }
            let names = url.map { [store.credential(for: $0)].compactMap(\.self) } ?? store.credentials
            guard !names.isEmpty else {
                throw CommandFailure(.noInput, "Nobody is signed in to \(portal ?? "any portal").")
            }
            let areRevoked = await manager.signOut(of: url)
            for credential in names { Terminal.output("Signed out of \(credential.url?.absoluteString ?? "")") }
            if !areRevoked {
                Terminal.error("The portal could not be told: its token ends when it expires.")
            }
        }
    }
}
