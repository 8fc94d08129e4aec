import Foundation

/// The step that is being done, in one line of a terminal, or now and then elsewhere.
final class ShownProgress {
    private var shownAt = ContinuousClock.now

    func show(_ step: String, _ count: Int) {
        let now = ContinuousClock.now
        guard shownAt.duration(to: now) > (Terminal.showsProgress ? .milliseconds(100) : .seconds(3)) else { return }
        shownAt = now
        let text = count > 0 ? "\(step): \(count)" : step
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
    var inSeconds: String {
        let (seconds, attoseconds) = components
        let hundredths = Int(seconds) * 100 + Int(attoseconds / 10_000_000_000_000_000)
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
