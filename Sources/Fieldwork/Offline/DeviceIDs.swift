import Foundation

/// Where the ids come from that this device gives to what it makes. Tests set it, to tell the same story twice.
struct DeviceIDs: Sendable {
    /// A structure and not the function itself, for the reason that `DeviceClock` gives.
    @TaskLocal static var current = DeviceIDs()

    var make: @Sendable () -> UUID = { UUID() }

    static func next() -> UUID { current.make() }
}
