import FieldworkPortal
import FieldworkStore
import Foundation

/// What of a folder of services is open to others, in sentences. Looking changes nothing.
struct OpennessReport {
    var folder: URL

    func lines() async throws -> [String] {
        let file = Portal.file(in: folder)
        guard FileManager.default.fileExists(atPath: file.path) else {
            return [Self.withoutPeople(nil)] + files()
        }
        let portal = Portal(lookingInto: file)
        do {
            let lines = try await lines(of: portal)
            await portal.close()
            return lines + files()
        } catch {
            await portal.close()
            return [
                "\(file.path) can't be read, so that nothing is known of its people: \(CommandFailure(error).message)"
            ] + files()
        }
    }

    private func lines(of portal: Portal) async throws -> [String] {
        let served = try await ServedSettings(notedIn: portal)
        guard try await portal.hasPeople() else { return [Self.withoutPeople(served)] + Self.settings(served) }
        let services = try await portal.openServices()
        var lines = services.filter(\.isOpenToEdits).map {
            "\($0.path): everybody may edit it without signing in (share --everyone --editing)."
        }
        let read = services.filter { !$0.isOpenToEdits }.map(\.path)
        if !read.isEmpty { lines.append("Everybody sees without signing in: \(Openness.listed(read)).") }
        let cheap = try await portal.peopleWithCheapPasswords()
        if !cheap.isEmpty {
            lines.append(
                "The passwords of \(Openness.listed(cheap)) are kept by a hash that is cheap to guess against, until they sign in"
                    + " again or get another by fieldwork users password.")
        }
        return lines + Self.settings(served)
    }

    private static func withoutPeople(_ served: ServedSettings?) -> String {
        let who =
            served?.isReachable == true
            ? "everybody who reaches \(served?.host ?? "") or its public address" : "every program of this machine"
        return
            "There are no people: \(who) may read every service, and edit what it allows. fieldwork users add adds people."
    }

    /// What the last start of the server let in.
    private static func settings(_ served: ServedSettings?) -> [String] {
        guard let served else { return [] }
        var lines: [String] = []
        if served.isOpen {
            lines.append("The server was last started with --open: without people it asks nobody to sign in.")
        }
        if served.isReachable, !served.isEncrypted {
            lines.append(
                "The server was last started on \(served.host) without TLS: whoever is on the way reads passwords and data."
                    + " --tls-certificate and --tls-key encrypt, or a proxy with an https --public-address.")
        }
        if served.isReadByAllSites {
            lines.append("The server was last started with --allow-origin '*': pages of every site read what is open.")
        }
        if !served.editingSites.isEmpty {
            lines.append("Pages of \(Openness.listed(served.editingSites)) may edit (--allow-origin-edits).")
        }
        return lines
    }

    /// Files that other users of the machine may read or write.
    private func files() -> [String] {
        let manager = FileManager.default
        let names = ((try? manager.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        let open = names.filter { name in
            guard name == Portal.file(in: folder).lastPathComponent || name.hasSuffix(".gpkg") else { return false }
            let mode =
                (try? manager.attributesOfItem(atPath: folder.appending(path: name).path))?[.posixPermissions] as? Int
            return (mode ?? 0) & 0o077 != 0
        }
        guard !open.isEmpty, Self.isEntered(folder) else { return [] }
        return ["Other users of this machine may open \(Openness.listed(open)): chmod go= takes that away."]
    }

    /// Whether others get into the folder at all.
    private static func isEntered(_ folder: URL) -> Bool {
        let mode = (try? FileManager.default.attributesOfItem(atPath: folder.path))?[.posixPermissions] as? Int
        return (mode ?? 0) & 0o011 != 0
    }
}
