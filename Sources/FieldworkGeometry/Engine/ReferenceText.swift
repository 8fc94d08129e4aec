/// Which text from outside is handed to PROJ as a spatial reference. PROJ takes much more than well-known text: names,
/// its own pipelines, and with them the names of files that it then opens. Only well-known text that names no file
/// passes.
enum ReferenceText {
    private static let keywords: Set<String> = [
        "GEOGCS", "PROJCS", "GEOCCS", "COMPD_CS", "GEOGCRS", "GEODCRS", "GEOGRAPHICCRS", "GEODETICCRS", "PROJCRS",
        "PROJECTEDCRS", "COMPOUNDCRS",
    ]
    /// Words by which a well-known text reaches for a grid or a definition outside of itself.
    private static let reaching = [
        "PARAMETERFILE", "PROJ4_GRIDS", "GRIDS=", "INIT=", "PIPELINE", "GEOIDGRIDS", "+FILE",
    ]

    static func isAcceptable(_ text: String) -> Bool {
        guard text.utf8.count <= GeometryLimits.referenceTextMax, nesting(of: text) <= 32 else { return false }
        let upper = text.uppercased()
        let keyword = upper.drop { $0.isWhitespace }.prefix { $0.isLetter || $0 == "_" }
        guard keywords.contains(String(keyword)) else { return false }
        // The empty grid is what other programs write for Web Mercator.
        let plain = upper.split(separator: "NADGRIDS=@NULL", omittingEmptySubsequences: false).joined()
        return !reaching.contains { plain.contains($0) }
    }

    private static func nesting(of text: String) -> Int {
        var (depth, deepest) = (0, 0)
        for byte in text.utf8 {
            if byte == 0x5B || byte == 0x28 { depth += 1 }
            if byte == 0x5D || byte == 0x29 { depth -= 1 }
            deepest = max(deepest, depth)
        }
        return deepest
    }
}
