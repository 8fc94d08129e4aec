import Foundation
import TestSupport

/// Another program that edits a file: SQLite's own, with the functions that GeoPackage's triggers want, as QGIS has them.
enum Outsider {
    struct Failure: Error {
        var text: String
    }

    static var isInstalled: Bool { python != nil }

    private static var python: URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { URL(filePath: String($0)).appending(path: "python3") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    private static let script = """
        import sqlite3, struct, sys
        def extent(blob, index):
            flags = blob[3]
            order = "<" if flags & 1 else ">"
            size = {0: 0, 1: 4, 2: 6, 3: 6, 4: 8}[(flags >> 1) & 7]
            if size: return struct.unpack(order + "d", blob[8 + 8 * index:16 + 8 * index])[0]
            wkb = blob[8:]
            inner = "<" if wkb[0] else ">"
            x, y = struct.unpack(inner + "dd", wkb[5:21])
            return (x, x, y, y)[index]
        file = sqlite3.connect(sys.argv[1])
        for index, name in enumerate(["ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"]):
            file.create_function(name, 1, lambda blob, index=index: None if blob is None else extent(blob, index))
        file.create_function("ST_IsEmpty", 1, lambda blob: None if blob is None else bool(blob[3] & 16))
        file.executescript(sys.argv[2])
        file.commit()
        """

    /// Runs SQL statements on a file.
    static func run(_ sql: String, on file: URL) throws {
        let ended = try ChildProcess.run(python?.path ?? "python3", ["-c", script, file.path, sql])
        if ended.status != 0 { throw Failure(text: String(decoding: ended.standardError, as: UTF8.self)) }
    }
}
