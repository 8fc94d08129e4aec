package import Foundation

/// The bytes of a file in pieces; of a `.gz` file what is in it.
package struct ByteSource {
    private let handle: FileHandle
    private let unpacking: Process?

    package init(_ url: URL) throws {
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw PublishingError(.noInput, "\(url.path) is not there, or can't be read.")
        }
        guard url.pathExtension == "gz" else {
            handle = try FileHandle(forReadingFrom: url)
            unpacking = nil
            return
        }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/gzip")
        process.arguments = ["-dc", "--", url.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        handle = pipe.fileHandleForReading
        unpacking = process
    }

    /// The next piece; nil at the end.
    package func next() throws -> Data? {
        if let piece = try handle.read(upToCount: 1 << 18), !piece.isEmpty { return piece }
        if let unpacking {
            unpacking.waitUntilExit()
            guard unpacking.terminationStatus == 0 else {
                throw PublishingError(.badData, "The file is not a whole gzip file.")
            }
        }
        return nil
    }

    /// Ends early: nothing more will be read.
    package func close() {
        try? handle.close()
        unpacking?.terminate()
    }
}
