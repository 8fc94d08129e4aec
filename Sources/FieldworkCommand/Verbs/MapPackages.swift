import Fieldwork
import Foundation

/// A map package that a verb is given.
struct PackageArgument {
    let url: URL

    init(_ path: String) {
        url = URL(filePath: (path as NSString).expandingTildeInPath)
    }

    func opened() async throws -> MobileMapPackage {
        let package = MobileMapPackage(fileURL: url)
        do {
            try await package.load()
        } catch let error as CommonError {
            throw CommandFailure(.badData, error.details)
        }
        return package
    }

    /// The package, taken for this program alone: what is counted in it stays so until `TakenPackage.end`.
    func taken() async throws -> TakenPackage {
        let package = try await opened()
        var uses: [GeodatabaseUse] = []
        guard !package.isOneFile else { return TakenPackage(package: package, uses: []) }
        do {
            for geodatabase in package.geodatabases { uses.append(try .forVerb(geodatabase.fileURL)) }
        } catch {
            TakenPackage(package: package, uses: uses).end()
            throw error
        }
        return TakenPackage(package: package, uses: uses)
    }
}

/// A map package that this program has locked: no other Fieldwork can open its files until `end`.
struct TakenPackage {
    let package: MobileMapPackage
    let uses: [GeodatabaseUse]

    /// The files are closed before others may have them.
    func end() {
        package.close()
        for use in uses { use.end() }
    }
}

extension GeodatabaseUse {
    /// Takes a file for this program; the app may have it open, and change it too.
    static func forVerb(_ url: URL) throws -> GeodatabaseUse {
        do {
            return try begin(url)
        } catch CommonError.illegalState(let details) {
            throw CommandFailure(.temporary, details)
        }
    }
}

extension MobileMapPackage {
    /// How many edits are in the package alone.
    func unsentCount() async throws -> Int {
        // One file takes no edits.
        guard !isOneFile else { return 0 }
        var count = 0
        for geodatabase in geodatabases {
            let found = try await geodatabase.differences().count
            // Where nobody writes down who edited, a photo leaves its feature as it was.
            count += max(found, geodatabase.hasLocalEdits ? 1 : 0)
        }
        return count
    }
}
