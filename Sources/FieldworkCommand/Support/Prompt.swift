import Foundation

/// Asks on the terminal; where standard input is none, it is read without a word.
enum Prompt {
    /// Whether somebody sits there who can answer.
    static var isOnTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    static func line(_ question: String) -> String? {
        if isatty(STDIN_FILENO) == 1 { Terminal.write(question, to: .standardError) }
        return readLine()
    }

    /// A text that the terminal does not show.
    static func secret(_ question: String) -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return readLine() }
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let shown = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        defer {
            var shown = shown
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            Terminal.write("\n", to: .standardError)
        }
        Terminal.write(question, to: .standardError)
        return readLine()
    }
}

/// The browser of this desktop, where there is one.
enum Browser {
    static func open(_ url: URL) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xdg-open", url.absoluteString]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // Without one the person opens the address that was printed.
        try? process.run()
    }
}
