import Foundation

/// Images whose address was told: each waits about a minute for its client to fetch it. Who knows the address may have the
/// image, since its name can't be guessed; so an image of a secured service needs no token in an address.
actor ImageShelf {
    private struct Kept {
        var bytes: [UInt8]
        var contentType: String
        var until: ContinuousClock.Instant
    }

    private var images: [UUID: Kept] = [:]
    /// In the order in which they came.
    private var order: [UUID] = []
    private var byteCount = 0

    /// - Returns: the name of the image.
    func keep(_ bytes: [UInt8], contentType: String) -> UUID {
        let name = UUID()
        images[name] = Kept(bytes: bytes, contentType: contentType, until: .now + .seconds(Limits.imageSeconds))
        order.append(name)
        byteCount += bytes.count
        tidy()
        return name
    }

    func image(_ name: UUID) -> (bytes: [UInt8], contentType: String)? {
        tidy()
        return images[name].map { ($0.bytes, $0.contentType) }
    }

    /// Drops what is too old, and the oldest where there are too many bytes.
    private func tidy() {
        let now = ContinuousClock.now
        let dropped = order.prefix { name in
            guard let image = images[name], byteCount > Limits.shelfBytes || image.until <= now else { return false }
            images[name] = nil
            byteCount -= image.bytes.count
            return true
        }
        order.removeFirst(dropped.count)
    }
}
