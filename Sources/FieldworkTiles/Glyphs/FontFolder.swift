import Foundation

/// The fonts of the system that maps are lettered with. A style names a family that the system may not have; of those that it
/// has, the first of a list is taken.
package enum FontFolder {
    private static let folders = [
        "/usr/share/fonts", "/usr/local/share/fonts", NSHomeDirectory() + "/.local/share/fonts",
        NSHomeDirectory() + "/.fonts", "/Library/Fonts", "/System/Library/Fonts/Supplemental",
    ]

    private enum Cut: String, CaseIterable {
        case regular, bold, italic, boldItalic

        /// Files of this cut, the preferred first.
        var files: [String] {
            switch self {
            case .regular: ["NotoSans-Regular.ttf", "DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf"]
            case .bold: ["NotoSans-Bold.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf"]
            case .italic:
                ["NotoSans-Italic.ttf", "DejaVuSans-Oblique.ttf", "LiberationSans-Italic.ttf", "Arial Italic.ttf"]
            case .boldItalic:
                [
                    "NotoSans-BoldItalic.ttf", "DejaVuSans-BoldOblique.ttf", "LiberationSans-BoldItalic.ttf",
                    "Arial Bold Italic.ttf",
                ]
            }
        }
    }

    /// The paths of the system's fonts by their file names; looked up once.
    private static let paths: [String: String] = {
        var paths: [String: String] = [:]
        for folder in folders {
            guard let walker = FileManager.default.enumerator(atPath: folder) else { continue }
            for case let path as String in walker where path.hasSuffix(".ttf") {
                let name = path.split(separator: "/").last.map(String.init) ?? path
                if paths[name] == nil { paths[name] = "\(folder)/\(path)" }
            }
        }
        return paths
    }()

    /// The file of the font that is nearest to a name such as `Noto Sans Bold`.
    package static func file(for name: String) throws(TileError) -> String {
        let name = name.lowercased()
        let isBold = ["bold", "black", "heavy"].contains { name.contains($0) }
        let isItalic = name.contains("italic") || name.contains("oblique")
        let cut: Cut = isBold ? (isItalic ? .boldItalic : .bold) : isItalic ? .italic : .regular
        for file in cut.files + Cut.regular.files { if let path = paths[file] { return path } }
        throw TileError(
            .noFont, "There is no font for labels. Install one, for example the Debian package fonts-dejavu-core.")
    }
}
