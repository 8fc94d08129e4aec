import ArgumentParser
import FieldworkGeometry
import FieldworkPortal

/// A person, as a provider of sign-ins knows it.
struct IdentityOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The provider's address, as its tokens name it.", valueName: "address"))
    var issuer: String
    @Option(
        help: ArgumentHelp(
            "How the provider knows the person ('sub' of its tokens). The page of a refused sign-in and fieldwork users audit"
                + " tell it.", valueName: "text"))
    var subject: String

    var identity: OutsideIdentity { OutsideIdentity(issuer: issuer, subject: subject) }
}

extension UsersCommand {
    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a person sign in by a provider; see fieldwork serve --openid-issuer.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var link: IdentityOptions
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { try await $0.link(link.identity, to: name, by: .commandLine) }
                Terminal.output("\(name) can sign in by \(link.issuer).")
            }
        }
    }

    struct Unlink: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a person's sign-ins by a provider, and every token.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var link: IdentityOptions
        @OptionGroup var place: PortalOption

        func run() async throws {
            try await runVerb {
                try await place.withPortal { try await $0.unlink(link.identity, from: name, by: .commandLine) }
                Terminal.output("\(name) can't sign in by \(link.issuer) any more.")
            }
        }
    }

    struct Links: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List how providers know a person.")
        @Argument(help: "The name of the person.") var name: String
        @OptionGroup var place: PortalOption
        @OptionGroup var format: ListFormat

        func run() async throws {
            try await runVerb {
                let identities = try await place.withPortal { portal in
                    guard try await portal.person(named: name) != nil else {
                        throw CommandFailure(.noInput, "There is no user '\(name)'.")
                    }
                    return try await portal.identities(of: name)
                }
                try format.print(
                    .array(identities.map { ["issuer": .string($0.issuer), "subject": .string($0.subject)] }),
                    identities.map { "\($0.issuer)  \($0.subject)" })
            }
        }
    }
}
