/// What a figure counts.
package enum Unit: String, Sendable, Codable {
    case perSecond = "a second"
    case seconds
    case milliseconds
    case bytes
    case megabytes

    /// Whether a larger figure is a better one.
    package var isMoreBetter: Bool { self == .perSecond }
}
