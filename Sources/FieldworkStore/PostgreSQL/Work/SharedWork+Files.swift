package import Foundation

/// Files in pieces. A piece never changes once it is there, and a file has one writer, so that what has been read of one
/// stays true. A file that nothing names any more goes with the next sweep.
extension SharedWork {
    package func newFile() async throws -> Int64 { try await read(Self.newFile) }

    static func newFile(on connection: StoreConnection) throws -> Int64 {
        guard let id = try connection.integer("INSERT INTO fieldwork.work_files DEFAULT VALUES RETURNING id") else {
            throw StoreError(.failure, "A file was not given an id.")
        }
        return id
    }

    /// Adds a piece to a file. It is committed when this returns.
    package func append(_ bytes: [UInt8], to file: Int64, at start: Int64) async throws {
        try await read { connection in
            try connection.run("INSERT INTO fieldwork.work_pieces (file, start, size, bytes) VALUES (?, ?, ?, ?)") {
                try $0.bind(file, at: 1)
                try $0.bind(start, at: 2)
                try $0.bind(Int64(bytes.count), at: 3)
                try bytes.withUnsafeBytes { [statement = $0] in try statement.bind(blob: $0, at: 4) }
            }
        }
    }

    /// Copies a file of this machine.
    package func keepFile(at url: URL) async throws -> (file: Int64, size: Int64) {
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        let file = try await newFile()
        var size: Int64 = 0
        while let piece = try handle.read(upToCount: Limits.workPiece), !piece.isEmpty {
            try await append([UInt8](piece), to: file, at: size)
            size += Int64(piece.count)
        }
        return (file, size)
    }

    /// A part of a file, read while it is taken. A file that goes meanwhile is an error, never a short answer.
    package func pieces(of file: Int64, in range: Range<Int64>) -> EncodedFeatures {
        let reader = FileReader(work: self, file: file, range: range)
        return EncodedFeatures { try await reader.next() }
    }

    /// The bytes of a piece from a place in its file on.
    fileprivate func piece(of file: Int64, at place: Int64) async throws -> [UInt8]? {
        try await read { connection in
            var found: [UInt8]?
            try connection.run(
                """
                SELECT start, bytes FROM fieldwork.work_pieces
                WHERE file = ? AND start <= ? ORDER BY start DESC LIMIT 1
                """
            ) {
                try $0.bind(file, at: 1)
                try $0.bind(place, at: 2)
            } row: { row in
                found = Array(row.blob(1).dropFirst(Int(place - row.integer(0))))
            }
            return found
        }
    }

    private actor FileReader {
        private let work: SharedWork
        private let file: Int64
        private var rest: Range<Int64>

        init(work: SharedWork, file: Int64, range: Range<Int64>) {
            self.work = work
            self.file = file
            rest = range
        }

        func next() async throws -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            guard let piece = try await work.piece(of: file, at: rest.lowerBound), !piece.isEmpty else {
                throw StoreError(.failure, "A file of the shared work is gone, or ends too early.")
            }
            let taken = piece.prefix(Int(clamping: rest.upperBound - rest.lowerBound))
            rest = (rest.lowerBound + Int64(taken.count))..<rest.upperBound
            return Array(taken)
        }
    }
}
