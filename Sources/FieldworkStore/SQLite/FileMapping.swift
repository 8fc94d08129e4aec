import CMappedFiles

/// Reading a file through a memory mapping, which saves the copy of each page. A page that can't be read is an error, never the
/// end of the process: see `Documentation/decisions/0005-readers-map-their-file.md`.
enum FileMapping {
    /// Whether such pages are noticed on this machine. Where they aren't, no file is mapped.
    static let isGuarded = fieldwork_guardMappings() == 1

    /// Runs something that reads mapped files on this thread, and throws `UnreadablePage` when a page of one could not be read:
    /// what was read then is worthless, and so is every connection that has the page mapped.
    static func guarding<Result>(_ body: () throws -> Result) throws -> Result {
        let before = fieldwork_mappingFaults()
        let result = Swift.Result { try body() }
        // Also after an error: zeros in place of a page may have caused it.
        guard fieldwork_mappingFaults() == before else { throw UnreadablePage() }
        return try result.get()
    }
}

/// A mapped file was shortened by another program, or its disk failed.
struct UnreadablePage: Error {}

extension StoreConnection {
    /// Has pages of the file read through a mapping from here on, as far as they are not in its log. What reads then must do so within
    /// `FileMapping.guarding`.
    func mapFile() throws {
        guard pointer != nil, FileMapping.isGuarded else { return }
        try execute("PRAGMA mmap_size = \(Limits.mappedBytes)")
    }
}
