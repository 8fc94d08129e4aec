import Foundation

/// The keyring of a desktop session, through `secret-tool`. The secret goes in and out by pipes, never as an argument.
struct SystemKeyring: Sendable {
    let tool: URL
    /// What the secret is for, among others of this program.
    let purpose: String

    /// nil where there is no session with a keyring, or no tool for it.
    static func find(for folder: URL) -> SystemKeyring? {
        let environment = ProcessInfo.processInfo.environment
        guard environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false else { return nil }
        let paths = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/secret-tool" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else { return nil }
        return SystemKeyring(tool: URL(filePath: path), purpose: folder.standardizedFileURL.path)
    }

    /// The secret; nil when the keyring has none or does not open.
    func secret() throws -> String? {
        let text = try run(["lookup", "application", "fieldwork", "purpose", purpose], input: nil)
        return text.isEmpty ? nil : text
    }

    func keep(_ secret: String) throws {
        _ = try run(
            ["store", "--label=Fieldwork credentials", "application", "fieldwork", "purpose", purpose], input: secret)
        // Some keyrings say yes and keep nothing.
        guard try self.secret() == secret else { throw CommonError.io(details: "The keyring did not keep the key.") }
    }

    private func run(_ arguments: [String], input: String?) throws -> String {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        let output = Pipe()
        let entry = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = entry
        try process.run()
        if let input { try entry.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try entry.fileHandleForWriting.close()
        // A keyring that waits for somebody to unlock it ends the wait, not the program.
        let patience = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Limits.keyringSeconds), execute: patience)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        patience.cancel()
        guard process.terminationStatus == 0 else { return "" }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
