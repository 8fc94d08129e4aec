public import Foundation
import Synchronization

/// An attachment that somebody means to add: until it is saved it may be called otherwise, and a picture may be made
/// smaller. Not part of the vendor's present API; the samples of older ones had a class like it.
public final class StagedAttachment: Sendable {
    /// How large a picture is kept.
    public enum PreferredSize: String, Sendable, CaseIterable {
        /// As it is.
        case actual
        /// At most 640, 1,280, 1,920 or 2,560 pixels long.
        case small, medium, large, extraLarge

        /// The most pixels of the longer edge; nil for as many as there are.
        public var longerEdge: Int? {
            switch self {
            case .actual: nil
            case .small: 640
            case .medium: 1_280
            case .large: 1_920
            case .extraLarge: 2_560
            }
        }
    }

    private struct State: Sendable {
        var name: String
        var preferredSize: PreferredSize
    }

    /// The type of the content, as a rule a MIME type.
    public let contentType: String
    /// The words that forms and pop-ups find it by.
    public let keywords: String
    /// The bytes as they were given.
    public let data: Data
    private let state: Mutex<State>

    /// A file to be added.
    public init(
        name: String, contentType: String, keywords: String = "", data: Data, preferredSize: PreferredSize = .actual
    ) {
        self.contentType = contentType
        self.keywords = keywords
        self.data = data
        state = Mutex(State(name: name, preferredSize: preferredSize))
    }

    /// The name of the file.
    public var name: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// How large it is kept; means something for pictures only.
    public var preferredSize: PreferredSize {
        get { state.withLock { $0.preferredSize } }
        set { state.withLock { $0.preferredSize = newValue } }
    }

    /// What the content is for people.
    public var kind: PopupAttachment.Kind { PopupAttachment.Kind(contentType: contentType) }
}
