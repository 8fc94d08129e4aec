import FieldworkREST

/// What a tile says when it doesn't show all that there is: who counts on the map must not be deceived.
package enum TileNotice {
    /// The layer of the tile that says so, with a feature a layer in the middle of the tile.
    package static let layerName = "fieldwork_notice"

    static func append(_ name: String, shown: Int, total: Int, to tile: inout [UInt8]) {
        var layer = VectorLayer(name: "\(layerName)/\(name)")
        layer.tag("layer", .text(name))
        layer.tag("shown", .integer(Int64(shown)))
        layer.tag("total", .integer(Int64(total)))
        let middle = UInt32(VectorLayer.extent)
        layer.add(id: nil, kind: .point, commands: [9, middle, middle])
        layer.append(to: &tile)
    }
}
