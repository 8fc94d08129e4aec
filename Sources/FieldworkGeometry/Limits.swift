/// The limits of what is read as a geometry.
package enum GeometryLimits {
    /// Vertices of one geometry.
    package static let verticesMax = 5_000_000
    /// Parts (paths, rings) of one geometry.
    package static let partsMax = 200_000
    /// Collections within collections in WKB.
    package static let nestingMax = 8
    /// Bytes of a well-known text of a spatial reference.
    package static let referenceTextMax = 16_384
    /// Straight pieces that a curve is densified into.
    package static let curvePieces = 32
    /// Well-known texts of references that are remembered.
    package static let rememberedReferencesMax = 1_024
    /// Pairs of references whose transformation is kept: each holds a handle of PROJ's database.
    package static let keptTransformationsMax = 48
    /// Idle copies of one transformation for tasks that use it at the same time.
    package static let idleTransformationsMax = 4
    /// Turns of the world that a geometry may span to be brought back into one.
    package static let worldTurnsMax = 64
    /// Positions that are collected before the hull of all geometries so far is made anew.
    package static let hullBatch = 65_536
    /// Vertices of a geometry that is widened by a distance: a circle of 64 corners is made around each.
    package static let bufferedVertices = 10_000
    /// Times that a geometry that is widened may cross itself, about: GEOS takes 7 KB and 75 µs for each.
    package static let bufferedCrossings = 30_000
    /// Pairs of segments of such a geometry whose boxes meet, about: GEOS takes 600 ns for each.
    package static let bufferedMeetings = 4_000_000
    /// Times that a geometry may cross itself, about, that is related to features otherwise than by intersecting them: GEOS takes 15 µs
    /// for each and for each feature.
    package static let relatedCrossings = 5_000
    /// Pairs of segments of such a geometry whose boxes meet, about: GEOS takes 15 ns for each and for each feature.
    package static let relatedMeetings = 5_000_000
    /// Members of one object of JSON.
    package static let membersMax = 20_000
    /// Corners of the convex hull of many geometries.
    package static let hullCornersMax = 250_000
}
