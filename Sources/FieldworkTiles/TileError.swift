/// Why tiles could not be read or made.
package struct TileError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable {
        /// The file is of no kind that Fieldwork reads.
        case unknownFormat
        /// The file breaks the rules of its format, or ends early.
        case broken
        /// Something in the file is larger than allowed, or says that it is.
        case tooLarge
        /// The tiles don't lie in the Web Mercator grid, or are of a kind that can't be served.
        case unsupported
        /// The file can't be opened or read.
        case unreadable
        /// The file can't be written.
        case unwritable
        /// There are tiles of another version of the same map already.
        case otherVersion
        /// No font of the system can be read.
        case noFont
        /// Whoever asked for the work has stopped it.
        case cancelled
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
