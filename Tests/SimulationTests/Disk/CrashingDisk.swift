import Foundation
import GRDBSQLite
import Synchronization

@testable import FieldworkStore

/// SQLite's way to the disk, with a moment of death: before the n-th write to a watched folder something is called that may
/// copy the folder as it stands. The copy is what a killed process leaves behind; the process itself goes on without
/// knowing, in a folder that nobody looks at any more.
///
/// Installed once a process as SQLite's default; files outside of watched folders never pass through here.
enum CrashingDisk {
    /// One folder whose writes are counted.
    final class Watch: Sendable {
        private struct State {
            var rest: Int?
            var action: (@Sendable () -> Void)?
            var writes = 0
            var isFull = false
        }

        let prefix: String
        private let state = Mutex(State())

        fileprivate init(prefix: String) { self.prefix = prefix }

        /// The writes so far.
        var writes: Int { state.withLock { $0.writes } }

        /// Calls something at the write after `count` others, once.
        func arm(after count: Int, _ action: @escaping @Sendable () -> Void) {
            state.withLock { ($0.rest, $0.action) = (count, action) }
        }

        /// Whether nothing more can be written: the disk has no room.
        var isFull: Bool {
            get { state.withLock { $0.isFull } }
            set { state.withLock { $0.isFull = newValue } }
        }

        func disarm() { state.withLock { ($0.rest, $0.action) = (nil, nil) } }

        /// - Parameter half: does a part of the write, since a process may die within one.
        func count(half: () -> Void) {
            let action = state.withLock { state -> (@Sendable () -> Void)? in
                state.writes += 1
                guard let rest = state.rest else { return nil }
                state.rest = rest > 0 ? rest - 1 : nil
                return rest > 0 ? nil : state.action
            }
            guard let action else { return }
            half()
            action()
        }
    }

    private static let watches = Mutex<[String: Watch]>([:])

    /// Watches a folder. Only files that are opened from now on are seen.
    static func watch(_ folder: URL) -> Watch {
        _ = installed
        let prefix = folder.path.hasSuffix("/") ? folder.path : folder.path + "/"
        let watch = Watch(prefix: prefix)
        watches.withLock { $0[prefix] = watch }
        return watch
    }

    static func forget(_ watch: Watch) { _ = watches.withLock { $0.removeValue(forKey: watch.prefix) } }

    private static func watch(of path: String) -> Watch? {
        watches.withLock { watches in watches.first { path.hasPrefix($0.key) }?.value }
    }

    // MARK: SQLite's side

    /// The system's own way to the disk, which does the work. Written once, before anything reads it.
    nonisolated(unsafe) private static let system = sqlite3_vfs_find(nil)
    /// What stands before a file of the system's in memory: the methods, and the watch.
    private static let headBytes = Int32(MemoryLayout<Head>.stride)

    private struct Head {
        var file: sqlite3_file
        var watch: UnsafeMutableRawPointer
    }

