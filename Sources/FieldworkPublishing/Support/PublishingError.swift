/// Why a file could not become a service, or features could not become a file. Nothing was published then.
package struct PublishingError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// What is in the file, or what was said of it.
        case badData
        case noInput
        /// The place is taken, or can't be written.
        case cannotCreate
        case inputOutput
        case software
    }

    package var kind: Kind
    /// What is wrong, for whoever asked for it in whatever way.
    package var message: String
    /// What the command line could do about it.
    package var hint: String?

    package init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    package var description: String { [message, hint].compactMap { $0 }.joined(separator: " ") }
}

/// Is told how a publication goes on.
package struct PublishingListener: Sendable {
    package enum Step: Sendable {
        case reading
        /// As many features are to be written.
        case writing(Int)
    }

    /// Something that was found out about the data or changed in them, and is worth saying.
    package var note: @Sendable (String) -> Void
    /// So many features are done.
    package var advance: @Sendable (Step, Int) -> Void
    /// A step is done, with these words.
    package var finish: @Sendable (Step, String) -> Void

    package init(
        note: @escaping @Sendable (String) -> Void, advance: @escaping @Sendable (Step, Int) -> Void = { _, _ in },
        finish: @escaping @Sendable (Step, String) -> Void = { _, _ in }
    ) {
        self.note = note
        self.advance = advance
        self.finish = finish
    }
}

/// Numbers with their nouns.
package enum Counted {
    package static func text(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    package static func features(_ count: Int) -> String { text(count, "feature") }
}
