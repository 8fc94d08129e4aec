/// Why a script has no result.
public struct ArcadeError: Error, Sendable, Hashable {
    /// What kind of failure it is.
    public enum Kind: String, Sendable, Hashable {
        /// The text is not a script.
        case syntax
        /// The script failed with these values.
        case runtime
        /// The script calls or reads something that this interpreter, or the place where it stands, does not have.
        case notSupported
        /// Data that the script reads could not be read.
        case dataAccess
        /// The script needs more steps, memory or depth than it may use.
        case limit
        /// The task was cancelled.
        case cancelled
    }

    /// What kind of failure it is.
    public let kind: Kind
    /// What is wrong, for a person.
    public let message: String
    /// Where in the script; nil when no place is known.
    public internal(set) var position: ArcadePosition?
    /// The offset of the place, until the position is known.
    var offset: Int?

    /// A failure that has no place yet: a data source throws these.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ kind: Kind, _ message: String, at offset: Int) {
        self.init(kind, message)
        self.offset = offset
    }

    /// The failure at this place, unless it has a nearer one.
    func placed(at offset: Int) -> ArcadeError {
        guard self.offset == nil else { return self }
        var copy = self
        copy.offset = offset
        return copy
    }

    func located(in lines: SourceLines) -> ArcadeError {
        var copy = self
        copy.position = offset.map(lines.position)
        return copy
    }

    static func runtime(_ message: String) -> ArcadeError { ArcadeError(.runtime, message) }
}

extension ArcadeError: CustomStringConvertible {
    /// The message with its place.
    public var description: String {
        position.map { "\(message) (line \($0.line), column \($0.column))" } ?? message
    }
}

/// Gives an error the place of the call or operator in which it arose.
func placed(_ error: any Error, at offset: Int) -> any Error {
    if let error = error as? ArcadeError { return error.placed(at: offset) }
    return error
}