    nonisolated(unsafe) private static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: forwarding())
        return methods
    }()

    /// Whether the way could be laid.
    static let installed: Bool = {
        guard let system, StoreConnection.memoryIsBounded else { return false }
        // SQLite's memory bound is for the whole test process, which plays many processes here. At the bound it writes pages early, and the
        // number of a story's writes would depend on which other stories run. `make test` runs these tests in a process of their own.
        sqlite3_soft_heap_limit64(0)
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: system.pointee)
        own.pointee.pNext = nil
        own.pointee.szOsFile = system.pointee.szOsFile + headBytes
        own.pointee.zName = UnsafePointer(strdup("fieldwork-simulation"))
        own.pointee.xOpen = { _, name, file, flags, outFlags in CrashingDisk.open(name, file, flags, outFlags) }
        return sqlite3_vfs_register(own, 1) == SQLITE_OK
    }()

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let system, let file, let open = system.pointee.xOpen else { return SQLITE_ERROR }
        guard let name, let watch = watch(of: String(cString: name)) else {
            return open(system, name, file, flags, outFlags)
        }
        let code = open(system, name, real(file), flags, outFlags)
        // A file that could not be opened has no methods, so that nobody closes it.
        file.pointee.pMethods = nil
        guard code == SQLITE_OK else { return code }
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).pointee.watch =
            Unmanaged.passRetained(watch).toOpaque()
        file.pointee.pMethods = UnsafePointer(methods)
        return code
    }

    private static func real(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(file) + Int(headBytes)).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func watch(at file: UnsafeMutablePointer<sqlite3_file>) -> Unmanaged<Watch> {
        Unmanaged.fromOpaque(UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).pointee.watch)
    }

    /// Calls a method of the system's file behind ours.
    private static func pass(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?
    ) -> Int32 {
        guard let file else { return SQLITE_ERROR }
        let real = real(file)
        guard let methods = real.pointee.pMethods?.pointee else { return SQLITE_IOERR }
        return call(methods, real) ?? SQLITE_IOERR
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        guard let file, let bytes else { return SQLITE_ERROR }
        guard !watch(at: file).takeUnretainedValue().isFull else { return SQLITE_FULL }
        var done: Int32 = 0
        while done < count {
            let size = min(piece(at: offset + Int64(done), of: count), count - done)
            let (start, place) = (bytes + Int(done), offset + Int64(done))
            let code = pass(file) { methods, real in
                watch(at: file).takeUnretainedValue().count { _ = methods.xWrite?(real, start, size / 2, place) }
                return methods.xWrite?(real, start, size, place)
            }
            guard code == SQLITE_OK else { return code }
            done += size
        }
        return SQLITE_OK
    }

    /// What is gathered for the log goes to the disk in one write of the process, and not in one piece: it may die between any two of
    /// its pages.
    private static func piece(at offset: Int64, of count: Int32) -> Int32 {
        let (logHead, frameHead, page) = (Int64(32), Int64(24), Int64(4_096))
        if count <= Int32(page) { return count }
        if offset < logHead { return Int32(logHead - offset) }
        let within = (offset - logHead) % (frameHead + page)
        return Int32(within < frameHead ? frameHead - within : frameHead + page - within)
    }

    private static func forwarding() -> sqlite3_io_methods {
        var own = sqlite3_io_methods()
        own.iVersion = 3
        own.xClose = { file in
            guard let file else { return SQLITE_ERROR }
            let code = CrashingDisk.pass(file) { $0.xClose?($1) }
            CrashingDisk.watch(at: file).release()
            return code
        }
        own.xRead = { file, bytes, count, offset in CrashingDisk.pass(file) { $0.xRead?($1, bytes, count, offset) } }
        own.xWrite = { file, bytes, count, offset in CrashingDisk.write(file, bytes, count, offset) }
        own.xTruncate = { file, size in
            guard let file else { return SQLITE_ERROR }
            CrashingDisk.watch(at: file).takeUnretainedValue().count {}
            return CrashingDisk.pass(file) { $0.xTruncate?($1, size) }
        }
        own.xSync = { file, flags in CrashingDisk.pass(file) { $0.xSync?($1, flags) } }
        own.xFileSize = { file, size in CrashingDisk.pass(file) { $0.xFileSize?($1, size) } }
        own.xLock = { file, level in CrashingDisk.pass(file) { $0.xLock?($1, level) } }
        own.xUnlock = { file, level in CrashingDisk.pass(file) { $0.xUnlock?($1, level) } }
        own.xCheckReservedLock = { file, result in CrashingDisk.pass(file) { $0.xCheckReservedLock?($1, result) } }
        own.xFileControl = { file, operation, argument in
            CrashingDisk.pass(file) { $0.xFileControl?($1, operation, argument) }
        }
        own.xSectorSize = { file in CrashingDisk.pass(file) { $0.xSectorSize?($1) } }
        own.xDeviceCharacteristics = { file in CrashingDisk.pass(file) { $0.xDeviceCharacteristics?($1) } }
        own.xShmMap = { file, page, size, extends, memory in
            CrashingDisk.pass(file) { $0.xShmMap?($1, page, size, extends, memory) }
        }
        own.xShmLock = { file, offset, count, flags in
            CrashingDisk.pass(file) { $0.xShmLock?($1, offset, count, flags) }
        }
        own.xShmBarrier = { file in
            _ = CrashingDisk.pass(file) { methods, real in
                methods.xShmBarrier?(real)
                return SQLITE_OK
            }
        }
        own.xShmUnmap = { file, deletes in CrashingDisk.pass(file) { $0.xShmUnmap?($1, deletes) } }
        own.xFetch = { file, offset, count, memory in CrashingDisk.pass(file) { $0.xFetch?($1, offset, count, memory) }
        }
        own.xUnfetch = { file, offset, memory in CrashingDisk.pass(file) { $0.xUnfetch?($1, offset, memory) } }
        return own
    }
}
