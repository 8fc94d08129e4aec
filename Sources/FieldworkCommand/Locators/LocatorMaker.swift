import FieldworkLocator
import FieldworkPublishing
import Foundation

/// Makes a locator with a bar that shows how far it is.
struct LocatorMaker {
    var name: String
    var target: URL

    /// - Parameter fingerprint: tells the sources from others; empty where an interrupted making can't be gone on with.
    /// - Returns: what was made, in words.
    func make(fingerprint: String = "", _ fill: (LocatorBuilder) async throws -> Void) async throws -> String {
        let started = ContinuousClock.now
        let shown = ShownProgress()
        let builder = try LocatorBuilder(name: name, at: target, fingerprint: fingerprint) {
            shown.show($0.step, $0.count)
        }
        try await fill(builder)
        guard builder.addressCount + builder.streetCount + builder.placeCount > 0 else {
            shown.end()
            throw CommandFailure(.badData, "The files have no addresses, streets or places: nothing was made.")
        }
        try builder.finish()
        shown.end()
        let bytes = (try? FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int) ?? 0
        let skipped =
            builder.skippedCount > 0 ? ", \(Counted.text(builder.skippedCount, "row")) without a place or a name" : ""
        let resumed = builder.resumedCount > 0 ? ", went on after \(Counted.text(builder.resumedCount, "record"))" : ""
        let seconds = started.duration(to: .now).inSeconds
        return """
            Made \(name): \(builder.addressCount) addresses, \(builder.streetCount) pieces of streets, \
            \(builder.placeCount) places\(skipped); \(bytes / 1_024) KB in \(seconds) s\(resumed)
            """
    }
}
