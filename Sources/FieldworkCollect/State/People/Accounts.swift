import Fieldwork
import Foundation
import Synchronization

/// Who is signed in on this device: one person at a time, or nobody. The sign-ins are in sealed files of the person's folder, so
/// that a restart, also one without a network, finds the person signed in.
final class Accounts: Sendable {
    /// What is remembered between starts.
    private struct Content: Codable {
        var current: String?
        var people: [DevicePerson] = []
    }

    private struct State {
        var content: Content
        var current: DevicePerson?
        var wishes: [URL: SignInWish] = [:]
    }

    private let directory: URL
    private let state: Mutex<State>
    private let manager: AuthenticationManager

    /// - Parameter directory: of the app's data. What nobody in particular did is in it itself, as before anybody signed in.
    init(directory: URL, manager: AuthenticationManager = ArcGISEnvironment.authenticationManager) throws {
        self.directory = directory
        self.manager = manager
        let data = try? Data(contentsOf: Self.file(in: directory))
        let content = data.flatMap { try? JSONDecoder().decode(Content.self, from: $0) } ?? Content()
        let current = content.people.first { $0.id == content.current }
        state = Mutex(State(content: content, current: current))
        manager.arcGISCredentialStore =
            try current.map { try Self.store(in: folder(of: $0)) } ?? ArcGISCredentialStore()
        manager.arcGISAuthenticationChallengeHandler = self
    }

    private static func file(in directory: URL) -> URL { directory.appending(path: "people.json") }

    private static func store(in folder: URL) throws -> ArcGISCredentialStore {
        try ArcGISCredentialStore.makePersistent(in: folder.appending(path: "sign-ins", directoryHint: .isDirectory))
    }

    // MARK: People

    /// Who is signed in; nil for nobody.
    var current: DevicePerson? { state.withLock { $0.current } }

    /// Everybody who has signed in on this device.
    var people: [DevicePerson] { state.withLock { $0.content.people } }

    /// Holds what the device keeps of a person's work; of nobody's for nil.
    func folder(of person: DevicePerson?) -> URL {
        person.map { directory.appending(path: "people/\($0.id)", directoryHint: .isDirectory) } ?? directory
    }

    /// The folder of whoever works now.
    var currentFolder: URL { folder(of: current) }

    /// Whether a sign-in for an address is held, be it valid or not.
    func isSignedIn(to address: URL) -> Bool { manager.arcGISCredentialStore.credential(for: address) != nil }

    // MARK: Signing in and out

    /// Makes somebody the person who works on this device. Nothing of whoever worked before may be under way any more.
    /// - Parameter isKept: whether a restart finds the person signed in.
    func become(_ credential: ArcGISCredential, at server: URL, isKept: Bool) async throws {
        var person = DevicePerson(name: credential.username, server: server)
        let store = isKept ? try Self.store(in: folder(of: person)) : ArcGISCredentialStore()
        store.add(credential)
        manager.arcGISCredentialStore = store
        person.fullName = await Self.fullName(at: server) ?? people.first { $0.id == person.id }?.fullName ?? ""
        try remember(person, isKept: isKept)
    }

    /// Adds the sign-in for another server, or a new one for the same, to those of the person who works.
    func add(_ credential: ArcGISCredential) { manager.arcGISCredentialStore.add(credential) }

    /// nil where the server knows no people's names, or doesn't answer.
    private static func fullName(at server: URL) async -> String? {
        let portal = Portal(url: server, connection: .authenticated)
        guard (try? await portal.load()) != nil else { return nil }
        return portal.user?.fullName
    }

    /// Nobody works on this device any more. What waits to be sent stays in the person's folder.
    /// - Returns: whether the servers have ended the sign-ins too.
    func signOut() async throws -> Bool {
        let areRevoked = await manager.signOut()
        manager.arcGISCredentialStore = ArcGISCredentialStore()
        try remember(nil, isKept: false)
        return areRevoked
    }

    private func remember(_ person: DevicePerson?, isKept: Bool) throws {
        try state.withLock { state in
            var content = state.content
            content.current = isKept ? person?.id : nil
            if let person {
                content.people.removeAll { $0.id == person.id }
                content.people.append(person)
            }
            try SafeFile.write(JSONEncoder().encode(content), to: Self.file(in: directory))
            state.content = content
            state.current = person
            state.wishes = [:]
        }
    }

    // MARK: Wishes

    /// The servers that asked for a sign-in which nobody has given yet.
    var wishes: [SignInWish] {
        state.withLock { $0.wishes.values.sorted { $0.server.absoluteString < $1.server.absoluteString } }
    }
}

/// A server that wants to know who asks.
struct SignInWish: Sendable, Hashable {
    /// The portal or server to sign in to.
    let server: URL
    /// The request that was refused, without its query.
    let address: URL
}

extension Accounts: ArcGISAuthenticationChallengeHandler {
    /// Notes what was asked for, and lets the request fail at once: the page that waits for it leads to the sign-in.
    func handleArcGISAuthenticationChallenge(
        _ challenge: ArcGISAuthenticationChallenge
    ) async throws -> ArcGISAuthenticationChallenge.Disposition {
        let wish = SignInWish(server: challenge.signInURL ?? challenge.requestURL, address: challenge.requestURL)
        state.withLock { $0.wishes[wish.server] = wish }
        return .cancel
    }
}
