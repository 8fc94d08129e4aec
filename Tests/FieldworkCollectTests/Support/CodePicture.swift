import CTurboJPEG
import Foundation

@testable import FieldworkCollect

/// Pictures of codes, as a camera gives them: grey JPEG.
struct CodePicture {
    let width: Int
    let height: Int
    private var pixels: [UInt8]

    init(width: Int, height: Int, paper: UInt8 = 255) {
        (self.width, self.height) = (width, height)
        pixels = [UInt8](repeating: paper, count: width * height)
    }

    /// Codes beside each other.
    init(_ texts: [String], module: Int = 6) {
        let codes = texts.compactMap { CodeMaker($0) }
        let edge = ((codes.map(\.size).max() ?? 21) + 12) * module
        self.init(width: edge * max(1, codes.count), height: edge)
        for (index, code) in codes.enumerated() {
            draw(code, left: index * edge + 6 * module, top: 6 * module, module: module)
        }
    }

    mutating func draw(_ code: CodeMaker, left: Int, top: Int, module: Int, ink: UInt8 = 0) {
        for y in 0..<code.size * module {
            for x in 0..<code.size * module where code.isDark(x / module, y / module) {
                pixels[(top + y) * width + left + x] = ink
            }
        }
    }

    /// Sensor noise from a seed.
    mutating func addNoise(seed: UInt64, strength: Int) {
        var state = seed
        for index in pixels.indices {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let noise = Int(state >> 33) % (2 * strength + 1) - strength
            pixels[index] = UInt8(clamping: Int(pixels[index]) + noise)
        }
    }

    /// Turned by a quarter.
    var turned: CodePicture {
        var result = CodePicture(width: height, height: width)
        for y in 0..<height {
            for x in 0..<width { result.pixels[x * height + height - 1 - y] = pixels[y * width + x] }
        }
        return result
    }

    var jpeg: Data {
        guard let handle = tjInitCompress() else { return Data() }
        defer { tjDestroy(handle) }
        var buffer: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(buffer) }
        let failed = tjCompress2(
            handle, pixels, Int32(width), 0, Int32(height), Int32(TJPF_GRAY.rawValue), &buffer, &count,
            Int32(TJSAMP_GRAY.rawValue), 85, 0)
        guard failed == 0, let buffer else { return Data() }
        return Data(bytes: buffer, count: Int(count))
    }
}
