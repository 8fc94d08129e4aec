/// The limits of tiles and of the packages that hold them.
package enum Limits {
    /// Deepest level of tiles; maps enlarge them beyond.
    package static let tileLevel = 22
    /// Bytes of one vector tile, compressed. What can't be drawn within them is left out, and the tile says so.
    package static let tileBytes = 500_000
    /// Features of one layer in one tile; above it the layer is thinned.
    package static let tileFeatures = 20_000
    /// Points within four pixels of a map below the deepest level; more look like one.
    package static let pointsPerCell = 8
    /// Vertices of one feature in one tile: renderers draw more than they can number wrongly.
    package static let featureVertices = 65_000
    /// Characters of one text in a tile; a longer one is cut.
    package static let tileTextCharacters = 256
    /// Classes of a renderer that a style draws.
    package static let styleClasses = 500
    /// Code points in one range of glyphs.
    package static let glyphRange = 256
    /// Pictures in one sheet of sprites.
    package static let sprites = 500
    /// Bytes of one tile, directory or small file in a package of tiles.
    package static let packagePieceBytes = 32 * 1_024 * 1_024
    /// Characters of a pattern that a view of a package may look for.
    static let packagePatternCharacters = 64
    /// Rows that one list of a package may have.
    static let packageRows = 100_000
    /// Thousands of SQLite's steps that a look into a package may take.
    static let packageQuerySteps = 20_000
    /// Entries of one directory of PMTiles, and of those that are kept in memory for one file.
    static let directoryEntries = 1_000_000
    /// Files in a packed package.
    package static let zipEntries = 1_000_000
    /// Bytes of the list of files in a packed package.
    static let zipDirectoryBytes = 256 * 1_024 * 1_024
    /// Bytes of memory for parts of features that wait for their tiles while a basemap is made; the others wait in a file.
    static let basemapSpillBytes = 96 * 1_024 * 1_024
    /// Bytes of the parts of features that one tile is made of.
    static let basemapTilePartBytes = 64 * 1_024 * 1_024
    /// Tiles of each level that are weighed to tell the size of a package before it is made.
    static let weighedTiles = 64
    /// Bytes of a package without a tile, about.
    static let packageHeadBytes = 4 * 1_024
    /// Layers of a basemap that is made.
    package static let basemapLayers = 100
}
