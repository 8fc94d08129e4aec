import Foundation

/// The device's idea of the time, which may be wrong: nothing that is kept in step depends on it. Tests set it.
struct DeviceClock: Sendable {
    /// A structure and not the function itself: optimised builds of Swift 6.3 lose the type of a function that is bound here.
    @TaskLocal static var current = DeviceClock()

    var read: @Sendable () -> Date = { Date() }

    static func now() -> Date { current.read() }
}
