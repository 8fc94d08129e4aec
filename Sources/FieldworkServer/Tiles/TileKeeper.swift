/// Keeps what was made last, as much as fits, and has each thing made once however many ask for it at a time.
///
/// Whoever asks first makes it, within the limits of his own request; the others wait. When his work ends without a result,
/// because his client left or a limit was met, the next of them makes it.
actor TileKeeper {
    struct Key: Hashable, Sendable {
        /// The service with what else decides the bytes.
        var scope: String
        var name: String
    }

    private struct Kept {
        var bytes: [UInt8]
        var use: Int
    }

    private let maximum: Int
    private var kept: [Key: Kept] = [:]
    /// Uses in their order; only the last of each key counts.
    private var uses: [(key: Key, use: Int)] = []
    private var firstUse = 0
    private var useCount = 0
    private(set) var byteCount = 0
    private var waiting: [Key: [CheckedContinuation<[UInt8]?, Never>]] = [:]

    init(maximum: Int) { self.maximum = maximum }

    /// - Parameter make: gives the bytes; runs within the caller's task.
    func bytes(
        _ key: Key, make: @Sendable () async throws -> [UInt8]
    ) async throws -> [UInt8] {
        while true {
            if let known = kept[key] {
                note(key, known.bytes)
                return known.bytes
            }
            guard waiting[key] != nil else { break }
            let made = await withCheckedContinuation { waiting[key, default: []].append($0) }
            if let made { return made }
        }
        waiting[key] = []
        do {
            let bytes = try await make()
            note(key, bytes)
            end(key, with: bytes)
            return bytes
        } catch {
            end(key, with: nil)
            throw error
        }
    }

    private func end(_ key: Key, with bytes: [UInt8]?) {
        for continuation in waiting.removeValue(forKey: key) ?? [] { continuation.resume(returning: bytes) }
    }

    private func note(_ key: Key, _ bytes: [UInt8]) {
        useCount += 1
        if kept.updateValue(Kept(bytes: bytes, use: useCount), forKey: key) == nil {
            byteCount += Self.size(key, bytes)
        }
        uses.append((key, useCount))
        while byteCount > maximum, firstUse < uses.count { dropOldest() }
        // Uses of what was used again since take no more room than what is kept.
        if uses.count > 4 * kept.count + 1_024 {
            uses = uses[firstUse...].filter { kept[$0.key]?.use == $0.use }
            firstUse = 0
        }
    }

    private func dropOldest() {
        let (key, use) = uses[firstUse]
        firstUse += 1
        guard let old = kept[key], old.use == use else { return }
        kept[key] = nil
        byteCount -= Self.size(key, old.bytes)
    }

    /// With what the entry itself takes.
    private static func size(_ key: Key, _ bytes: [UInt8]) -> Int {
        bytes.count + key.scope.utf8.count + key.name.utf8.count + 200
    }
}
