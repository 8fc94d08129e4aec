import CDeflate

/// Compresses bytes that are in memory as a whole, such as a tile or the pixels of a picture. What goes out piece by piece is compressed by
/// `GzipStream`, which needs not all of it at once.
package enum WholeCompression {
    /// What stands around the compressed bytes: `gzip` (RFC 1952), as in HTTP and in packages of tiles, or `zlib` (RFC 1950), as in PNG.
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
