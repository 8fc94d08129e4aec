import FieldworkLocator
import Foundation

/// Makes a locator with a bar that shows how far it is.
struct LocatorMaker {
    var name: String
    var target: URL

    /// - Returns: what was made, in words.
    func make(_ fill: (LocatorBuilder) async throws -> Void) async throws -> String {
        let started = ContinuousClock.now
        let shown = ShownProgress()
        let builder = try LocatorBuilder(name: name, at: target) { shown.show($0) }
        try await fill(builder)
        guard builder.addressCount + builder.streetCount + builder.placeCount > 0 else {
            shown.end()
            throw CommandFailure(.badData, "The files have no addresses, streets or places: nothing was made.")
        }
        try builder.finish()
        shown.end()
        let bytes = (try? FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int) ?? 0
        let skipped = builder.skippedCount > 0 ? ", \(builder.skippedCount) rows without a place or a name" : ""
        let seconds = started.duration(to: .now).inSeconds
        return """
            Made \(name): \(builder.addressCount) addresses, \(builder.streetCount) pieces of streets, \
            \(builder.placeCount) places\(skipped); \(bytes / 1_024) KB in \(seconds) s
            """
    }
}

/// The step that is being done, in one line of a terminal, or now and then elsewhere.
final class ShownProgress {
    private var shownAt = ContinuousClock.now

    func show(_ progress: LocatorBuilder.Progress) {
        let now = ContinuousClock.now
        guard shownAt.duration(to: now) > (Terminal.showsProgress ? .milliseconds(100) : .seconds(3)) else { return }
        shownAt = now
        let text = progress.count > 0 ? "\(progress.step): \(progress.count)" : progress.step
        if Terminal.showsProgress {
            Terminal.write("\r\(text)\u{1B}[K", to: .standardError)
        } else {
            Terminal.error(text)
        }
    }

    func end() { if Terminal.showsProgress { Terminal.write("\r\u{1B}[K", to: .standardError) } }
}

extension Duration {
    /// With two decimals.
    fileprivate var inSeconds: String {
        let (seconds, attoseconds) = components
        let hundredths = Int(seconds) * 100 + Int(attoseconds / 10_000_000_000_000_000)
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
