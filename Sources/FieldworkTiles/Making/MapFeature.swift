/// A feature of a map that is being made, before it is cut into tiles.
package struct MapFeature: Sendable {
    package enum Shape: Sendable {
        case point(x: Double, y: Double)
        case line(TileShape)
        case area(TileShape)
    }

    /// An attribute, and the level from which on tiles have it: what no style asks for at a level is not written there.
    package struct Tag: Sendable {
        package var key: String
        package var value: VectorLayer.Value
        package var level: Int

        package init(_ key: String, _ value: VectorLayer.Value, from level: Int = 0) {
            (self.key, self.value, self.level) = (key, value, level)
        }
    }

    package var layer: String
    package var tags: [Tag]
    /// In metres of the Web Mercator plane.
    package var shape: Shape
    /// The level from which on tiles have the feature.
    package var level: Int
    /// The last level whose tiles have it; nil for all.
    package var deepest: Int?
    /// An area with fewer square pixels at a level is left out there; 0 keeps all.
    package var leastPixels: Double
    /// Small numbers come first in their layer. A tile that is too large loses those that come last.
    package var order: UInt32

    package init(
        layer: String, tags: [Tag], shape: Shape, level: Int = 0, deepest: Int? = nil, leastPixels: Double = 0,
        order: UInt32 = 0
    ) {
        (self.layer, self.tags, self.shape) = (layer, tags, shape)
        (self.level, self.deepest) = (level, deepest)
        (self.leastPixels, self.order) = (leastPixels, order)
    }
}
