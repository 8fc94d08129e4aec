/// Why an OpenStreetMap extract could not be read.
package struct OSMError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The file is not there, or can't be opened.
        case notFound
        /// The file is no extract, ends early, or is packed in a way that can't be read.
        case broken
        /// The extract has more than can be kept in memory.
        case tooLarge
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
