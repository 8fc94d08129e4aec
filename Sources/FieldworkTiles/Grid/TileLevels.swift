/// The levels for which tiles are made. Maps enlarge the deepest beyond: there a unit of a tile is 15 cm at the equator.
package enum TileLevels {
    package static let deepest = 16
}
