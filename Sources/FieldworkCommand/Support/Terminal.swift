import ArgumentParser
import Foundation

/// What the command prints. Results go to standard output, everything else to standard error.
enum Terminal {
    /// A terminal that knows no escapes (`TERM=dumb`) gets lines, as a file does.
    static let showsProgress =
        isatty(STDERR_FILENO) == 1 && !["dumb", ""].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")

    static func error(_ line: String) { write(line + "\n", to: .standardError) }

    static func output(_ line: String) { write(line + "\n", to: .standardOutput) }

    /// Text of a result. A disk that is full must not make a shorter result look like a whole one.
    static func result(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            // Whoever read it has had enough: the code of a program that SIGPIPE ends, without a word.
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            if cause?.domain == NSPOSIXErrorDomain, cause?.code == Int(EPIPE) { throw ExitCode(141) }
            throw CommandFailure(.inputOutput, "The result can't be written: \(error.localizedDescription)")
        }
    }

    static func write(_ text: String, to file: FileHandle) {
        // A reader that went away ends the writing, not the program.
        try? file.write(contentsOf: Data(text.utf8))
    }
}

/// A bar on a terminal, a line every few seconds elsewhere.
struct ProgressBar: ~Copyable {
    private let title: String
    private let total: Int?
    /// Elsewhere than on a terminal, short work needs no line.
    private var shownAt = Terminal.showsProgress ? ContinuousClock.now - .seconds(10) : ContinuousClock.now
    private var done = 0

    init(_ title: String, total: Int? = nil) {
        self.title = title
        self.total = total
    }

    mutating func advance(to count: Int) {
        done = count
        let now = ContinuousClock.now
        guard shownAt.duration(to: now) > (Terminal.showsProgress ? .milliseconds(100) : .seconds(3)) else { return }
        shownAt = now
        show()
    }

    private func show() {
        let count = total.map { "\(done) of \($0)" } ?? "\(done)"
        guard Terminal.showsProgress else {
            Terminal.error("\(title): \(count)")
            return
        }
        let filled = total.map { $0 > 0 ? min(30, 30 * done / $0) : 30 } ?? 0
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        Terminal.write("\r\(title)  \(bar)  \(count)\u{1B}[K", to: .standardError)
    }

    /// Takes the bar away: what it showed was not reached.
    consuming func breakOff() { if Terminal.showsProgress { Terminal.write("\r\u{1B}[K", to: .standardError) } }

    /// Ends the line with what was reached.
    consuming func finish(_ summary: String) {
        Terminal.error((Terminal.showsProgress ? "\r" : "") + summary + (Terminal.showsProgress ? "\u{1B}[K" : ""))
    }
}
