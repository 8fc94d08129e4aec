import Foundation

/// What the last tap found, for the page that the tap leads to: it is not asked for again.
struct TapMemory: Sendable {
    let place: Place
    let tolerance: Double
    let found: [FoundFeature]
    let date = Date()

    /// Whether what was found still holds: edits come, and others edit too.
    var isFresh: Bool { Date().timeIntervalSince(date) < Limits.tapSeconds }

    /// Pages name a place by its rounded degrees.
    func isAbout(_ other: Place, _ otherTolerance: Double) -> Bool {
        abs(place.longitude - other.longitude) < 1e-8 && abs(place.latitude - other.latitude) < 1e-8
            && abs(tolerance - otherTolerance) <= tolerance * 1e-6
    }
}
