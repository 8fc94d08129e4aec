import Foundation

/// For verbs that keep a user's data: what the process makes from now on is readable by its owner alone.
enum PrivateFiles {
    static func begin() { umask(0o077) }
}
