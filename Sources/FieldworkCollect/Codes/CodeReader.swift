import CZBar
import Dispatch
import FieldworkJPEG
package import Foundation

/// Finds the QR codes in a JPEG picture, with libjpeg-turbo and zbar. The picture is decoded in grey and at no more pixels
/// than a code needs.
package enum CodeReader {
    /// Why a picture couldn't be looked at.
    package enum Failure: Error, Sendable, Equatable {
        /// It is a picture of another kind, or none.
        case notJPEG
        /// It has more pixels than `Limits.codePixels`.
        case tooLarge(pixels: Int)
        /// Its bytes make no picture.
        case damaged
    }

    /// One after the other: pictures take memory while they are decoded.
    private static let queue = DispatchQueue(label: "fieldwork.codes")

    /// What the codes in a picture say, each once; none where there is no code. Waits for pictures that came before.
    package static func read(_ picture: Data) async throws(Failure) -> [String] {
        let result: Result<[String], Failure> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(Failure) in try texts(in: picture) })
            }
        }
        return try result.get()
    }

    private static func texts(in picture: Data) throws(Failure) -> [String] {
        guard FileKind(picture).isJPEG else { throw .notJPEG }
        guard let full = PhotoScaler.size(picture) else { throw .damaged }
        // Each edge is less than 65,536 in a JPEG: the product can't overflow.
        guard full.width * full.height <= Limits.codePixels else { throw .tooLarge(pixels: full.width * full.height) }
        var last = 0
        // In a fine picture the grain of the paper hides a code that is plain in a small one, and the other way round.
        for edge in Limits.codeEdges {
            guard let grey = GreyPicture(picture, full, longerEdge: edge) else { throw .damaged }
            guard grey.width != last else { break }
            last = grey.width
            let found = scan(grey)
            if !found.isEmpty { return found }
        }
        return []
    }

    private static func scan(_ picture: GreyPicture) -> [String] {
        guard let scanner = zbar_image_scanner_create(), let image = zbar_image_create() else { return [] }
        defer {
            zbar_image_destroy(image)
            zbar_image_scanner_destroy(scanner)
        }
        // QR codes alone: readers that aren't run can't be misled.
        zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
        zbar_image_set_format(image, greyFormat)
        zbar_image_set_size(image, UInt32(picture.width), UInt32(picture.height))
        return picture.pixels.withUnsafeBytes { pixels in
            // Without a function to free them the pixels stay ours.
            zbar_image_set_data(image, pixels.baseAddress, UInt(pixels.count), nil)
            guard zbar_scan_image(scanner, image) > 0 else { return [] }
            var texts: [String] = []
            var symbol = zbar_image_first_symbol(image)
            while let found = symbol, texts.count < Limits.codes {
                if zbar_symbol_get_type(found) == ZBAR_QRCODE, let data = zbar_symbol_get_data(found) {
                    let bytes = UnsafeRawBufferPointer(start: data, count: Int(zbar_symbol_get_data_length(found)))
                    let text = String(decoding: bytes, as: UTF8.self)
                    if !texts.contains(text) { texts.append(text) }
                }
                symbol = zbar_symbol_next(found)
            }
            return texts
        }
    }

    /// `Y800`, a byte a pixel, as zbar writes the name of a format.
    private static let greyFormat = "Y800".utf8.reversed().reduce(UInt(0)) { $0 << 8 | UInt($1) }
}

/// A JPEG picture in grey, rows from the top.
private struct GreyPicture {
    let width: Int
    let height: Int
    let pixels: [UInt8]

    /// Decodes at the largest of the library's eighths that is not larger than what is wanted; nil for a picture that can't be
    /// decoded. One that is cut off is taken as far as it goes.
    init?(_ jpeg: Data, _ full: PhotoScaler.Size, longerEdge: Int) {
        let eighths = (1...8).last { (full.longerEdge * $0 + 7) / 8 <= longerEdge } ?? 1
        let size = JPEGImage.Size(width: (full.width * eighths + 7) / 8, height: (full.height * eighths + 7) / 8)
        let pixels = jpeg.withUnsafeBytes { JPEGImage.decoded($0, size: size, as: .grey, takesDamaged: true) }
        guard let pixels else { return nil }
        (width, height, self.pixels) = (size.width, size.height, pixels)
    }
}
