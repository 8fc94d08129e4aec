import Fieldwork
import Foundation

/// The sign-ins of this user, which `fieldwork sign-in` keeps.
enum StoredCredentials {
    static func open() throws -> ArcGISCredentialStore {
        try ArcGISCredentialStore.makePersistent(in: ArcGISCredentialStore.defaultFolder)
    }

    /// Opened once in a process, when the first verb asks.
    private static let kept = Result { () throws -> ArcGISCredentialStore? in
        guard ArcGISCredentialStore.isKept(in: ArcGISCredentialStore.defaultFolder) else { return nil }
        let store = try open()
        ArcGISEnvironment.authenticationManager.arcGISCredentialStore = store
        return store
    }

    /// Has requests sent with the tokens of who signed in; without anybody nothing is opened or made.
    static func use() throws { _ = try kept.get() }
}
