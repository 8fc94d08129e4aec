/// Where places lie: those that are points stand several in one row, near ones together; one that has an area or a reach has a row
/// of its own.
enum PlaceBlock {
    struct Entry {
        var id: Int64
        var x: Double
        var y: Double
    }

    /// Points in one row.
    static let most = 16

    static func bytes(of entries: [Entry], isArea: Bool) -> [UInt8] {
        var (writer, path) = (PackedWriter(), PackedPath())
        writer.append(isArea ? 1 : 0)
        for entry in entries {
            writer.append(UInt64(entry.id))
            path.append(entry.x, entry.y, to: &writer)
        }
        return writer.bytes
    }

    static func entries(_ bytes: UnsafeRawBufferPointer) -> (entries: [Entry], isArea: Bool) {
        var (reader, path, entries) = (PackedReader(bytes), PackedPath(), [Entry]())
        let isArea = reader.number() == 1
        while let id = reader.number(), let place = path.next(&reader) {
            entries.append(Entry(id: Int64(clamping: id), x: place.x, y: place.y))
        }
        return (entries, isArea)
    }
}
