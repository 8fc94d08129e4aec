/// Pieces of one street, several in one row of the file.
enum StreetBlock {
    /// Pieces in one row.
    static let most = 8

    private static let roadBits: Int64 = 20

    static func rows(of road: Int64) -> ClosedRange<Int64> {
        (road << roadBits)...(road << roadBits | (1 << roadBits - 1))
    }

    static func row(of road: Int64, block: Int) -> Int64? {
        let row = road << roadBits | Int64(block)
        return rows(of: road).contains(row) ? row : nil
    }

    static func road(ofRow row: Int64) -> Int64 { row >> roadBits }

    private static let parities: [NumberRange.Parity] = [.odd, .even, .both]

    static func bytes(of pieces: [StreetPiece]) -> [UInt8] {
        var (writer, path) = (PackedWriter(), PackedPath())
        for piece in pieces {
            let sides = [piece.left, piece.right]
            // Two bits a side: 0 has no numbers.
            let kinds = sides.map { side in
                side.flatMap { parities.firstIndex(of: $0.parity) }.map { UInt64($0 + 1) } ?? 0
            }
            writer.append(UInt64(piece.line.count / 2) << 4 | kinds[0] << 2 | kinds[1])
            for side in sides {
                guard let side else { continue }
                writer.append(UInt64(max(0, side.from)))
                writer.append(signed: Int64(side.to) - Int64(side.from))
            }
            for index in stride(from: 0, to: piece.line.count - 1, by: 2) {
                path.append(piece.line[index], piece.line[index + 1], to: &writer)
            }
        }
        return writer.bytes
    }

    static func pieces(_ bytes: UnsafeRawBufferPointer, row: Int64) -> [StreetPiece] {
        var (reader, path) = (PackedReader(bytes), PackedPath())
        var pieces: [StreetPiece] = []
        while let head = reader.number() {
            var piece = StreetPiece(road: road(ofRow: row), left: nil, right: nil, line: [])
            piece.left = range(head >> 2 & 3, &reader)
            piece.right = range(head & 3, &reader)
            for _ in 0..<min(head >> 4, UInt64(bytes.count)) {
                guard let place = path.next(&reader) else { return pieces }
                piece.line.append(place.x)
                piece.line.append(place.y)
            }
            pieces.append(piece)
        }
        return pieces
    }

    private static func range(_ kind: UInt64, _ reader: inout PackedReader) -> NumberRange? {
        guard kind > 0, let from = reader.number(), let difference = reader.signed() else { return nil }
        // What another program wrote may be any number.
        let first = Int64(min(from, 1_000_000_000))
        let last = max(0, min(first &+ max(-1_000_000_000, min(difference, 1_000_000_000)), 1_000_000_000))
        return NumberRange(from: Int(first), to: Int(last), parity: parities[Int(kind) - 1])
    }
}
