import Foundation

/// What a run of tests that doesn't end waits for: its threads and the programs that it started, as Linux shows them.
enum RunningProcess {
    /// A line for each program and each thread, with its state: R runs, S and D wait, Z has ended and was not waited for.
    static var report: String {
        let own = ProcessInfo.processInfo.processIdentifier
        let programs = entries("/proc").compactMap { id -> String? in
            guard let status = status("/proc/\(id)"), status["PPid"] == "\(own)" else { return nil }
            let words = text("/proc/\(id)/cmdline").replacing("\0", with: " ")
            return "program \(id) \(status["State"] ?? ""): \(words.prefix(300))"
        }
        let threads = entries("/proc/self/task").compactMap { id -> String? in
            guard let status = status("/proc/self/task/\(id)") else { return nil }
            let place = text("/proc/self/task/\(id)/wchan")
            return "thread \(id) \(status["Name"] ?? "") \(status["State"] ?? ""): \(place)"
        }
        return (programs + threads).joined(separator: "\n") + "\n"
    }

    private static func entries(_ folder: String) -> [Int] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { Int($0) }.sorted()
    }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    private static func status(_ folder: String) -> [String: String]? {
        let lines = text("\(folder)/status").split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
        let pairs = lines.filter { $0.count == 2 }.map {
            (String($0[0]), $0[1].trimmingCharacters(in: .whitespaces))
        }
        return pairs.isEmpty ? nil : Dictionary(pairs) { first, _ in first }
    }
}
