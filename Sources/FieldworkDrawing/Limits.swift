/// The limits of images of maps.
package enum Limits {
    /// Pixels across and down of one image.
    package static let imageSide = 4_096
    /// Pixels to the inch.
    package static let imageDPI = 600.0
    /// Features of one layer in one image; what is beyond is left out, and the answer says so.
    package static let imageFeatures = 200_000
    /// Classes of a renderer that are drawn.
    package static let drawnClasses = 2_000
    /// Labels that one image looks for places for.
    package static let labelCandidates = 20_000
    /// Labels of one image.
    package static let labels = 4_000
    /// Characters of one label; a longer one is cut.
    package static let labelCharacters = 200
    /// Pixels that a marker may reach from its place to be copied from a picture of it; larger ones are drawn each.
    static let markerStampReach = 256.0
    /// Bytes of pictures of markers that one image keeps, as many as differ in size, colour and rotation.
    package static let markerStampBytes = 32 * 1_024 * 1_024
    /// Pixels that a point of a heat map may reach.
    static let heatReach = 1_024.0
    /// Cells of the grid of a heat map that a point reaches at most, to each side.
    static let heatCells = 24.0
    /// Bytes of a picture that a symbol carries.
    package static let symbolPictureBytes = 1_024 * 1_024
    /// Pixels across and down of a symbol in a legend.
    package static let swatchSide = 512
    /// Quality of JPEG images, from 1 to 100.
    package static let jpegQuality: Int32 = 85
}
