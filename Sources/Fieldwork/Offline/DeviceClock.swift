import Foundation

/// The device's idea of the time, which may be wrong: nothing that is kept in step depends on it. Tests set it.
enum DeviceClock {
    @TaskLocal static var now: @Sendable () -> Date = { Date() }
}
