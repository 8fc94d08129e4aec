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

    /// On an address that other machines reach, a server has people, or its operator has said that it needs none.
    /// - Parameter rules: name the address under which something in front of the server makes it known.
    static func check(_ portal: Portal?, on listen: ListenOptions, _ rules: AccessRules) async throws {
        guard try await portal?.hasPeople() != true else { return }
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
}
