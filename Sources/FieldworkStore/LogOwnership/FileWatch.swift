import Foundation
import Synchronization

/// Notices that the file which was opened is no longer the one at its place, or that another one was copied over it. From then
/// on nothing is read or written through what is open: an acknowledged edit would be in no file.
final class FileWatch: Sendable {
    /// What became of the file at the place.
    enum Loss: Sendable, Hashable {
        /// The place is a link and leads elsewhere now; the file is where it was, with its log.
        case linkMoved
        /// The file is gone, or another one is in its place or was copied over it.
        case replaced
    }

    private let path: String
    /// Where the file itself lies, and so its log.
    let filePath: String
    private let logPath: String
    private let identity: FileIdentity?
    private let state: Mutex<FileWatchState>

    init(_ url: URL) {
        path = url.path
        filePath = FilePlace.resolve(url)
        logPath = filePath + "-wal"
        let look = FileLook(path)
        identity = look?.identity
        var state = FileWatchState(look: look)
        state.note(filePath)
        self.state = Mutex(state)
    }

    /// nil as long as nothing was noticed.
    var loss: Loss? { state.withLock { $0.loss } }

    /// The last generation that was seen in the file: the one in its place may be older.
    var generation: Int64 { state.withLock { $0.generation } }

    /// Whether the log at the place is still the one that was seen.
    var hasItsLog: Bool {
        let salts = WrittenLog.salts(besideFile: filePath)
        return salts != nil && state.withLock { $0.salts } == salts
    }

    /// Whether a file at the place can be opened: a copy over the file that was open may still be under way.
    func isSettled(_ path: String, at moment: Date = .now) -> Bool {
        guard let look = FileLook(path), look.identity == identity else { return true }
        return !(0..<Limits.replacedSettledSeconds).contains(Int(moment.timeIntervalSince1970) - look.written[0])
    }

    /// Has the log moved into the file: the change of the file that this makes is expected.
    func movingLog(_ move: () -> Void) {
        state.withLock { $0.isMovingLog = true }
        move()
        let look = FileLook(path)
        state.withLock { state in
            state.isMovingLog = false
            if look?.identity == identity { state.look = look }
        }
    }

    /// Throws `StoreError.replaced` when the file is no longer the one that was opened, `StoreError.busy` while that can't be
    /// said. As long as nobody has touched the file it costs a look at its entry and its log's.
    func check() throws { try check(andLog: true) }

    private func check(andLog looksAtLog: Bool) throws {
        let look = FileLook(path)
        let loss = try state.withLock { state in
            if looksAtLog, state.loss == nil, let log = state.log, log != FileLook(logPath)?.identity {
                state.loss = .replaced
            }
            if state.loss == nil, look != state.look { try lookAgain(look, &state) }
            return state.loss
        }
        if loss != nil {
            throw StoreError(.replaced, "\(name) was replaced while it was open. Nothing was changed; send it again.")
        }
    }

    /// Whether the log is known to belong to the file: then it may be moved into it.
    var ownsLog: Bool {
        do {
            try check()
            return true
        } catch {
            return loss == .linkMoved
        }
    }

    /// The same, but waits while another program moves the log into the file: nothing can be said of the two then, which takes a
    /// moment.
    func checkPatiently() throws {
        let end = ContinuousClock.now + .milliseconds(Limits.busyMilliseconds)
        while true {
            do {
                return try check()
            } catch let error as StoreError where error.code == .busy && ContinuousClock.now < end {
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    /// The same of the file alone, for tasks: whoever reads or writes it then looks at its log.
    func checkFileSuspending() async throws {
        let end = ContinuousClock.now + .milliseconds(Limits.busyMilliseconds)
        while true {
            do {
                return try check(andLog: false)
            } catch let error as StoreError where error.code == .busy && ContinuousClock.now < end {
                try await Task.sleep(for: .microseconds(Self.pauseMicroseconds))
            }
        }
    }

    private static let pauseMicroseconds: UInt32 = 5_000

    /// What a connection keeps while it has the log open. Until the last one lets go nobody who knows of logs removes it: where
    /// it is gone from its place, what is written into it is in no file.
    final class Hold {
        private let watch: FileWatch

        fileprivate init(_ watch: FileWatch) {
            self.watch = watch
            let log = FileLook(watch.logPath)?.identity
            watch.state.withLock { state in
                state.holds += 1
                if state.log == nil { state.log = log }
            }
        }

        /// Whether the log is known to belong to the file.
        var ownsLog: Bool { watch.ownsLog }

        deinit {
            watch.state.withLock { state in
                state.holds -= 1
                if state.holds == 0 { state.log = nil }
            }
        }
    }

    func hold() -> Hold { Hold(self) }

    var name: String { URL(filePath: path).lastPathComponent }

    /// The file was written: it took in its log, or another one was copied over it.
    private func lookAgain(_ look: FileLook?, _ state: inout FileWatchState) throws {
        guard let look, look.identity == identity else {
            state.loss = identity != nil && FileLook(filePath)?.identity == identity ? .linkMoved : .replaced
            return
        }
        if state.isMovingLog { return }
        switch LogOwnership.look(filePath) {
        case .own:
            state.note(filePath)
            state.look = look
        case .foreign(let generation):
            state.generation = max(state.generation, generation)
            state.loss = .replaced
        case .unreadable:
            throw StoreError(.busy, "\(name) is being written by another program.")
        case .none:
            // Without a log the file says all. Another program may have written it, and never takes a generation back.
            let file = LogStamp.read(filePath)
            guard file.stamp == state.stamp || file.generation ?? -1 >= state.generation else {
                state.loss = .replaced
                return
            }
            state.note(filePath)
            state.look = look
        }
    }
}

/// What changes when the file at a place is replaced, written over, or takes in its log.
private struct FileLook: Hashable {
    var identity: FileIdentity
    var size: Int64
    var written: [Int]

    /// nil when there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        written = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }
}

private struct FileWatchState {
    var look: FileLook?
    var loss: FileWatch.Loss?
    /// The newest that was seen in the file or its log.
    var stamp: Int64?
    var generation: Int64 = 0
    var salts: UInt64?
    /// The log that connections of this process have open, and how many they are.
    var log: FileIdentity?
    var holds = 0
    /// A writer of this process is moving the log into the file.
    var isMovingLog = false

    init(look: FileLook?) { self.look = look }

    mutating func note(_ path: String) {
        let file = LogStamp.read(path)
        let log = WrittenLog(besideFile: path)
        stamp = log?.last?.stamp ?? file.stamp
        generation = max(generation, log?.last?.generation ?? 0, file.generation ?? 0)
        salts = log?.salts
    }
}

/// Where files lie.
enum FilePlace {
    /// The path of a file behind all links, as SQLite finds its log.
    static func resolve(_ url: URL) -> String {
        guard let real = realpath(url.path, nil) else { return url.path }
        defer { free(real) }
        return String(cString: real)
    }
}
