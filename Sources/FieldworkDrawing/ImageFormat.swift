/// The kinds of images of maps.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case png32, png24, png8, png, jpg, svg, pdf

    /// As clients name it; nil for a kind that isn't drawn.
    package init?(name: String) {
        let name = name.lowercased()
        let known = ImageFormat(rawValue: name) ?? ["jpeg": .jpg, "image/jpeg": .jpg, "image/png": .png32][name]
        guard let known else { return nil }
        self = known
    }

    package var contentType: String {
        switch self {
        case .png32, .png24, .png8, .png: "image/png"
        case .jpg: "image/jpeg"
        case .svg: "image/svg+xml"
        case .pdf: "application/pdf"
        }
    }

    package var fileExtension: String {
        switch self {
        case .png32, .png24, .png8, .png: "png"
        case .jpg, .svg, .pdf: rawValue
        }
    }

    /// Whether it is made of pixels.
    package var isRaster: Bool { self != .svg && self != .pdf }
    /// The names of all kinds, as the protocol writes them.
    package static var names: String { allCases.map { $0.rawValue.uppercased() }.joined(separator: ",") }
}
