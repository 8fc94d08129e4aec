import FieldworkGeometry
package import Foundation

/// A part of a package of tiles as a package of its own: what a device takes along.
package struct TileExport: Sendable {
    /// How much a part of a package is.
    package struct Estimate: Sendable, Hashable {
        package var tiles: Int
        /// About.
        package var bytes: Int

        package init(tiles: Int, bytes: Int) { (self.tiles, self.bytes) = (tiles, bytes) }
    }

    private let package: any TilePackage
    private let title: String
    private let coverage: TileCoverage?
    private let levels: [Int]

    /// - Parameters:
    ///   - title: what the new package is called.
    ///   - coverage: where; nil for everywhere.
    ///   - levels: of the package's; others are left out. nil for all.
    package init(of package: any TilePackage, title: String, coverage: TileCoverage?, levels: [Int]? = nil) {
        self.package = package
        self.title = title
        let plane = PlaneBox(
            xMin: -WebMercator.halfSide, yMin: -WebMercator.halfSide, xMax: WebMercator.halfSide,
            yMax: WebMercator.halfSide)
        let whole = package.description.box ?? plane
        self.coverage = coverage.map { $0.within(whole) } ?? TileCoverage(box: whole)
        self.levels = Array(package.description.levels).filter { levels?.contains($0) ?? true }
    }

    /// `vtpk` or `tpkx`.
    package var fileExtension: String { CompactPackageWriter.fileExtension(of: package.description.format) }

    /// How many tiles the grid has there; nil for more than a greatest number. The package may have fewer.
    package func places(most: Int) -> Int? { coverage.map { $0.count(levels: levels, most: most) } ?? 0 }

    /// Counts the tiles, and weighs some of each level.
    /// - Parameter step: called for each place, to end what takes too long.
    package func estimate(step: () throws -> Void = {}) throws -> Estimate {
        var estimate = Estimate(tiles: 0, bytes: Limits.packageHeadBytes)
        var texts = TileTexts()
        for level in levels {
            var tiles: [TileAddress] = []
            try coverage?.forEach(level: level) { tile in
                try step()
                if try package.has(tile) { tiles.append(tile) }
                return true
            }
            estimate.tiles += tiles.count
            estimate.bytes += try weight(of: tiles, &texts)
        }
        if package.description.format == .vector, estimate.tiles > 0 {
            try forEachResource(ranges: texts.ranges.sorted()) { _, bytes in estimate.bytes += bytes.count }
        }
        return estimate
    }

    private func weight(of tiles: [TileAddress], _ texts: inout TileTexts) throws(TileError) -> Int {
        let spacing = max(1, tiles.count / Limits.weighedTiles)
        let weighed = stride(from: spacing / 2, to: tiles.count, by: spacing).map { tiles[$0] }
        guard !weighed.isEmpty else { return 0 }
        var sum = 0
        for tile in weighed {
            guard let bytes = try package.tile(tile) else { continue }
            sum += bytes.count
            if package.description.format == .vector { texts.add(bytes) }
        }
        // Each bundle has an index of all its places.
        let bundles = Set(tiles.map { BundleWriter.Place($0) }).count
        return sum * tiles.count / weighed.count + 4 * tiles.count + 131_136 * bundles
    }

    /// Writes the package.
    /// - Parameters:
    ///   - url: is made anew.
    ///   - form: MBTiles and PMTiles have the tiles alone, and no style.
    ///   - step: called with the tiles that were looked for so far; what it throws ends the work.
    /// - Returns: the tiles that the new package has.
    @discardableResult
    package func write(
        to url: URL, as form: TileFileForm = .compact, step: (Int) throws -> Void = { _ in }
    ) throws -> Int {
        let writer = try form.writer(url, format: package.description.format)
        var texts = TileTexts()
        var (looked, written) = (0, 0)
        for level in levels {
            try coverage?.forEach(level: level) { tile in
                looked += 1
                try step(looked)
                guard let bytes = try package.tile(tile), !bytes.isEmpty else { return true }
                try writer.add(bytes, at: tile)
                if writer.takesStyle { texts.add(bytes) }
                written += 1
                return true
            }
        }
        guard written > 0 else { throw TileError(.unsupported, "There are no tiles in the area at these levels.") }
        var description = package.description
        description.name = title
        description.box = coverage?.box ?? description.box
        if writer.takesStyle {
            try forEachResource(ranges: texts.ranges.sorted()) { path, bytes in
                try writer.addResource(bytes, as: path)
            }
        }
        try writer.finish(description)
        return written
    }

    // MARK: The style

    /// Calls back with all that stands beside the tiles: the style, its pictures, and the glyphs of these ranges.
    private func forEachResource(ranges: [Int], _ body: (_ path: String, _ bytes: [UInt8]) throws -> Void) throws {
        let style = try PackageStyle.json(package, title: title, addresses: .relative)
        try body("styles/root.json", Array(style.text.utf8))
        for (name, scale) in [("sprite", 1), ("sprite@2x", 2)] {
            let empty = try StyleSprite(symbols: [:], scale: scale)
            let index = try package.resource("sprites/\(name).json") ?? Array(empty.index.text.utf8)
            try body("sprites/\(name).json", index)
            try body("sprites/\(name).png", try package.resource("sprites/\(name).png") ?? empty.png)
        }
        var resources: [JSONValue] = ["../sprites/sprite.json", "../sprites/sprite.png"]
        for font in PackageStyle.fonts(style) {
            for start in ranges {
                let path = "fonts/\(font)/\(start)-\(start + Limits.glyphRange - 1).pbf"
                guard let glyphs = try glyphs(font, start, path) else { continue }
                try body(path, glyphs)
                resources.append(.string("../\(path)"))
            }
        }
        let info: JSONValue = ["resourceInfo": .array(resources)]
        try body("info/root.json", Array(info.text.utf8))
    }

    /// The package's own glyphs, else those of a font of the system; nil where there is neither.
    private func glyphs(_ font: String, _ start: Int, _ path: String) throws(TileError) -> [UInt8]? {
        // The name becomes part of a path.
        guard !font.contains("/"), font != "..", font.utf8.count <= 200 else { return nil }
        if let own = try package.resource(path) { return own }
        do throws(TileError) {
            return try GlyphRange.bytes(stack: font, start: start)
        } catch {
            if error.code == .noFont { return nil }
            throw error
        }
    }
}
