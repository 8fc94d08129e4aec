/// How an OpenStreetMap object is drawn: its layer, attributes and levels, before its shape is known.
struct OSMTemplate {
    enum Form {
        case line, area
        /// A point: the object's own, or one within its area.
        case point
    }

    var layer: BasemapSchema.Layer
    var form: Form
    var tags: [MapFeature.Tag]
    var level: Int
    var leastPixels = 0.0
    var order: UInt32 = 0
    /// For points within areas: square pixels of the area from which on the point is there, where that is earlier.
    var largePixels: Double?

    init(
        _ layer: BasemapSchema.Layer, _ form: Form, class kind: String, level: Int, leastPixels: Double = 0,
        order: UInt32 = 0, largePixels: Double? = nil, tags: [MapFeature.Tag] = []
    ) {
        (self.layer, self.form, self.level) = (layer, form, level)
        self.tags = kind.isEmpty ? tags : [MapFeature.Tag("class", .text(kind))] + tags
        (self.leastPixels, self.order, self.largePixels) = (leastPixels, order, largePixels)
    }
}
