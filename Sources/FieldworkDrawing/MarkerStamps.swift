import CCairo
import FieldworkREST

/// Pictures of markers, each drawn once for an image and copied to the place of each feature.
struct MarkerStamps {
    struct Key: Hashable {
        var layer: Int
        var symbol: Int
        var variables: VisualVariables.Result
    }

    struct Stamp {
        let pixels: StampPixels
        /// Pixels from the picture's corner to the place of the feature.
        let middle: Int
    }

    private var stamps: [Key: Stamp] = [:]
    /// That of the feature before: most features look like it.
    private var last: (key: Key, stamp: Stamp)?
    private var byteCount = 0

    /// The picture of a marker.
    mutating func stamp(
        _ key: Key, _ look: SymbolLook, _ picture: SymbolPixels?, scale: Double
    ) throws(DrawingError) -> Stamp {
        if let last, last.key == key { return last.stamp }
        let stamp: Stamp
        if let known = stamps[key] {
            stamp = known
        } else {
            stamp = try drawn(key, look, picture, scale: scale)
        }
        last = (key, stamp)
        return stamp
    }

    private mutating func drawn(
        _ key: Key, _ look: SymbolLook, _ picture: SymbolPixels?, scale: Double
    ) throws(DrawingError) -> Stamp {
        let middle = (Self.reach(look, key.variables, scale: scale) + 1).rounded(.up)
        let side = min(max(Int(middle) * 2, 2), Limits.imageSide)
        let canvas = try CairoCanvas(width: side, height: side, format: .png32)
        let painter = SymbolPainter(canvas: canvas, scale: scale)
        switch look {
        case .marker(let marker): painter.draw(marker, x: middle, y: middle, key.variables)
        case .picture(let look):
            if let picture { painter.draw(look, picture, x: middle, y: middle, key.variables) }
        case .line, .area, .nothing: break
        }
        let pixels = try canvas.withPixels { [UInt32]($0) }
        let stamp = Stamp(pixels: StampPixels(pixels, side: side), middle: Int(middle))
        byteCount += side * side * 4
        if byteCount > Limits.markerStampBytes {
            stamps.removeAll()
            byteCount = side * side * 4
        }
        stamps[key] = stamp
        return stamp
    }

    /// Pixels that a marker reaches from its place.
    static func reach(_ look: SymbolLook, _ variables: VisualVariables.Result, scale: Double) -> Double {
        guard let size = variables.size else { return look.reach }
        return Double(size) * scale + 2 * look.reach
    }

    /// What varies, in steps that can't be told apart in a picture: features of nearly the same size share theirs.
    static func rounded(_ variables: VisualVariables.Result) -> VisualVariables.Result {
        var result = variables
        result.size = variables.size.map { ($0 * 2).rounded() / 2 }
        result.opacity = variables.opacity.map { ($0 * 32).rounded() / 32 }
        result.rotation = variables.rotation.map { ($0 / 2).rounded() * 2 }
        result.color = variables.color.map { ($0 & SIMD4(repeating: 0xF8)) | ($0 &>> SIMD4(repeating: 5)) }
        return result
    }
}
