import FieldworkREST
import GRDBSQLite

/// The ids of `Candidates` in their order, read from the nodes of the R-tree and sorted here: SQLite's own walk asks for each feature by
/// itself and sorts rows of them. They are read when the statement wants its first row, and so within its snapshot. Belongs to one
/// statement.
final class CandidateList: IDList {
    /// Deeper trees SQLite refuses as well.
    private static let deepest = 40

    private let index: SpatialIndex
    private let box: GeometryBlob.Box
    private unowned let connection: StoreConnection
    private var isRead = false

    init(_ index: SpatialIndex, _ box: GeometryBlob.Box, on connection: StoreConnection) {
        self.index = index
        self.box = box
        self.connection = connection
        super.init([])
    }

    // MARK: The walk

    override func read() -> Int32 {
        guard !isRead else { return SQLITE_OK }
        do {
            try walk()
        } catch let error as StoreError {
            switch error.code {
            case .corrupt: return SQLITE_CORRUPT
            case .busy: return SQLITE_BUSY
            default: return SQLITE_ERROR
            }
        } catch {
            // The watch knows why.
            return SQLITE_INTERRUPT
        }
        sort()
        isRead = true
        return SQLITE_OK
    }

    private func walk() throws {
        removeAll()
        let statement = try connection.cached(
            "SELECT data FROM \(quoted(index.name + "_node")) WHERE nodeno = ?")
        defer { statement.finish() }
        // What a damaged file says of its nodes must not lead round and round.
        var known: Set<Int64> = [1]
        var open: [(node: Int64, height: Int?)] = [(1, nil)]
        while let (number, height) = open.popLast() {
            try statement.bind(number, at: 1)
            defer { statement.reset() }
            guard try statement.step(), let node = SpatialIndex.Node(statement.blob(0)) else { throw damaged }
            let height = height ?? node.height
            guard height <= Self.deepest else { throw damaged }
            for cell in 0..<node.count where node.meets(box, cell) {
                let id = node.id(cell)
                if height == 0 {
                    try append(id)
                } else if known.insert(id).inserted {
                    open.append((id, height - 1))
                } else {
                    throw damaged
                }
            }
        }
    }

    private var damaged: StoreError { StoreError(.corrupt, "The spatial index \(index.name) is damaged.") }

    private func append(_ id: Int64) throws {
        guard add(id, growing: { connection.watch.holds($0) }) else { throw CancellationError() }
    }
}

extension SpatialIndex {
    /// A node of the R-tree where it lies: two bytes height (of the root alone), two bytes count, then cells of a 64-bit id and the box in
    /// 32-bit numbers that SQLite rounded outwards, all big-endian.
    struct Node {
        private let bytes: UnsafeRawBufferPointer
        let count: Int
        /// Levels below the root; 0 in every other node.
        let height: Int

        static let head = 4
        static let cell = 24

        /// nil for what is shorter than it says.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= Self.head else { return nil }
            self.bytes = bytes
            height = Int(UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self)))
            count = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard bytes.count >= Self.head + count * Self.cell else { return nil }
        }

        /// The feature, or the node below.
        @inline(__always) func id(_ cell: Int) -> Int64 {
            Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: Self.head + cell * Self.cell, as: Int64.self))
        }

        @inline(__always) private func coordinate(_ cell: Int, _ number: Int) -> Double {
            let offset = Self.head + cell * Self.cell + 8 + number * 4
            return Double(
                Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))))
        }

        func box(_ cell: Int) -> GeometryBlob.Box {
            GeometryBlob.Box(
                xMin: coordinate(cell, 0), yMin: coordinate(cell, 2), xMax: coordinate(cell, 1),
                yMax: coordinate(cell, 3))
        }

        @inline(__always) func meets(_ box: GeometryBlob.Box, _ cell: Int) -> Bool {
            coordinate(cell, 0) <= box.xMax && coordinate(cell, 1) >= box.xMin && coordinate(cell, 2) <= box.yMax
                && coordinate(cell, 3) >= box.yMin
        }
    }
}
