/// Why an image can't be drawn.
package enum DrawingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The library has no memory for it or refuses it; the text is the library's own.
    case library(String)
    /// The picture is larger than the limits, or has no size.
    case size(width: Int, height: Int)
    /// The drawing's own records can't be read: a mistake of ours.
    case record

    package var description: String {
        switch self {
        case .library(let text): "The image can't be drawn: \(text)."
        case .size(let width, let height):
            "An image of \(width) by \(height) pixels can't be drawn: each side must be from 1 to \(Limits.imageSide)."
        case .record: "The image can't be drawn."
        }
    }
}
