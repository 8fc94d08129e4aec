import Foundation

/// A file with a text in it that is gone when the test is over.
final class TextFile {
    let url: URL
    private let folder: URL

    init(_ text: String, name: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-text-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: name, directoryHint: .notDirectory)
        try Data(text.utf8).write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
