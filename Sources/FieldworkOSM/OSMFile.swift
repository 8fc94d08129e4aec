import FieldworkREST
package import Foundation

/// Reads an OpenStreetMap extract (`.osm.pbf`) block by block.
package final class OSMFile {
    package enum Content: UInt8 {
        case nodes = 1
        case ways = 2
        case relations = 4
    }

    package let url: URL
    /// What each block holds, once it has been read: later passes leave out blocks that have nothing for them.
    private var contents: [UInt8] = []
    /// The box of degrees that the file says it covers; nil until a block has been read, and where it says none.
    package private(set) var bounds: OSMBounds?

    package init(_ url: URL) { self.url = url }

    private var malformed: OSMError {
        OSMError(.broken, "\(url.lastPathComponent) is no whole OpenStreetMap extract (.osm.pbf).")
    }

    /// Gives every block that may hold what is wanted.
    package func forEachBlock(with wanted: Content, _ body: (OSMBlock) throws -> Void) throws {
        guard let handle = try? FileHandle(forReadingFrom: url) else {
            throw OSMError(.notFound, "\(url.path) is not there, or can't be read.")
        }
        defer { try? handle.close() }
        var number = 0
        while let length = try handle.read(upToCount: 4), !length.isEmpty {
            try Task.checkCancellation()
            guard length.count == 4 else { throw malformed }
            let headerSize = length.reduce(0) { $0 << 8 | Int($1) }
            guard headerSize <= Limits.openStreetMapHeaderBytes else { throw malformed }
            let header = try read(handle, headerSize)
            let (type, size) = try blobHeader(header)
            guard size <= Limits.openStreetMapBlockBytes else { throw malformed }
            if type == "OSMHeader", contents.isEmpty {
                try readHeader(try unpacked(try read(handle, size)))
                continue
            }
            guard type == "OSMData" else {
                try handle.seek(toOffset: handle.offset() + UInt64(size))
                continue
            }
            defer { number += 1 }
            if number < contents.count, contents[number] & wanted.rawValue == 0 {
                try handle.seek(toOffset: handle.offset() + UInt64(size))
                continue
            }
            let bytes = try unpacked(try read(handle, size))
            do {
                let block = try OSMBlock(bytes)
                if number == contents.count { contents.append(try block.contents()) }
                try body(block)
            } catch is ProtobufReader.Failure {
                throw malformed
            }
        }
        if number == 0 { throw malformed }
    }

    /// Reads only what the file says of itself.
    package func readHeader() throws {
        struct Enough: Error {}
        do {
            try forEachBlock(with: .nodes) { _ in throw Enough() }
        } catch is Enough {}
    }

    /// What the file says of itself: the programs that may read it, and its box.
    private func readHeader(_ bytes: [UInt8]) throws {
        do {
            try bytes.withUnsafeBytes { bytes in
                var reader = ProtobufReader(bytes)
                while let field = try reader.field() {
                    switch (field.number, field.type) {
                    case (1, 2): bounds = try OSMBounds(try reader.block())
                    case (4, 2):
                        let feature = String(decoding: try reader.block(), as: UTF8.self)
                        guard ["OsmSchema-V0.6", "DenseNodes"].contains(feature) else {
                            throw OSMError(
                                .broken, "\(url.lastPathComponent) needs a reader of '\(feature.prefix(60))'.")
                        }
                    default: try reader.skip(field.type)
                    }
                }
            }
        } catch is ProtobufReader.Failure { throw malformed }
    }

    private func read(_ handle: FileHandle, _ count: Int) throws -> [UInt8] {
        guard let data = try handle.read(upToCount: count), data.count == count else {
            if count == 0 { return [] }
            throw malformed
        }
        return [UInt8](data)
    }

    private func blobHeader(_ bytes: [UInt8]) throws -> (type: String, size: Int) {
        var (type, size) = ("", 0)
        do {
            try bytes.withUnsafeBytes { bytes in
                var reader = ProtobufReader(bytes)
                while let field = try reader.field() {
                    switch (field.number, field.type) {
                    case (1, 2): type = String(decoding: try reader.block(), as: UTF8.self)
                    case (3, 0): size = Int(clamping: try reader.varint())
                    default: try reader.skip(field.type)
                    }
                }
            }
        } catch is ProtobufReader.Failure { throw malformed }
        return (type, size)
    }

    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        do {
            return try bytes.withUnsafeBytes { bytes in
                var reader = ProtobufReader(bytes)
                while let field = try reader.field() {
                    switch (field.number, field.type) {
                    case (1, 2): return [UInt8](try reader.block())
                    case (3, 2):
                        return try GzipReader.expanded(
                            [UInt8](try reader.block()), maximum: Limits.openStreetMapBlockBytes, format: .zlib)
                    case (2, 0): _ = try reader.varint()
                    default:
                        throw OSMError(
                            .broken,
                            """
                            \(self.url.lastPathComponent) is packed in a way that Fieldwork does not read. osmium cat -o OUT.osm.pbf \
                            \(self.url.lastPathComponent) packs it as most programs do.
                            """)
                    }
                }
                throw self.malformed
            }
        } catch is ProtobufReader.Failure {
            throw malformed
        } catch is GzipReader.Failure { throw malformed }
    }
}

/// The box of degrees that an extract covers.
package struct OSMBounds: Sendable, Hashable {
    package var west: Double
    package var south: Double
    package var east: Double
    package var north: Double

    /// nil for a box that is none.
    init?(_ bytes: UnsafeRawBufferPointer) throws {
        var sides: [Int64] = [0, 0, 0, 0]
        var reader = ProtobufReader(bytes)
        while let field = try reader.field() {
            if (1...4).contains(field.number), field.type == 0 {
                sides[field.number - 1] = try reader.signedVarint()
            } else {
                try reader.skip(field.type)
            }
        }
        let degrees = sides.map { 1e-9 * Double($0) }
        (west, east, north, south) = (degrees[0], degrees[1], degrees[2], degrees[3])
        guard west < east, south < north, abs(west) <= 180, abs(east) <= 180, abs(south) <= 90, abs(north) <= 90 else {
            return nil
        }
    }
}
