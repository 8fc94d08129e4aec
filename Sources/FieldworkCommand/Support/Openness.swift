import FieldworkPortal
import FieldworkServer
import FieldworkStore
import Foundation

/// Whether a server may start, and what it says of who may use it.
enum Openness {
    /// The people of a folder of services; nil where the folder can't hold them.
    static func portal(in folder: URL) async throws -> Portal? {
        let file = Portal.file(in: folder)
        let isThere = FileManager.default.fileExists(atPath: file.path)
        do {
            return try await Portal(try RecordDatabase(file: file))
        } catch {
            // Without the file of its people a server would let everybody in.
            guard !isThere else { throw error }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            Terminal.error("Warning: \(file.path) can't be made: this server can have no people.")
            return nil
        }
    }

    /// Whether a folder of services has people. Looking makes no file.
    static func hasPeople(in folder: URL) async throws -> Bool {
        let file = Portal.file(in: folder)
        guard FileManager.default.fileExists(atPath: file.path) else { return false }
        let portal = try await Portal(try RecordDatabase(file: file))
        let has = try await portal.hasPeople()
        await portal.close()
        return has
    }

    /// On an address that other machines reach, a server has people, or its operator has said that it needs none.
    /// - Parameter rules: name the address under which something in front of the server makes it known.
    static func check(_ portal: Portal?, on listen: ListenOptions, _ rules: AccessRules) async throws {
        if let portal, try await portal.hasPeople() {
            guard !listen.isLoopback || rules.publicAddress != nil else { return }
            let services = try await portal.openServices().filter(\.isOpenToEdits).map(\.path)
            guard !services.isEmpty else { return }
            Terminal.error(
                "Warning: everybody who reaches \(listen.host) may edit \(listed(services)) without signing in."
                    + " fieldwork share SERVICE --everyone lets everyone see it only.")
            return
        }
        if listen.isLoopback {
            guard rules.publicAddress != nil else { return }
            Terminal.error(
                "Warning: nobody has to sign in. Everybody who reaches the public address may read every service, and"
                    + " edit what the service allows. fieldwork users add adds people.")
            return
        }
        guard listen.open else {
            throw CommandFailure(
                .unavailable,
                "\(listen.host) can be reached from other machines, and there are no people yet. fieldwork users add NAME"
                    + " --role administrator adds the first one; --open lets everybody read and edit.")
        }
        Terminal.error(
            "Warning: nobody has to sign in. Everybody who reaches \(listen.host) may read every service, and edit what"
                + " the service allows.")
    }

    /// The demo opens its services to everyone by itself. On an address that other machines reach, its operator has to have said
    /// so, with people or without.
    static func checkDemo(on listen: ListenOptions) throws {
        guard !listen.isLoopback, !listen.open else { return }
        throw CommandFailure(
            .unavailable,
            "\(listen.host) can be reached from other machines, and everybody may edit the demo's services without signing"
                + " in: --open says that this is wanted.")
    }

    /// The first of some names, and how many more there are.
    static func listed(_ names: [String]) -> String {
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
