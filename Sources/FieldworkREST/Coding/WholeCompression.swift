import CDeflate

/// Compresses bytes that are all in memory, such as a tile or the pixels of a picture. `GzipStream` compresses bytes that come in pieces.
package enum WholeCompression {
    /// The format of the result: `gzip` (RFC 1952) for HTTP and packages of tiles, `zlib` (RFC 1950) for PNG.
    package enum Form: Sendable {
        case gzip, zlib
    }

    /// There is no memory for it, or no such level.
    package struct Failure: Error {}

    /// - Parameter level: from 1, the quickest, to 12; 9 for what is kept and sent often.
    package static func compressed(_ bytes: [UInt8], as form: Form, level: Int32) throws(Failure) -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else { throw Failure() }
        defer { libdeflate_free_compressor(compressor) }
        let most =
            switch form {
            case .gzip: libdeflate_gzip_compress_bound(compressor, bytes.count)
            case .zlib: libdeflate_zlib_compress_bound(compressor, bytes.count)
            }
        let output = [UInt8](unsafeUninitializedCapacity: most) { output, count in
            count =
                switch form {
                case .gzip: libdeflate_gzip_compress(compressor, bytes, bytes.count, output.baseAddress, most)
                case .zlib: libdeflate_zlib_compress(compressor, bytes, bytes.count, output.baseAddress, most)
                }
        }
        guard !output.isEmpty else { throw Failure() }
        // Who keeps it pays for its bytes, not for the most that they could have been.
        return output.withUnsafeBytes { [UInt8]($0) }
    }
}
