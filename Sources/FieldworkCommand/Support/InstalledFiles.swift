import Foundation

/// What set-up installed beside the program.
enum InstalledFiles {
    /// `.fieldwork/NAME` in a folder above the executable or the working directory; nil where there is none with the file.
    static func folder(_ name: String, containing file: String) -> URL? {
        let executable = URL(filePath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        let starts = [URL(filePath: FileManager.default.currentDirectoryPath), executable.deletingLastPathComponent()]
        for start in starts {
            var folder = start.standardizedFileURL
            for _ in 0..<6 {
                let candidate = folder.appending(path: ".fieldwork/\(name)", directoryHint: .isDirectory)
                if FileManager.default.fileExists(atPath: candidate.appending(path: file).path) { return candidate }
                folder.deleteLastPathComponent()
            }
        }
        return nil
    }
}

/// Where set-up put the map library.
enum MapLibrary {
    /// `FIELDWORK_MAP_LIBRARY`, else what set-up installed; nil when it is not installed.
    static var directory: URL? {
        if let path = ProcessInfo.processInfo.environment["FIELDWORK_MAP_LIBRARY"] { return URL(filePath: path) }
        return InstalledFiles.folder("maplibre", containing: "maplibre-gl.js")
    }
}
