/// What a locator can't do.
package struct LocatorError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The file is no locator, or of a newer version.
        case notALocator
        /// The question is malformed, or more than allowed.
        case invalidRequest
        /// The data can't be read.
        case badData
        /// What is needed is not there.
        case notFound
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
