import FieldworkGeometry
import FieldworkREST
public import Foundation

extension Symbol {
    /// The symbol as a small square picture in PNG, for lists and legends.
    /// - Parameter size: pixels across and down, from 1 to 512; 96 of them are an inch.
    /// - Returns: nil for a text, for a picture that the symbol names but does not hold (or holds in another format), and
    ///   for a kind that can't be drawn.
    public func pngSwatch(size: Int = 20) -> Data? {
        let drawn = drawn
        switch Symbol.make(drawn) {
        case let picture as PictureMarkerSymbol:
            return picture.contentType.lowercased() == "image/png" ? picture.imageData : nil
        case is SimpleMarkerSymbol, is SimpleLineSymbol, is SimpleFillSymbol, is PictureFillSymbol:
            let canvas = SymbolDrawing.canvas(of: drawn, size: size)
            return PNGPicture.encoded(size: canvas.size, pixels: canvas.bytes)
        default: return nil
        }
    }

    /// The symbol as a small square picture in SVG, which can be drawn larger without loss. It holds shapes, colours,
    /// escaped text and pictures of formats that run nothing.
    /// - Parameter size: pixels across and down, from 1 to 512; 96 of them are an inch.
    /// - Returns: nil for a picture that the symbol names but does not hold, and for a kind that can't be drawn.
    public func svgSwatch(size: Int = 20) -> String? {
        let side = min(max(1, size), FieldworkREST.Limits.symbolPixels)
        guard let symbol = Symbol.make(drawn), let content = SymbolSVG(size: Double(side)).content(symbol) else {
            return nil
        }
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(side)\" height=\"\(side)\" "
            + "viewBox=\"0 0 \(side) \(side)\">\(content)</svg>"
    }
}
