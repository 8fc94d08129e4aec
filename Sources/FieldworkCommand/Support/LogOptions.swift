import ArgumentParser
import FieldworkServer
import Foundation
import Logging
import Synchronization

/// What a server writes down of its work, where, and how.
struct LogOptions: ParsableArguments {
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(
        help: ArgumentHelp(
            "What is worth a line: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel = "warning"

    @Option(help: "How lines are written: text, or json with an object a line.")
    var logFormat = Form.text

    @Option(help: ArgumentHelp("Where the log goes; by default to standard error.", valueName: "file"))
    var logFile: String?

    @Option(
        help: ArgumentHelp(
            "Write a line for each request: who asked for which operation of which service, its result, bytes and time; - for"
                + " standard error.", valueName: "file"))
    var accessLog: String?

    func validate() throws {
        guard Logger.Level(rawValue: logLevel.lowercased()) != nil else {
            let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--log-level takes one of \(names), not '\(logLevel)'.")
        }
    }

    func logger() throws -> Logger {
        let (sink, form) = (try LogSink(logFile), logFormat)
        var logger = Logger(label: "fieldwork") { _ in LogLines(sink: sink, form: form, provider: RequestTrace.metadata)
        }
        logger.logLevel = Logger.Level(rawValue: logLevel.lowercased()) ?? .warning
        return logger
    }

    /// Takes the requests that were answered; nil where nobody wants them.
    func access() throws -> (@Sendable (AccessRecord) -> Void)? {
        guard let accessLog else { return nil }
        let (sink, form) = (try LogSink(accessLog == "-" ? nil : accessLog), logFormat)
        return { sink.write(LogLine($0).text(form)) }
    }
}

/// A file that lines are added to. One that was moved away, as logrotate does, is begun anew within a second.
final class LogSink: Sendable {
    private struct Opened {
        var handle: FileHandle
        var number: UInt64
        var lookedAt: ContinuousClock.Instant
    }

    private let url: URL?
    private let state = Mutex<Opened?>(nil)

    /// - Parameter path: nil for standard error.
    init(_ path: String?) throws {
        url = path.map { URL(filePath: ($0 as NSString).expandingTildeInPath) }
        if let url { state.withLock { $0 = Self.open(url) } }
        guard url == nil || state.withLock({ $0 != nil }) else {
            throw CommandFailure(
                .cannotCreate, "\(url?.path ?? "") can't be written: \(String(cString: strerror(errno))).")
        }
    }

    func write(_ line: String) {
        guard let url else { return Terminal.error(line) }
        state.withLock { opened in
            if let known = opened, known.lookedAt.duration(to: .now) > .seconds(1) {
                if Self.number(of: url) == known.number {
                    opened?.lookedAt = .now
                } else {
                    try? known.handle.close()
                    opened = nil
                }
            }
            if opened == nil { opened = Self.open(url) }
            // A log that can't be written must not keep the server from its work.
            try? opened?.handle.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    private static func open(_ url: URL) -> Opened? {
        let descriptor = Foundation.open(url.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { return nil }
        return Opened(
            handle: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), number: number(of: url),
            lookedAt: .now)
    }

    private static func number(of url: URL) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }
}
