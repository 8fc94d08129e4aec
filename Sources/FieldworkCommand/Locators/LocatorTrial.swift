import FieldworkLocator
import Foundation

/// Looks for every address of a locator by its label, by the beginning of its label, and at its place.
enum LocatorTrial {
    private static let examples = 10
    private static let page = 1_000

    static func run(_ url: URL, most: Int) async throws {
        let locator = try await Locator.open(url, readers: 1)
        var (searched, byLabel, byPlace) = (0, 0, 0)
        var searches: [Duration] = []
        var (reverse, suggests): ([Duration], [Duration]) = ([], [])
        var missed: [String] = []
        var bar = ProgressBar("Searching", total: min(most, locator.information.addressCount))
        var last: Int64 = -1
        let clock = ContinuousClock()
        var places = ReverseOptions()
        places.kinds = [.pointAddress, .subaddress]
        while searched < most {
            let addresses = try await locator.addresses(after: last, limit: min(page, most - searched))
            guard let end = addresses.last else { break }
            last = end.id
            for address in addresses {
                try Task.checkCancellation()
                let (label, result) = (address.result.label, address.result)
                var found: [LocatorResult] = []
                searches.append(try await clock.measure { found = try await locator.candidates(for: label) })
                if let first = found.first, first.label == label {
                    byLabel += 1
                } else if missed.count < examples {
                    missed.append("\(label) → \(found.first?.label ?? "nothing")")
                }
                var near: [LocatorResult] = []
                reverse.append(
                    try await clock.measure { near = try await locator.addresses(atX: result.x, y: result.y, places) })
                if let first = near.first, first.label == label || first.distance ?? 1 < 0.01 { byPlace += 1 }
                if searched % 10 == 0 {
                    let beginning = String(label.prefix(3 + searched / 10 % 12))
                    suggests.append(try await clock.measure { _ = try await locator.suggestions(for: beginning) })
                }
                searched += 1
            }
            bar.advance(to: searched)
        }
        await locator.close()
        guard searched > 0 else {
            bar.breakOff()
            throw CommandFailure(.badData, "\(url.lastPathComponent) has no addresses.")
        }
        bar.finish("Searched for \(searched) addresses")
        for line in missed { Terminal.output("not found: \(line)") }
        Terminal.output("by label: \(share(byLabel, searched)), \(times(searches))")
        Terminal.output("by place: \(share(byPlace, searched)), \(times(reverse))")
        Terminal.output("suggestions: \(times(suggests))")
    }

    private static func share(_ part: Int, _ whole: Int) -> String {
        let hundredths = part * 10_000 / whole
        return "\(part) of \(whole) (\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %)"
    }

    private static func times(_ times: [Duration]) -> String {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return "" }
        func at(_ percent: Int) -> String {
            let duration = sorted[min(sorted.count - 1, sorted.count * percent / 100)]
            let microseconds =
                duration.components.attoseconds / 1_000_000_000_000 + duration.components.seconds * 1_000_000
            return "\(microseconds / 1_000).\(microseconds % 1_000 / 100) ms"
        }
        let total = times.reduce(Duration.zero, +)
        let seconds = Double(total.components.seconds) + Double(total.components.attoseconds) / 1e18
        return
            "\(Int(Double(times.count) / max(seconds, 1e-9))) a second, half within \(at(50)), 95 % \(at(95)), 99 % \(at(99))"
    }
}
