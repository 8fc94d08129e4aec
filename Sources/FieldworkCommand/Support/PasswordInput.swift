import Foundation

/// Reads a password: from a terminal without showing it, twice; from anything else one line.
enum PasswordInput {
    static func read(for name: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else {
            guard let line = readLine(strippingNewline: true), !line.isEmpty else {
                throw CommandFailure(.noInput, "The password of '\(name)' is read from standard input, which is empty.")
            }
            return line
        }
        let first = try hidden("Password of \(name): ")
        guard try hidden("Once more: ") == first else {
            throw CommandFailure(.badData, "The two passwords differ. Nothing was changed.")
        }
        return first
    }

    private static func hidden(_ prompt: String) throws -> String {
        Terminal.write(prompt, to: .standardError)
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else {
            throw CommandFailure(.inputOutput, "The terminal can't hide the password. Give it on standard input.")
        }
        var quiet = shown
        quiet.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            Terminal.write("\n", to: .standardError)
        }
        return readLine(strippingNewline: true) ?? ""
    }
}
