/// Why the app can't start or go on.
package struct CollectError: Error, Sendable, CustomStringConvertible {
    package struct Code: RawRepresentable, Sendable, Hashable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The host is reachable from other machines.
        package static let notLoopback = Code(rawValue: "notLoopback")
        /// A template or asset is missing or can't be read.
        package static let resourceMissing = Code(rawValue: "resourceMissing")
        /// No map is open yet.
        package static let noMapOpen = Code(rawValue: "noMapOpen")
        /// The address names nothing in the open map.
        package static let notFound = Code(rawValue: "notFound")
        /// The layer doesn't allow this.
        package static let notAllowed = Code(rawValue: "notAllowed")
        /// A form holds something that can't be read.
        package static let badForm = Code(rawValue: "badForm")
        /// The service has no feature layers that can be shown.
        package static let notAFeatureService = Code(rawValue: "notAFeatureService")
        /// The folder of the app's data can't be written.
        package static let dataFolder = Code(rawValue: "dataFolder")
        /// A file of this device can't be worked in.
        package static let fileNotOpened = Code(rawValue: "fileNotOpened")
    }

    package let code: Code
    /// For people: what happened and with what.
    package let message: String
    /// What can be done about it, if anything.
    package let nextStep: String?

    package init(_ code: Code, _ message: String, nextStep: String? = nil) {
        self.code = code
        self.message = message
        self.nextStep = nextStep
    }

    package var description: String { nextStep.map { "\(message) \($0)" } ?? message }
}
