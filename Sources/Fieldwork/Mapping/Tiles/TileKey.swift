/// The place of a tile in the grid of its layer.
public struct TileKey: Sendable, Hashable {
    /// 0 for the level at which one tile holds everything.
    public var level: Int
    /// Counted from the north.
    public var row: Int
    /// Counted from the west.
    public var column: Int

    /// The tile of a level, a row and a column.
    public init(level: Int, row: Int, column: Int) {
        self.level = level
        self.row = row
        self.column = column
    }

    /// Whether there is such a tile in a grid that is halved from level to level.
    var isValid: Bool {
        guard (0...30).contains(level) else { return false }
        return (0..<(1 << level)).contains(row) && (0..<(1 << level)).contains(column)
    }
}
