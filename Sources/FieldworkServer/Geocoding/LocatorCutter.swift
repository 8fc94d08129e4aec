import FieldworkLocator
import FieldworkREST
import FieldworkStore
import Foundation

/// Cuts parts of locators for clients that work offline: one after the other, on a thread of its own, so that searches go on.
actor LocatorCutter {
    private nonisolated let executor = QueueExecutor(label: "fieldwork.locator.cut")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The part as a file that has no name any more: it is gone when it has been sent, or when the client has left.
    func cut(_ source: URL, area: LocatorOptions.Extent) throws -> FilePart {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-cut-\(UUID().uuidString)", directoryHint: .isDirectory)
        try StoreError.writing {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = LocatorFile.url(name: "cut", in: folder)
        do {
            try LocatorCut.make(of: source, area: area, at: file, most: Limits.addressesPerCut)
        } catch let error as LocatorError where [.invalidRequest, .notFound].contains(error.code) {
            throw ServiceError.invalidParameter("'area': \(error.message)")
        }
        return try FilePart(file, range: 0..<KeptResult(file: file).size)
    }
}
