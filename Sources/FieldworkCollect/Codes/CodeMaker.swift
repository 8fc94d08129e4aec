import CQREncode

/// A QR code of an address, with libqrencode: for an office that gives its crews a map.
package struct CodeMaker: Sendable {
    /// Modules along an edge, without the quiet zone.
    package let size: Int
    private let modules: [Bool]

    /// Around the code, in modules (ISO/IEC 18004).
    private static let quiet = 4

    /// nil for a text that is too long for a code.
    package init?(_ text: String) {
        // The second of four levels: 15 % of it may be dirty. The higher ones make modules smaller, and harder to see.
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        guard let data = code.pointee.data, code.pointee.width > 0 else { return nil }
        size = Int(code.pointee.width)
        modules = UnsafeBufferPointer(start: data, count: size * size).map { $0 & 1 == 1 }
    }

    /// Whether a module is dark; outside of the code none is.
    package func isDark(_ x: Int, _ y: Int) -> Bool {
        (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
    }

    /// A page of its own, 8 cm wide where nobody says otherwise.
    package var svg: String {
        let edge = size + 2 * Self.quiet
        var path = ""
        for y in 0..<size {
            var x = 0
            while x < size {
                guard isDark(x, y) else {
                    x += 1
                    continue
                }
                let start = x
                while isDark(x, y) { x += 1 }
                path += "M\(start + Self.quiet) \(y + Self.quiet)h\(x - start)v1h-\(x - start)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="80mm" height="80mm" viewBox="0 0 \(edge) \(edge)" \
            shape-rendering="crispEdges"><path fill="#fff" d="M0 0h\(edge)v\(edge)h-\(edge)z"/><path d="\(path)"/></svg>

            """
    }

    /// Lines of half blocks, two modules high each.
    /// - Parameter isColoured: black on white whatever the terminal's colours are; else dark modules are ink.
    package func text(isColoured: Bool) -> String {
        let range = -Self.quiet..<size + Self.quiet
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { y in
            let line = range.map { x in
                switch (isDark(x, y), isDark(x, y + 1)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
            return (isColoured ? "\u{1B}[30;107m\(line)\u{1B}[0m" : line) + "\n"
        }.joined()
    }
}
