import FieldworkGeometry
public import Foundation
import Logging
import Synchronization

/// When a keychain gives its secrets; the vendor's names. On Linux the file of a persistent store can be read whenever its
/// user is signed in to the device.
public enum KeychainAccess: Sendable, Hashable {
    /// After the device was unlocked once.
    case afterFirstUnlock
    /// The same, and not on another device.
    case afterFirstUnlockThisDeviceOnly
    /// While the device is unlocked.
    case whenUnlocked
    /// The same, and not on another device.
    case whenUnlockedThisDeviceOnly
    /// While a device with a passcode is unlocked.
    case whenPasscodeSetThisDeviceOnly
}

/// The credentials that are sent with requests, one for each server or portal. A store lives in memory, unless it is made
/// persistent.
public final class ArcGISCredentialStore: Sendable {
    private struct Entry: Sendable {
        var credential: ArcGISCredential
        var specificURL: URL?
    }

    private let entries = Mutex<[Entry]>([])
    private let file: SealedFile?
    private let id = UUID()
    private let logger = Logger(label: "fieldwork.credentials")

    /// An empty store in memory.
    public init() { file = nil }

    private init(file: SealedFile) throws {
        self.file = file
        let data = try file.locked { try file.read() }
        for record in Self.records(data) {
            guard let credential = record.credential else { continue }
            connect(credential)
            entries.withLock {
                $0.append(
                    Entry(credential: credential, specificURL: record.specificURL.flatMap(URL.init(string:))))
            }
        }
    }

    // MARK: Persistence

    /// The store of this user on this device: a sealed file in `Fieldwork/Credentials` of the user's data directory.
    /// Credentials that are added are kept in it, and so is each renewed token, before it is used. A file that can't be
    /// opened is set aside under another name, and the log says so.
    /// - Throws: `CommonError.io` when the folder can't be used, or the system's keyring does not give the key.
    public static func makePersistent(
        access: KeychainAccess, synchronizesWithiCloud: Bool = false
    ) async throws -> ArcGISCredentialStore {
        try makePersistent(in: defaultFolder)
    }

    /// A store whose sealed file is in a folder of the app's choice, which is made when there is none. Not part of the
    /// vendor's API. Throws like the other one.
    public static func makePersistent(in folder: URL) throws -> ArcGISCredentialStore {
        try makePersistent(in: folder, keyring: SystemKeyring.find(for: folder))
    }

    static func makePersistent(in folder: URL, keyring: SystemKeyring?) throws -> ArcGISCredentialStore {
        try ArcGISCredentialStore(file: SealedFile(folder: folder, keyring: keyring))
    }

    /// Whether a persistent store was made in a folder.
    package static func isKept(in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: SealedFile(folder: folder, keyring: nil).file.path)
    }

    /// Where the store of this user lies.
    package static var defaultFolder: URL { ArcGISEnvironment.folder("Credentials") }

    private static func records(_ data: Data?) -> [CredentialRecord] {
        guard let data, let json = try? JSONParser.parse(Array(data)) else { return [] }
        return (json.arrayValue ?? []).compactMap(CredentialRecord.init(json:))
    }

    /// Another process may have changed the file: only what changed here is changed in it.
    private func change(_ change: (inout [CredentialRecord]) -> Void) {
        guard let file else { return }
        do {
            try file.locked {
                var records = Self.records(try file.read())
                change(&records)
                try file.write(Data(JSONValue.array(records.map(\.json)).text.utf8))
            }
        } catch {
            logger.warning(
                "A credential could not be kept on this device: \((error as? any ArcGISError)?.details ?? "\(error)")")
        }
    }

    private func connect(_ credential: ArcGISCredential) {
        guard file != nil else { return }
        credential.connect(
            id,
            .init(
                keep: { [weak self] in self?.keep($0) },
                read: { [weak self] id in self?.kept.first { $0.id == id } }))
    }

    /// What is on the disk now.
    private var kept: [CredentialRecord] {
        guard let file else { return [] }
        return (try? file.locked { Self.records(try file.read()) }) ?? []
    }

    private func keep(_ credential: ArcGISCredential) {
        let specific = entries.withLock { entries -> URL?? in
            entries.first { $0.credential === credential }.map(\.specificURL)
        }
        // It may have been removed in the meantime.
        guard let specific else { return }
        var record = credential.record
        record.specificURL = specific?.absoluteString
        change { records in
            records.removeAll { $0.id == record.id }
            records.append(record)
        }
    }

    // MARK: Credentials

    /// The credentials, in the order in which they were added.
    public var credentials: [ArcGISCredential] { entries.withLock { $0.map(\.credential) } }

    /// Adds a credential. It takes the place of another one for the same server.
    /// - Parameter url: the address for which alone it is; nil for its whole server or portal.
    public func add(_ credential: ArcGISCredential, specificTo url: URL? = nil) {
        let replaced = entries.withLock { entries -> [ArcGISCredential] in
            let old = entries.filter { entry in
                entry.credential === credential
                    || (url == entry.specificURL && (url != nil || entry.credential.root == credential.root))
            }
            entries.removeAll { entry in old.contains { $0.credential === entry.credential } }
            entries.append(Entry(credential: credential, specificURL: url))
            return old.map(\.credential)
        }
        for old in replaced where old !== credential { old.connect(id, nil) }
        connect(credential)
        let ids = Set(replaced.map(\.id)).subtracting([credential.id])
        change { records in
            records.removeAll { ids.contains($0.id) || $0.id == credential.id }
            var record = credential.record
            record.specificURL = url?.absoluteString
            records.append(record)
        }
    }

    /// The credential that is sent with requests to an address; nil for none.
    public func credential(for url: URL) -> ArcGISCredential? {
        let entries = entries.withLock { $0 }
        let specific = entries.filter { $0.specificURL.map { ServerRoot.lies(url, under: $0) } ?? false }
        let best = specific.max { ($0.specificURL?.path ?? "").count < ($1.specificURL?.path ?? "").count }
        if let best { return best.credential }
        guard let root = ServerRoot(url) else { return nil }
        return entries.first { $0.specificURL == nil && $0.credential.root == root }?.credential
    }

    /// Removes a credential from the store and from the device. The server still knows its token: see
    /// `AuthenticationManager.signOut(of:)`.
    public func remove(_ credential: ArcGISCredential) {
        entries.withLock { $0.removeAll { $0.credential === credential } }
        credential.connect(id, nil)
        change { $0.removeAll { $0.id == credential.id } }
    }

    /// Removes all credentials from the store and from the device.
    public func removeAll() {
        let old = entries.withLock { entries -> [Entry] in
            defer { entries = [] }
            return entries
        }
        for entry in old { entry.credential.connect(id, nil) }
        change { $0 = [] }
    }
}
