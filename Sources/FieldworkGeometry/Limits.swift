/// The limits of what is read as a geometry.
package enum GeometryLimits {
    /// Vertices of one geometry.
    package static let verticesMax = 5_000_000
    /// Collections within collections in WKB.
    package static let nestingMax = 8
    /// Bytes of a well-known text of a spatial reference.
    package static let referenceTextMax = 16_384
    /// Straight pieces that a curve is densified into.
    package static let curvePieces = 32
}
